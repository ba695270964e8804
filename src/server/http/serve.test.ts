// The door on real sockets: following, TLS, closing.
import { generateKeyPairSync } from 'node:crypto'
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { TEST_CERTIFICATE, TEST_KEY } from '../../../test/support/doors/certificate.ts'
import { serveWorld, type ServedOptions, type ServedWorld } from '../../../test/support/doors/serve.ts'
import { openDoorWorld } from '../../../test/support/doors/world.ts'
import { silentLogger } from '../../base/logger.ts'
import { startServer } from '../start-server.ts'
import { serveHttp } from './serve.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(options: ServedOptions = {}): Promise<ServedWorld> {
  const served = await serveWorld(options)
  closing.push(() => served.close())
  return served
}

/** Reads server-sent events until there are so many, or the stream ends. */
async function readStream(response: Response, count = Infinity): Promise<readonly Record<string, string>[]> {
  const events: Record<string, string>[] = []
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = block
        .split('\n')
        .map((line) => /^([^:]*):? ?(.*)$/.exec(line)!.slice(1, 3) as [string, string])
      const event = Object.fromEntries(fields.filter(([name]) => name !== 'retry'))
      if (Object.keys(event).length > 0) events.push(event)
    }
    if (events.length >= count) break
  }
  return events
}

describe('following', () => {
  test('DO-12 events arrive as they are recorded, and a client that comes back misses none', async () => {
    const { world, door, token } = await serve()
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const follow = (headers: Record<string, string> = {}, query = '') =>
      fetch(`${door.url}/executions/exec_1/follow${query}`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
      })
    const publish = (type: string) =>
      execution.events.publish({ type, source: { entityType: 'node', entityId: 'a' } })
    const response = await follow()
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const first = readStream(response, 2)
    await publish('a.started')
    const received = await first
    expect(received.map(({ id }) => id)).toEqual(['1', '2'])
    expect(JSON.parse(received[1]!['data']!)).toMatchObject({
      type: 'a.started',
      execution_id: 'exec_1',
      sequence: 2,
    })

    await publish('a.retrying')
    const back = readStream(await follow({ 'last-event-id': '2' }))
    const completions = readStream(await follow({}, '?type=*.completed&after=1'))
    await publish('a.completed')
    await execution.finish({ status: 'completed' })
    const ids = (events: readonly Record<string, string>[]) => events.map(({ id, event }) => id ?? event)
    expect(ids(await back)).toEqual(['3', '4', '5', 'end'])
    expect(ids(await completions)).toEqual(['4', '5', 'end'])
  })

  test('DO-64 DO-65 a silent stream is kept alive, and ends when its token is revoked', async () => {
    const { world, door } = await serve({ limits: { heartbeatMs: 20 } })
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const { token, record } = await world.tokens.create({ name: 'x', role: 'viewer' })
    const response = await fetch(`${door.url}/executions/exec_1/follow?after=1`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes(':\n\n')) text += (await reader.read()).value ?? ''
    await world.tokens.revoke(record.id)
    // It ends without the word that the execution has ended.
    for (let end = await reader.read(); !end.done; end = await reader.read()) text += end.value
    expect(text).not.toContain('event: end')
  })

  test('DO-13 a reader that does not read holds nobody up, and gets everything once it does', async () => {
    const { world, door, token } = await serve()
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const headers = { authorization: `Bearer ${token}` }
    const slow = await fetch(`${door.url}/executions/exec_1/follow`, { headers })
    const quick = readStream(await fetch(`${door.url}/executions/exec_1/follow`, { headers }))
    const payload = { text: 'x'.repeat(20_000) }
    for (let count = 0; count < 300; count++) {
      await execution.events.publish({
        type: 'external.a.b',
        source: { entityType: 'external', entityId: 'a' },
        payload,
      })
    }
    await execution.finish({ status: 'completed' })
    // More than sockets buffer: the quick one is through while the slow one has not begun.
    expect(await quick).toHaveLength(303)
    expect((await readStream(slow)).map(({ id, event }) => id ?? event)).toEqual([
      ...Array.from({ length: 302 }, (_, at) => String(at + 1)),
      'end',
    ])
  })

  test('DO-12 a client that goes is let go of', async () => {
    let watching = 0
    const { world, token } = await serve()
    const { executions } = world.host
    const door = await serveHttp({
      host: {
        ...world.host,
        executions: {
          open: async (place) => {
            const opened = await executions.open(place)
            return {
              ...opened,
              changes: async function* (signal: AbortSignal) {
                watching++
                try {
                  yield* opened.changes(signal)
                } finally {
                  watching--
                }
              },
            }
          },
        },
      },
      tokens: world.tokens,
      logger: silentLogger,
      port: 0,
    })
    closing.push(() => door.close())
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const leaving = new AbortController()
    const response = await fetch(`${door.url}/executions/exec_1/follow`, {
      headers: { authorization: `Bearer ${token}` },
      signal: leaving.signal,
    })
    await readStreamHead(response)
    expect(watching).toBe(1)
    leaving.abort()
    await expect.poll(() => watching).toBe(0)
  })
})

