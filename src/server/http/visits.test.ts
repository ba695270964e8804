// Callers that hold as much of the server as they can, on real sockets.
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { serveWorld, type ServedOptions, type ServedWorld } from '../../../test/support/doors/serve.ts'

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(options: ServedOptions): Promise<ServedWorld> {
  const served = await serveWorld(options)
  closing.push(() => served.close())
  await served.world.core.startExecution({ id: 'exec_1', name: 'etl' })
  return served
}

interface Answered {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly code: string | undefined
}

/** Each has one connection of its own, which it keeps. */
function openClient({ door }: ServedWorld, token?: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  closing.push(() => agent.destroy())
  const send = (path: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      httpRequest(`${door.url}${path}`, { agent, headers }, resolve).on('error', reject).end()
    })
  const read = async (response: IncomingMessage): Promise<Answered> => {
    let text = ''
    for await (const chunk of response) text += String(chunk)
    const { error } = JSON.parse(text) as { readonly error?: { readonly code: string } }
    return { status: response.statusCode, headers: response.headers, code: error?.code }
  }
  return {
    ask: async (path = '/executions/exec_1/events') => read(await send(path)),
    /** The answer of a refusal, or nothing: then it follows until it is closed. */
    follow: async (): Promise<Answered | undefined> => {
      const response = await send('/executions/exec_1/follow')
      if (response.statusCode !== 200) return read(response)
      response.on('error', () => undefined).resume()
      return undefined
    },
    close: () => agent.destroy(),
  }
}

describe('of one caller', () => {
  test('DO-70 a token, and the viewers of a tenant, follow only so many times', async () => {
    const served = await serve({ connections: { places: { followers: { token: 2, tenant: 4 } } } })
    const { world, token: operator } = served
    const [one, other] = [await world.tokenFor('viewer'), await world.tokenFor('viewer')]
    const first = openClient(served, one)
    expect(await first.follow()).toBeUndefined()
    expect(await openClient(served, one).follow()).toBeUndefined()
    const refused = await openClient(served, one).follow()
    expect(refused).toMatchObject({ status: 429, code: 'api/too-many-followers' })
    expect(refused?.headers['retry-after']).toBe('10')
    // Three quarters of four are for viewers.
    expect(await openClient(served, other).follow()).toBeUndefined()
    expect(await openClient(served, other).follow()).toMatchObject({ status: 429 })
    expect(await openClient(served, operator).follow()).toBeUndefined()
    expect(await openClient(served, operator).follow()).toMatchObject({ status: 429 })
    const foreign = await world.tokenFor('viewer', 'acme')
    expect(await openClient(served, foreign).follow()).toMatchObject({ status: 404 })
    first.close()
    await expect.poll(() => openClient(served, operator).follow()).toBeUndefined()
  })

  test('DO-70 a token has only so many requests in progress, and its next ones are answered 429', async () => {
    const served = await serve({ connections: { places: { requests: { token: 1, tenant: 8 } } } })
    const token = await served.world.tokenFor('viewer')
    const following = openClient(served, token)
    expect(await following.follow()).toBeUndefined()
    const client = openClient(served, token)
    const refused = await client.ask()
    expect(refused).toMatchObject({ status: 429, code: 'api/too-many-at-once' })
    expect(refused.headers['retry-after']).toBe('1')
    expect(await openClient(served, served.token).ask()).toMatchObject({ status: 200 })
    expect(await openClient(served).ask('/healthz')).toMatchObject({ status: 200 })
    following.close()
    await expect.poll(async () => (await client.ask()).status).toBe(200)
  })

  test('DO-70 workers elsewhere are counted too', async () => {
    const served = await serve({ connections: { places: { requests: { token: 1, tenant: 8 } } } })
    expect(await openClient(served, served.token).follow()).toBeUndefined()
    const path = `${served.door.url}/api/tasks/poll/batch/t?timeout=0`
    const ask = (token: string) => fetch(path, { headers: { 'x-authorization': token } })
    expect((await ask(served.token)).status).toBe(429)
    expect((await ask(await served.world.tokenFor('operator'))).status).toBe(200)
  })

  test('DO-70 a token has only so many connections; one more is answered 429 and closed', async () => {
    const served = await serve({ connections: { places: { connections: { token: 2, tenant: 9 } } } })
    const token = await served.world.tokenFor('viewer')
    const clients = [openClient(served, token), openClient(served, token)]
    for (const client of clients) expect(await client.ask()).toMatchObject({ status: 200 })
    const refused = await openClient(served, token).ask()
    expect(refused).toMatchObject({ status: 429, code: 'api/too-many-connections' })
    expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' })
    for (const client of clients) expect(await client.ask()).toMatchObject({ status: 200 })
    clients[0]!.close()
    await expect.poll(async () => (await openClient(served, token).ask()).status).toBe(200)
  })

  test('DO-70 connections of a trusted proxy count for none of the callers behind it', async () => {
    const places = { connections: { token: 1, tenant: 1 } }
    const served = await serve({ connections: { places }, trustedProxies: ['127.0.0.1'] })
    for (let count = 0; count < 3; count++) {
      expect(await openClient(served, served.token).ask()).toMatchObject({ status: 200 })
    }
  })
})

describe('of the whole server', () => {
  test('DO-71 operators and health checks are answered when others have taken all they may', async () => {
    const served = await serve({ connections: { max: 6, forOperators: 2, forHealth: 1 } })
    const viewer = await served.world.tokenFor('viewer')
    for (let count = 0; count < 3; count++) expect(await openClient(served, viewer).follow()).toBeUndefined()
    const refused = await openClient(served, viewer).ask()
    expect(refused).toMatchObject({ status: 503, code: 'server/full' })
    expect(refused.headers).toMatchObject({ connection: 'close', 'retry-after': '5' })
    expect(await openClient(served).ask('/openapi.json')).toMatchObject({ status: 503, code: 'server/full' })
    expect(await openClient(served).ask()).toMatchObject({ status: 401 })
    for (let count = 0; count < 2; count++) {
      expect(await openClient(served, served.token).follow()).toBeUndefined()
    }
    expect(await openClient(served, served.token).ask()).toMatchObject({ status: 503, code: 'server/full' })
    for (let count = 0; count < 3; count++) {
      expect(await openClient(served).ask('/healthz')).toMatchObject({ status: 200 })
    }
  })

  test('DO-71 connections that send nothing make room', async () => {
    const served = await serve({ connections: { max: 6, forOperators: 2, forHealth: 1 } })
    for (let count = 0; count < 20; count++) {
      const silent = connect(Number(new URL(served.door.url).port), '127.0.0.1')
      closing.push(() => {
        silent.destroy()
      })
      silent.on('error', () => undefined)
      await new Promise((resolve) => silent.once('connect', resolve))
    }
    expect(await openClient(served).ask('/healthz')).toMatchObject({ status: 200 })
    // After a second also for anybody else.
    const ask = () => openClient(served, served.token).ask()
    await expect.poll(async () => (await ask()).status, { timeout: 10_000 }).toBe(200)
  })
})
