import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  instantClock,
  startScriptedServer,
  type Reaction,
  type ScriptedServer,
  type SeenRequest,
} from '../../test/conformance/scripted-server.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import type { TaskId } from '../worker/ports.ts'
import { createTokenSource } from './auth.ts'
import { openConductorClient } from './client.ts'
import { createHttpTaskQueue } from './http-task-queue.ts'

const KEY = { keyId: 'key-id-of-mine', keySecret: 'very-secret-words' }

/** A JSON web token that says when it ends. */
function tokenEndingAt(end: Date): string {
  const claims = Buffer.from(JSON.stringify({ exp: end.getTime() / 1000 })).toString('base64url')
  return `head.${claims}.signature`
}

describe('the token', () => {
  test('CO-70 is traded once for everybody who waits', async () => {
    const trade = vi.fn(() => Promise.resolve('token-1'))
    const tokens = createTokenSource({ trade, clock: new ManualClock() })
    expect(await Promise.all([tokens.get(), tokens.get(), tokens.get()])).toEqual(Array(3).fill('token-1'))
    expect(trade).toHaveBeenCalledTimes(1)
  })

  test('CO-70 is not taken from the others by one who gives up waiting', async () => {
    let give: (token: string) => void = () => undefined
    const tokens = createTokenSource({
      trade: () => new Promise((resolve) => (give = resolve)),
      clock: new ManualClock(),
    })
    const giveUp = new AbortController()
    const impatient = expect(tokens.get(giveUp.signal)).rejects.toThrow('enough')
    const patient = tokens.get()
    giveUp.abort(new Error('enough'))
    await impatient
    give('token-1')
    expect(await patient).toBe('token-1')
  })

  test('CO-71 is replaced a minute before its end, by what it says itself', async () => {
    const clock = new ManualClock()
    const endsInMs = (ms: number): string => tokenEndingAt(new Date(clock.now().getTime() + ms))
    const trade = vi.fn(() => Promise.resolve(endsInMs(600_000)))
    const tokens = createTokenSource({ trade, clock })
    const first = await tokens.get()
    await clock.advance(539_000)
    expect(await tokens.get()).toBe(first)
    await clock.advance(1_000)
    expect(await tokens.get()).not.toBe(first)
    expect(trade).toHaveBeenCalledTimes(2)
  })

  test('CO-71 is replaced after half an hour less a minute when it says nothing', async () => {
    const clock = new ManualClock()
    const trade = vi.fn(() => Promise.resolve('opaque'))
    const tokens = createTokenSource({ trade, clock })
    await tokens.get()
    await clock.advance(1_739_999)
    await tokens.get()
    expect(trade).toHaveBeenCalledTimes(1)
    await clock.advance(1)
    await tokens.get()
    expect(trade).toHaveBeenCalledTimes(2)
  })

  test('CO-71 is used on until its end when no new one is to be had', async () => {
    const clock = new ManualClock()
    const trade = vi.fn(() => Promise.resolve('opaque'))
    const tokens = createTokenSource({ trade, clock })
    await tokens.get()
    trade.mockImplementation(() => Promise.reject(new Error('server away')))
    await clock.advance(1_799_999)
    expect(await tokens.get()).toBe('opaque')
    await clock.advance(1)
    await expect(tokens.get()).rejects.toThrow('server away')
  })

  test('CO-72 that was discarded is not given again, and an older one discards nothing', async () => {
    let count = 0
    const tokens = createTokenSource({
      trade: () => Promise.resolve(`token-${++count}`),
      clock: new ManualClock(),
    })
    tokens.discard((await tokens.get())!)
    expect(await tokens.get()).toBe('token-2')
    tokens.discard('token-1')
    expect(await tokens.get()).toBe('token-2')
  })
})

describe('requests with a key', () => {
  let server: ScriptedServer | undefined
  beforeEach(() => {
    vi.stubEnv('CONDUCTOR_SERVER_URL', 'http://127.0.0.1:9/api')
    vi.stubEnv('CONDUCTOR_AUTH_KEY', 'from-the-environment')
    vi.stubEnv('CONDUCTOR_AUTH_SECRET', 'from-the-environment')
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await server?.close()
    server = undefined
  })

  /** Reads two tasks and gives what the server saw. */
  async function readTwice(
    react: (request: SeenRequest, index: number) => Reaction,
  ): Promise<readonly SeenRequest[]> {
    server = await startScriptedServer(react)
    const client = openConductorClient({ endpoint: server.url, key: KEY, clock: instantClock() })
    const queue = createHttpTaskQueue(client)
    try {
      await queue.readTask('a' as TaskId)
      await queue.readTask('b' as TaskId)
    } finally {
      await client.close()
    }
    return server.seen
  }

  const gone: Reaction = { status: 404, json: { status: 404, message: 'Task not found', retryable: false } }
  const refused: Reaction = {
    status: 401,
    json: { status: 401, message: `bad ${KEY.keySecret}`, retryable: false },
  }
  const isTrade = ({ path }: SeenRequest): boolean => path === '/api/token'

  test('CO-70 CO-74 requests carry the token of the configured key, whatever the environment says', async () => {
    const seen = await readTwice((request) =>
      isTrade(request) ? { status: 200, json: { token: 'token-1' } } : gone,
    )
    expect(seen.map(({ path }) => path)).toEqual(['/api/token', '/api/tasks/a', '/api/tasks/b'])
    expect(JSON.parse(seen[0]!.body.toString())).toEqual(KEY)
    expect(seen.slice(1).map(({ headers }) => headers['x-authorization'])).toEqual(['token-1', 'token-1'])
  })

  test('CO-72 are sent once more with a new token when the token is refused', async () => {
    const seen = await readTwice((request, index) => {
      if (isTrade(request)) return { status: 200, json: { token: index === 0 ? 'token-1' : 'token-2' } }
      return request.headers['x-authorization'] === 'token-1' ? refused : gone
    })
    expect(seen.map(({ path, headers }) => `${path} ${String(headers['x-authorization'] ?? '')}`)).toEqual([
      '/api/token ',
      '/api/tasks/a token-1',
      '/api/token ',
      '/api/tasks/a token-2',
      '/api/tasks/b token-2',
    ])
  })

  test('CO-72 CO-74 a request refused with a new token is an error that shows neither key nor token', async () => {
    const reading = readTwice((request) =>
      isTrade(request) ? { status: 200, json: { token: 'token-1' } } : refused,
    )
    const error = await reading.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'refused', code: 'conductor/unauthorized' })
    expect(JSON.stringify([String(error), error])).not.toContain(KEY.keySecret)
    expect(server!.seen).toHaveLength(4)
  })

  test('CO-73 go without a token when the server has no such route, and ask for it once', async () => {
    const seen = await readTwice((request) =>
      isTrade(request)
        ? { status: 404, json: { status: 404, message: 'No static resource api/token.', retryable: false } }
        : gone,
    )
    expect(seen.map(({ path }) => path)).toEqual(['/api/token', '/api/tasks/a', '/api/tasks/b'])
    expect(seen.every(({ headers }) => headers['x-authorization'] === undefined)).toBe(true)
  })
})
