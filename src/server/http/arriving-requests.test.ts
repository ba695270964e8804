// Requests on real sockets that are too large, too slow, cut short or no HTTP at all.
import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { TEST_CERTIFICATE, TEST_KEY } from '../../../test/support/doors/certificate.ts'
import { judgeAnswer } from '../../../test/support/doors/contract.ts'
import { serveWorld, type ServedOptions, type ServedWorld } from '../../../test/support/doors/serve.ts'
import { API_BODY_MAX_BYTES, HTTP_HEADERS_MAX_BYTES } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { HttpDoor } from './listen-http.ts'

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(options: ServedOptions = {}): Promise<ServedWorld> {
  const served = await serveWorld(options)
  closing.push(() => served.close())
  return served
}

interface Talk {
  readonly socket: Socket
  /** All that came back, once the other side has closed. */
  readonly answered: Promise<string>
}

async function dial({ url }: HttpDoor): Promise<Talk> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  closing.push(() => {
    socket.destroy()
  })
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  // A reset is an end as well.
  socket.on('error', () => undefined)
  const answered = new Promise<string>((resolve) => socket.on('close', () => resolve(text)))
  await new Promise((resolve) => socket.on('connect', resolve))
  return { socket, answered }
}

function parseAnswer(text: string): Response {
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line) => line.split(': ') as [string, string])
  return new Response(body, { status: Number(first.split(' ')[1]), headers })
}

async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

const QUICK = { headMs: 100, requestMs: 200, lookMs: 20 }

describe('too large', () => {
  test('DO-10 a body is refused as soon as it is too large, whatever it announced', async () => {
    const { door, token } = await serve()
    let sent = 0
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(`${door.url}/events`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      })
      request.on('response', (response) => {
        resolve(response.statusCode)
        request.destroy()
      })
      request.on('error', reject)
      // No length is announced, and there is no end.
      const chunk = Buffer.alloc(16_384, ' ')
      const write = (): void => {
        if (request.destroyed || sent > 100 * API_BODY_MAX_BYTES) return
        sent += chunk.byteLength
        request.write(chunk, () => setImmediate(write))
      }
      write()
    })
    expect(status).toBe(413)
    expect(sent).toBeLessThan(100 * API_BODY_MAX_BYTES)
  })

  test('DO-10 a head that is too large is refused, as the contract has it', async () => {
    const { door, token } = await serve()
    const filler = 'x'.repeat(HTTP_HEADERS_MAX_BYTES)
    const asked = [
      fetch(`${door.url}/executions/exec_1/events`, {
        headers: { authorization: `Bearer ${token}`, 'x-filler': filler },
      }),
      fetch(`${door.url}/executions/exec_1/events?type=${filler}`),
    ]
    for (const response of await Promise.all(asked)) {
      await judgeAnswer('GET', '/executions/exec_1/events', response)
      expect([response.status, await codeOf(response)]).toEqual([431, 'server/head-too-large'])
    }
  })
})

describe('too slow', () => {
  test.each([
    ['nothing at all', ''],
    ['half a head', 'GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-a: '],
    ['half a body', 'POST /webhooks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{'],
  ])('DO-34 who sends %s and then waits is let go, with an answer', async (_, sent) => {
    const { door } = await serve({ timeouts: QUICK })
    const { socket, answered } = await dial(door)
    socket.write(sent)
    const text = await answered
    const response = parseAnswer(text)
    // Half a body is refused before it is waited for: there is no token.
    const expected = sent.startsWith('POST') ? [401, 'api/bad-token'] : [408, 'server/too-slow']
    expect([response.status, await codeOf(response.clone())]).toEqual(expected)
    if (response.status === 408) await judgeAnswer('GET', '/healthz', response)
  })

  test('DO-34 a head that comes byte by byte takes no longer than one that does not come', async () => {
    const { door } = await serve({ timeouts: QUICK })
    const { socket, answered } = await dial(door)
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-a: ')
    const drip = setInterval(() => socket.write('a'), 10)
    const text = await answered
    clearInterval(drip)
    expect(parseAnswer(text).status).toBe(408)
  })

  test('DO-34 a body that comes byte by byte is let go, others are not held up, and it is no mistake of the server', async () => {
    const errors: unknown[] = []
    const { door, token } = await serve({ timeouts: QUICK, logger: noteErrors(errors) })
    const { socket, answered } = await dial(door)
    const head = `POST /events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}`
    socket.write(`${head}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{`)
    const drip = setInterval(() => socket.write(' '), 10)
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200)
    const text = await answered
    clearInterval(drip)
    expect(parseAnswer(text).status).toBe(408)
    expect(errors).toEqual([])
  })

  test('DO-34 with TLS, who does not shake hands is let go', async () => {
    const { door } = await serve({ timeouts: QUICK, tls: { certificate: TEST_CERTIFICATE, key: TEST_KEY } })
    const { answered } = await dial(door)
    expect(await answered).toBe('')
  })
})

