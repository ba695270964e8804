// Goal: what the provider of real servers hands out is real, and is gone when it is closed.
// Method: each kind is opened as a test would open it, spoken to in its own protocol, closed, and looked for.
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { askJson } from '../support/servers/http.ts'
import { findPostgresProgram } from '../support/servers/postgres.ts'
import { runProgram } from '../support/servers/process.ts'
import {
  CannotStart,
  SERVER_KINDS,
  type Endpoint,
  type ServerKind,
  type ServerRecipe,
} from '../support/servers/real-server.ts'
import { wantsRealLakefs } from '../support/servers/lakefs.ts'
import { askRedis } from '../support/servers/redis.ts'
import {
  RECIPES,
  openRealServer,
  presentOrSkip,
  useRealServer,
  type Surroundings,
} from '../support/servers/servers.ts'

const OPEN_MS = 800_000
const TALK_MS = 20_000

const TALK: Readonly<Record<ServerKind, (endpoint: Endpoint) => Promise<void>>> = {
  postgres: async ({ url }) => {
    const sql = 'select 6 * 7 as answer'
    const printed = await runProgram(findPostgresProgram('psql'), [url, '-Atc', sql], { timeoutMs: TALK_MS })
    expect(printed).toBe('42')
  },
  redis: async (endpoint) => {
    const signal = AbortSignal.timeout(TALK_MS)
    expect(await askRedis(endpoint, 'PING', signal)).toBe('+PONG')
    expect(await askRedis(endpoint, 'SET perago-smoke 1 PX 60000', signal)).toBe('+OK')
    expect(await askRedis(endpoint, 'INCR perago-smoke', signal)).toBe(':2')
  },
  etcd: async ({ url }) => {
    const [key, value] = ['perago-smoke', 'seen'].map((text) => Buffer.from(text).toString('base64'))
    expect((await askJson(`${url}/v3/kv/put`, { body: { key, value } })).status).toBe(200)
    const { body } = await askJson(`${url}/v3/kv/range`, { body: { key } })
    expect(body).toMatchObject({ kvs: [{ key, value }], count: '1' })
  },
  conductor: async ({ url }) => {
    expect((await askJson(`${url}/health`)).body).toMatchObject({ healthy: true })
    const definition = { name: 'perago_smoke', retryCount: 0, responseTimeoutSeconds: 60 }
    expect((await askJson(`${url}/api/metadata/taskdefs`, { body: [definition] })).status).toBe(200)
    const read = await askJson(`${url}/api/metadata/taskdefs/perago_smoke`)
    expect(read.body).toMatchObject(definition)
    expect((await askJson(`${url}/api/metadata/taskdefs/perago_smoke`, { method: 'DELETE' })).status).toBe(
      200,
    )
  },
  lakefs: async ({ url, facts }) => {
    const login = Buffer.from(`${facts.accessKeyId ?? ''}:${facts.secretAccessKey ?? ''}`).toString('base64')
    const headers = { authorization: `Basic ${login}` }
    const refused = await askJson(`${url}/api/v1/repositories`)
    expect(refused.status).toBe(401)
    expect((await askJson(`${url}/api/v1/repositories`, { headers })).body).toMatchObject({ results: [] })
  },
}

describe.each(SERVER_KINDS)('%s', (kind) => {
  test(
    'HO-20 HO-21 an opened server answers in its own protocol, and is gone with its directory once closed',
    { timeout: OPEN_MS },
    async (context) => {
      const server = presentOrSkip(await openRealServer(RECIPES[kind]), context, process.env)
      try {
        await TALK[kind](server)
        if (server.directory !== undefined) expect(existsSync(server.directory)).toBe(true)
      } finally {
        await server.close()
      }
      if (server.origin === 'environment') return
      await server.close()
      expect(await isListening(server.url)).toBe(false)
      if (server.directory !== undefined) expect(existsSync(server.directory)).toBe(false)
    },
  )
})

describe('a server for a block of tests', () => {
  const etcd = useRealServer('etcd')
  const urls: string[] = []

  test.for(['first', 'second'])(
    'HO-20 the %s test is given the server that was opened for the block',
    async (_, context) => {
      const server = etcd(context)
      urls.push(server.url)
      await TALK.etcd(server)
      expect(new Set(urls).size).toBe(1)
    },
  )
})