async function readStreamHead(response: Response): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('id: 1')) text += (await reader.read()).value ?? ''
}

interface Answered {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The connection had carried another request before. */
  readonly isReused: boolean
}

/** A client that keeps its one connection. */
function openAgent() {
  const options = { keepAlive: true, maxSockets: 1 }
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) }
  closing.push(() => {
    for (const agent of Object.values(agents)) agent.destroy()
    return Promise.resolve()
  })
  const ask = (url: string, headers: Record<string, string> = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const isSecure = url.startsWith('https:')
      const agent = agents[isSecure ? 'https:' : 'http:']
      const tls = { ca: TEST_CERTIFICATE, servername: 'localhost' }
      const sent = (isSecure ? httpsRequest : httpRequest)(url, { agent, headers, ...tls }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => {
          const { statusCode: status, headers: answered } = response
          resolve({ status, headers: answered, text, isReused: sent.reusedSocket })
        })
      })
      sent.on('error', reject).end()
    })
  return { ask }
}

describe('TLS', () => {
  test('DO-11 with a certificate the door speaks TLS, and nothing else', async () => {
    const { door, token } = await serve({ tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } })
    expect(door.url).toMatch(/^https:/)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const options = {
        ca: TEST_CERTIFICATE,
        servername: 'localhost',
        headers: { authorization: `Bearer ${token}` },
      }
      httpsRequest(`${door.url}/executions/exec_1/events`, options, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(404)
    await expect(fetch(door.url.replace('https:', 'http:'))).rejects.toThrow()
    // Somebody who does not know the certificate does not get as far as sending a token.
    await expect(fetch(`${door.url}/healthz`)).rejects.toThrow()
  })

  test('X-144 DO-11 beyond loopback nothing is served in plain text, or without tokens, unless that is asked for by name', async () => {
    await expect(serve({ address: '0.0.0.0' })).rejects.toMatchObject({
      code: 'server/plain-text',
      kind: 'invalid',
    })
    await expect(
      serve({
        address: '0.0.0.0',
        openLoopback: 'viewer',
        tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY },
      }),
    ).rejects.toMatchObject({ code: 'server/open-beyond-loopback' })
    const { door } = await serve({ address: '0.0.0.0', allowPlainText: true })
    expect((await fetch(`${door.url.replace('0.0.0.0', '127.0.0.1')}/healthz`)).status).toBe(200)
  })
})

describe('what cannot be served', () => {
  const tls = { certificate: TEST_CERTIFICATE, key: TEST_KEY }
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  test.each([
    ['no PEM', { ...tls, certificate: 'bad' }],
    ['a PEM cut short', { ...tls, certificate: TEST_CERTIFICATE.slice(0, 200) }],
    ['no key', { ...tls, key: TEST_CERTIFICATE }],
    ['the key of another', { ...tls, key: String(otherKey.export({ type: 'pkcs8', format: 'pem' })) }],
  ])('DO-75 a certificate that is %s is a configuration error', async (_, wrong) => {
    const expected = { code: 'server/bad-certificate', kind: 'invalid' }
    await expect(serve({ tls: wrong })).rejects.toMatchObject(expected)
    const starting = startServer({
      store: 'memory:',
      port: 0,
      engine: true,
      metrics: { port: 0 },
      tls: wrong,
    })
    await expect(starting).rejects.toMatchObject(expected)
  })

  test.each(['no.such.host.invalid', '192.0.2.1', '', '999.1.1.1'])(
    'DO-75 a host %j of which this machine has no address is a configuration error',
    async (address) => {
      const opening = serve({ address, allowPlainText: true })
      await expect(opening).rejects.toMatchObject({ code: 'server/bad-address', kind: 'invalid' })
    },
  )
})