describe('cut short, or no HTTP', () => {
  test('DO-34 who goes in the middle of a body leaves no error behind', async () => {
    const errors: unknown[] = []
    const { door, token, world } = await serve({ logger: noteErrors(errors) })
    const verify = vi.spyOn(world.tokens, 'verify')
    const { socket } = await dial(door)
    const head = `POST /events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}`
    socket.write(`${head}\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{`)
    await expect.poll(() => verify.mock.settledResults.length).toBe(1)
    socket.destroy()
    await door.close()
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve))
    expect(errors).toEqual([])
  })

  test.each(['HELO\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\0\x01\x02\r\n\r\n'])(
    'DO-34 %j is answered 400, and the connection is closed',
    async (sent) => {
      const { door } = await serve()
      const { socket, answered } = await dial(door)
      socket.write(sent)
      const response = parseAnswer(await answered)
      expect([response.status, await codeOf(response)]).toEqual([400, 'server/malformed-request'])
    },
  )

  test('DO-34 nothing is written into an answer that has begun', async () => {
    const { door, token, world } = await serve()
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const { socket, answered } = await dial(door)
    socket.write(
      `GET /executions/exec_1/follow HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
    )
    await new Promise((resolve) => socket.once('data', resolve))
    await execution.events.publish({ type: 'a.started', source: { entityType: 'node', entityId: 'a' } })
    socket.write('this is no HTTP\r\n\r\n')
    const text = await answered
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(text).not.toContain('malformed')
  })
})

describe('given up by the client', () => {
  test.each([
    ['a poll', '/api/tasks/poll/batch/t?timeout=5000', 'x-authorization: '],
    ['a wait', '/executions/NAME/wait', 'authorization: Bearer '],
    ['a stream', '/executions/exec_1/follow', 'authorization: Bearer '],
  ])('DO-78 %s that its client leaves is no error in the log', async (_, path, header) => {
    const errors: unknown[] = []
    const printed = ['error', 'info', 'warn', 'log'] as const
    const spies = printed.map((name) => vi.spyOn(console, name).mockReturnValue())
    closing.push(() => spies.forEach((spy) => spy.mockRestore()))
    const { door, token, world } = await serve({ logger: noteErrors(errors) })
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const started = await fetch(`${door.url}/executions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ definition: { name: 'daily', units: { a: { task: 'u' } } } }),
    })
    const { execution_id: id } = (await started.json()) as { execution_id: string }
    const verify = vi.spyOn(world.tokens, 'verify')
    const { socket } = await dial(door)
    socket.write(`GET ${path.replace('NAME', id)} HTTP/1.1\r\nhost: localhost\r\n${header}${token}\r\n\r\n`)
    await expect.poll(() => verify.mock.settledResults.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.resetAndDestroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    await door.close()
    expect(errors).toEqual([])
    for (const spy of spies) expect(spy.mock.calls).toEqual([])
  })
})

describe('through a proxy', () => {
  async function statusOf(door: HttpDoor, version: string, headers: Record<string, string> = {}) {
    const { socket, answered } = await dial(door)
    const lines = Object.entries({ host: '127.0.0.1', connection: 'close', ...headers })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    socket.write(`GET /executions/exec_1/events HTTP/${version}\r\n${head}\r\n`)
    return parseAnswer(await answered).status
  }

  test('DO-76 HTTP/1.0, which proxies speak, needs a token where loopback does not', async () => {
    const { door, token } = await serve({ openLoopback: 'viewer' })
    expect(await statusOf(door, '1.1')).toBe(404)
    expect(await statusOf(door, '1.0')).toBe(401)
    expect(await statusOf(door, '1.0', { authorization: `Bearer ${token}` })).toBe(404)
  })

  test('DO-76 what a trusted proxy passes on needs a token, whatever it adds', async () => {
    const { door } = await serve({ openLoopback: 'viewer', trustedProxies: ['127.0.0.1'] })
    expect(await statusOf(door, '1.1')).toBe(401)
  })

  test('DO-73 failures are counted for the client that a trusted proxy names', async () => {
    const { door, token } = await serve({ trustedProxies: ['127.0.0.0/8'] })
    const ask = (forwarded: string) => statusOf(door, '1.1', { 'x-forwarded-for': forwarded })
    // Each time with something else that the client itself has sent.
    for (let count = 0; count < 20; count++) expect(await ask(`1.1.1.${count}, 192.0.2.1`)).toBe(401)
    expect(await ask('192.0.2.1')).toBe(429)
    expect(await ask('192.0.2.2')).toBe(401)
    const authorization = `Bearer ${token}`
    expect(await statusOf(door, '1.1', { 'x-forwarded-for': '192.0.2.1', authorization })).toBe(404)
  })

  test('DO-73 without a trusted proxy the header changes nothing', async () => {
    const { door } = await serve()
    const ask = (forwarded: string) => statusOf(door, '1.1', { 'x-forwarded-for': forwarded })
    for (let count = 0; count < 20; count++) expect(await ask(`1.1.1.${count}`)).toBe(401)
    expect(await ask('1.1.1.99')).toBe(429)
  })
})

function noteErrors(errors: unknown[]): Logger {
  const ignore = (): void => undefined
  const logger: Logger = {
    trace: ignore,
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (...told: unknown[]) => {
      errors.push(told)
    },
    child: () => logger,
  }
  return logger
}