describe('the order in which a server is looked for', () => {
  const present = (name: string): Endpoint & { directory: undefined; close: () => Promise<void> } => ({
    url: `http://${name}`,
    facts: {},
    directory: undefined,
    close: () => Promise.resolve(),
  })
  const recipe: ServerRecipe = {
    ...RECIPES.etcd,
    readEnvironment: ({ NAMED: url }) => (url === undefined ? undefined : { url, facts: {} }),
    check: () => Promise.resolve(),
    start: () => Promise.resolve(present('native')),
    readyMs: 1,
  }
  const bare: Surroundings = {
    environment: {},
    namedMs: 1,
    dockerAnswers: () => Promise.resolve(false),
    startContainer: () => Promise.resolve(present('container')),
  }
  const docker = { ...bare, dockerAnswers: () => Promise.resolve(true) }

  test('HO-22 what the environment names comes first, then a container, then the machine itself', async () => {
    const origin = async (surroundings: Surroundings): Promise<unknown> => {
      const opened = await openRealServer(recipe, surroundings)
      return 'origin' in opened ? opened.origin : opened.reason
    }
    expect(await origin({ ...docker, environment: { NAMED: 'http://named' } })).toBe('environment')
    expect(await origin(docker)).toBe('container')
    expect(await origin(bare)).toBe('native')
    const noImage = { ...docker, startContainer: () => Promise.reject(new Error('no such image')) }
    expect(await origin(noImage)).toBe('native')
  })

  test('HO-22 a container that never answers is stopped before the next way is tried', async () => {
    let stopped = 0
    const close = (): Promise<void> => {
      stopped += 1
      return Promise.resolve()
    }
    const mute = { ...docker, startContainer: () => Promise.resolve({ ...present('container'), close }) }
    const check = (): Promise<never> => Promise.reject(new Error('mute'))
    expect(await openRealServer({ ...recipe, check }, mute)).toMatchObject({ origin: 'native' })
    expect(stopped).toBe(1)
  })

  test('HO-23 a named server that does not answer is a failure and no skip', async () => {
    const silent = {
      ...RECIPES.etcd,
      readEnvironment: () => ({ url: 'http://user:secret@127.0.0.1:9', facts: {} }),
    }
    const opening = openRealServer(silent, bare)
    await expect(opening).rejects.toThrow(/^etcd at http:\/\/127\.0\.0\.1:9 does not answer/)
  })

  test('HO-24 where nothing works the reason says everything that was tried', async () => {
    const start = (): Promise<never> => Promise.reject(new CannotStart('no `etcd` here'))
    const noImage = { ...docker, startContainer: () => Promise.reject(new Error('no such image')) }
    const absent = await openRealServer({ ...recipe, start }, noImage)
    expect(absent).toEqual({
      kind: 'etcd',
      reason: `etcd: ${RECIPES.etcd.variable} is not set; container ${RECIPES.etcd.container.image}: no such image; no \`etcd\` here`,
    })
  })

  test('HO-24 a server that is there but breaks on start is a failure, not a reason to skip', async () => {
    const start = (): Promise<never> => Promise.reject(new Error('it ended with 1'))
    await expect(openRealServer({ ...recipe, start }, bare)).rejects.toThrow('it ended with 1')
  })

  test('HO-25 an absent server skips its tests with the reason, and fails them where CI is true', () => {
    const absent = { kind: 'etcd', reason: 'etcd: no `etcd` here' } as const
    const skipped: (string | undefined)[] = []
    const skip = ((note?: string) => {
      skipped.push(note)
      throw new Error('skipped')
    }) as Parameters<typeof presentOrSkip>[1]['skip']
    expect(() => presentOrSkip(absent, { skip }, {})).toThrow('skipped')
    expect(skipped).toEqual([absent.reason])
    expect(() => presentOrSkip(absent, { skip }, { CI: 'true' })).toThrow(
      `every real server. ${absent.reason}`,
    )
    expect(skipped).toHaveLength(1)
  })

  test('HO-31 where CI is true the lakeFS of every suite is the real one', () => {
    expect(wantsRealLakefs({})).toBe(false)
    for (const environment of [
      { CI: 'true' },
      { PERAGO_TEST_LAKEFS: 'real' },
      { LAKEFS_ENDPOINT: 'http://a' },
    ])
      expect(wantsRealLakefs(environment)).toBe(true)
    if (process.env.CI === 'true') expect(RECIPES.lakefs.startsAs).toBe('native')
  })
})

function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