describe('opening and closing', () => {
  test('DO-14 closing lets requests end, lets go of followers, and takes no more', async () => {
    const held: (() => void)[] = []
    const { world, door, token } = await serve({
      host: { examine: () => new Promise((resolve) => held.push(() => resolve([]))) },
    })
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const following = readStream(
      await fetch(`${door.url}/executions/exec_1/follow`, { headers: { authorization: `Bearer ${token}` } }),
    )
    const running = fetch(`${door.url}/healthz`)
    await expect.poll(() => held.length).toBe(1)
    const closed = door.close()
    expect(door.close()).toBe(closed)
    // The stream ends in order and without the word that the execution has ended.
    expect((await following).map(({ id, event }) => id ?? event)).toEqual(['1'])
    await expect(fetch(`${door.url}/openapi.json`)).rejects.toThrow()
    held[0]!()
    expect((await running).status).toBe(200)
    await closed
  })

  test.each([
    ['plain', undefined],
    ['TLS', { certificate: TEST_CERTIFICATE, key: TEST_KEY }],
  ])(
    'DO-74 closing begins nothing on connections that are kept (%s), and running requests end',
    async (_, tls) => {
      const held: (() => void)[] = []
      const { door } = await serve({
        ...{ tls, host: { examine: () => new Promise((resolve) => held.push(() => resolve([]))) } },
      })
      const kept = openAgent()
      expect(await kept.ask(`${door.url}/openapi.json`)).toMatchObject({ status: 200 })
      const running = openAgent().ask(`${door.url}/healthz`)
      await expect.poll(() => held.length).toBe(1)
      const closed = door.close()
      const refused = await kept.ask(`${door.url}/executions/exec_1/events`)
      expect(refused.isReused).toBe(true)
      expect(refused).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '1' } })
      expect(JSON.parse(refused.text)).toMatchObject({
        error: { code: 'server/closing', kind: 'unavailable' },
      })
      held[0]!()
      expect(await running).toMatchObject({ status: 200, headers: { connection: 'close' } })
      await closed
    },
  )

  test('DO-74 connections without a request do not keep a server from closing', async () => {
    const { door } = await serve({ closeDeadlineMs: 60_000 })
    await openAgent().ask(`${door.url}/openapi.json`)
    const silent = connect(Number(new URL(door.url).port), '127.0.0.1')
    await new Promise((resolve) => silent.once('connect', resolve))
    await door.close()
    silent.destroy()
  })

  test('DO-74 a worker that waits for tasks is answered when the server closes', async () => {
    const { door, token } = await serve({ closeDeadlineMs: 60_000 })
    const headers = { 'x-authorization': token }
    const poll = (timeout: number) =>
      openAgent().ask(`${door.url}/api/tasks/poll/batch/t?workerid=w&timeout=${timeout}`, headers)
    expect(await poll(0)).toMatchObject({ status: 200, text: '[]' })
    const waiting = poll(5_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await door.close()
    expect(await waiting).toMatchObject({ status: 200, text: '[]', headers: { connection: 'close' } })
  })

  test('DO-14 what does not end is cut at the deadline', async () => {
    const { door } = await serve({
      host: { examine: () => new Promise(() => undefined) },
      closeDeadlineMs: 50,
    })
    const running = fetch(`${door.url}/healthz`)
    const refused = expect(running).rejects.toThrow()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await door.close()
    await refused
  })

  test('DO-14 a port that is taken is said to be', async () => {
    const { door } = await serve()
    const port = Number(new URL(door.url).port)
    await expect(serve({ port })).rejects.toMatchObject({
      code: 'server/no-port',
      kind: 'unavailable',
      message: `serve HTTP on 127.0.0.1:${port}: another program listens there already`,
      next: 'Stop that program, or choose another port; 0 takes a free one.',
    })
  })

  test('X-73 the port is 8090 unless another is named', async () => {
    const isFree = await new Promise<boolean>((resolve) => {
      const probe = connect(8090, '127.0.0.1')
      probe.on('connect', () => {
        probe.destroy()
        resolve(false)
      })
      probe.on('error', () => resolve(true))
    })
    const world = openDoorWorld()
    closing.push(() => world.close())
    const opening = serveHttp({
      host: world.host,
      tokens: world.tokens,
      logger: silentLogger,
    })
    if (!isFree) return expect(opening).rejects.toThrow('127.0.0.1:8090')
    const door = await opening
    closing.push(() => door.close())
    expect(door.url).toBe('http://127.0.0.1:8090')
  })
})
