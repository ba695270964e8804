// Goal: whatever fails between a store and its server, no acknowledged write is lost, no batch is written partly, and the
// error says whether it is "not done" or "unknown".
// Method: real servers behind a proxy that cuts, and real servers that are killed while writers write.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { errorKindOf } from '../../src/base/errors.ts'
import type { Store } from '../../src/core/ports.ts'
import { openEtcdStore } from '../../src/stores/etcd/etcd-store.ts'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { keysOf, put, text, Watching, write } from '../conformance/store-cases/scene.ts'
import { openCuttingProxy } from '../support/servers/cutting-proxy.ts'
import { openKillable, type KillableKind, type KillableServer } from '../support/servers/killable.ts'
import { findFreePort } from '../support/servers/process.ts'

const TEST_MS = 90_000
const KINDS = ['postgres', 'redis', 'etcd'] as const

function openStore(kind: KillableKind, url: string): Promise<Store> {
  const answerTimeoutMs = 5_000
  if (kind === 'postgres') return openPostgresStore({ url, answerTimeoutMs, connections: 4 })
  if (kind === 'redis') return openRedisStore({ url, answerTimeoutMs })
  return openEtcdStore({ endpoints: [url], answerTimeoutMs })
}

async function openServer(kind: KillableKind, context: TestContext): Promise<KillableServer> {
  const server = await openKillable(kind, context)
  onTestFinished(server.close)
  return server
}

async function openOwn(kind: KillableKind, url: string): Promise<Store> {
  const store = await openStore(kind, url)
  onTestFinished(() => store.close())
  return store
}

/** Tries again until it works: a store reconnects on its own. */
async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = performance.now() + 20_000; ;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > end) throw error
      await wait(100)
    }
  }
}

describe.each(KINDS)('%s', (kind) => {
  test(
    'ST-70 a batch whose connection is cut is uncertain, says what to read, and happened wholly or not at all',
    { timeout: TEST_MS },
    async (context) => {
      const server = await openServer(kind, context)
      const proxy = await openCuttingProxy(server.port)
      onTestFinished(proxy.close)
      const direct = await openOwn(kind, server.url)
      const store = await openOwn(
        kind,
        server.url.replace(`:${String(server.port)}`, `:${String(proxy.port)}`),
      )
      for (const mode of ['lose-answer', 'lose-request'] as const) {
        for (let round = 0; round < 3; round += 1) {
          const place = `${mode}:${String(round)}:`
          await eventually(() => write(store, put(`${place}before`)))
          // Whatever the store does beside has its turn, so that it is the batch that is cut.
          await wait(200)
          const cuts = proxy.cuts()
          proxy.mode = mode
          const failure: unknown = await write(store, put(`${place}a`), put(`${place}b`)).catch(
            (error: unknown) => error,
          )
          proxy.mode = 'through'
          expect(proxy.cuts()).toBeGreaterThan(cuts)
          expect(failure).toMatchObject({ kind: 'uncertain', code: 'stores/answer-lost' })
          expect((failure as { read: string }).read).toContain(`${place}a`)
          // The server may still be at it.
          await wait(100)
          const keys = await keysOf(direct, place)
          expect([[`${place}before`], [`${place}a`, `${place}b`, `${place}before`]]).toContainEqual(keys)
          if (mode === 'lose-request') expect(keys).toHaveLength(1)
          else if (kind !== 'etcd') expect(keys).toHaveLength(3)
        }
      }
    },
  )

  test('ST-71 where nobody listens, opening is unavailable', { timeout: TEST_MS }, async () => {
    const port = String(await findFreePort())
    const scheme = { postgres: 'postgresql', redis: 'redis', etcd: 'http' }[kind]
    const opening = openStore(kind, `${scheme}://127.0.0.1:${port}`)
    await expect(opening).rejects.toMatchObject({ kind: 'unavailable', code: 'stores/unreachable' })
  })

  test(
    'ST-72 a server that is killed under load and comes back has all that was acknowledged, and the store goes on',
    { timeout: TEST_MS },
    async (context) => {
      const server = await openServer(kind, context)
      const store = await openOwn(kind, server.url)
      const watching = await Watching.open(store, 'after:')
      const outcomes = new Map<string, string>()
      let isWriting = true
      const writer = async (name: string): Promise<void> => {
        for (let at = 0; isWriting; at += 1) {
          const key = `${name}${String(at).padStart(6, '0')}`
          try {
            await write(store, put(`l:${key}`), put(`r:${key}`))
            outcomes.set(key, 'done')
          } catch (error) {
            outcomes.set(key, errorKindOf(error))
            await wait(20)
          }
        }
      }
      const writers = Promise.all(['a', 'b', 'c'].map(writer))
      await wait(500)
      await server.kill()
      await wait(300)
      await server.start()
      await eventually(() => store.get('l:any'))
      await wait(300)
      isWriting = false
      await writers

      const count = (kindOf: string): number =>
        [...outcomes.values()].filter((said) => said === kindOf).length
      expect(count('done')).toBeGreaterThan(10)
      expect(count('unavailable')).toBeGreaterThan(0)
      expect(count('defect') + count('invalid')).toBe(0)
      const [left, right] = [new Set(await keysOf(store, 'l:')), new Set(await keysOf(store, 'r:'))]
      for (const [key, said] of outcomes) {
        expect(left.has(`l:${key}`), `${key} by half`).toBe(right.has(`r:${key}`))
        if (said !== 'uncertain') expect(left.has(`l:${key}`), `${key} was ${said}`).toBe(said === 'done')
      }

      await eventually(() => write(store, put('after:1')))
      const notice = await watching.next()
      expect(['changes', 'gap']).toContain(notice?.kind)
      await watching.close()
    },
  )
})

test(
  'ST-72 a process killed while it writes to SQLite leaves whole batches, with every acknowledged one',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'perago-store-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const file = join(directory, 'store.db')
    const register = new URL('../support/typescript-child/register.mjs', import.meta.url).href
    const program = new URL('../support/servers/sqlite-writer.ts', import.meta.url).pathname
    for (let round = 0; round < 3; round += 1) {
      const child = spawn(process.execPath, ['--import', register, program, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
      while (said.split('\n').length < 50) await once(child.stdout, 'data')
      child.kill('SIGKILL')
      await once(child, 'close')
      const acknowledged = said.split('\n').slice(0, -1)

      const store = openSqliteStore({ file })
      const [left, right] = [await keysOf(store, 'l:'), await keysOf(store, 'r:')]
      expect(left.map((key) => key.slice(2))).toEqual(right.map((key) => key.slice(2)))
      for (const at of acknowledged) expect(text(await store.get(`l:${at.padStart(6, '0')}`))).toBe(at)
      expect(left.length).toBeGreaterThanOrEqual(acknowledged.length)
      await store.close()
    }
  },
  TEST_MS,
)
