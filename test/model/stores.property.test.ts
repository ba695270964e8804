// Goal: whoever writes against one store may run on any other.
// Method: the same steps are taken on a model of a few lines and on all five stores; everything they say must be the same.
// A failure prints its seed: PERAGO_PROPERTY_SEED=… PERAGO_PROPERTY_PATH=… replays it.
import fc from 'fast-check'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'
import type { Store } from '../../src/core/ports.ts'
import { openEtcdStore } from '../../src/stores/etcd/etcd-store.ts'
import { openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { openRedisStore } from '../../src/stores/redis/redis-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { freshName } from '../support/servers/own-database.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { openNaiveStore } from './naive-store.ts'
import { BRIEF_MS, runSteps, steps, stepsWithExpiry, type Step } from './store-model.ts'

const SEQUENCES = 40
const SEQUENCES_WITH_EXPIRY = 2
const TEST_MS = 120_000
/** etcd's leases are granted in whole seconds, at least two, and looked through twice a second. */
const OUTLIVE_MS = BRIEF_MS + 4_000

const directory = mkdtempSync(join(tmpdir(), 'perago-model-'))
const servers = {
  postgres: useRealServer('postgres'),
  redis: useRealServer('redis'),
  etcd: useRealServer('etcd'),
}
const stores = new Map<string, Store>()
let places = 0

beforeAll(() => {
  stores.set('memory', openMemoryStore())
  stores.set('sqlite', openSqliteStore({ file: join(directory, 'store.db') }))
})

afterAll(async () => {
  for (const store of stores.values()) await store.close()
  rmSync(directory, { recursive: true })
})

/** All five; where a server is missing, the whole test is skipped with the reason. */
async function openAll(context: TestContext): Promise<void> {
  if (stores.size === 5) return
  const name = freshName()
  stores.set('postgres', await openPostgresStore({ url: servers.postgres(context).url, schema: name }))
  stores.set('redis', await openRedisStore({ url: servers.redis(context).url, prefix: `{${name}}:` }))
  stores.set('etcd', await openEtcdStore({ endpoints: [servers.etcd(context).url], prefix: `${name}/` }))
}

async function expectSameAnswers(list: readonly Step[]): Promise<void> {
  const place = `${String((places += 1))}/`
  const naive = openNaiveStore()
  const expected = await runSteps(naive.store as Store, place, list, naive.outlive)
  const said = await Promise.all(
    [...stores].map(async ([name, store]) => ({
      name,
      answers: await runSteps(store, place, list, () => wait(OUTLIVE_MS)),
    })),
  )
  for (const { name, answers } of said) expect({ name, answers }).toEqual({ name, answers: expected })
}

describe('five stores and a model', () => {
  test(
    'ST-80 the same operations give the same answers on every store',
    { timeout: TEST_MS },
    async (context) => {
      await openAll(context)
      const { numRuns = SEQUENCES } = fc.readConfigureGlobal()
      await fc.assert(fc.asyncProperty(steps, expectSameAnswers), { numRuns })
    },
  )

  test('ST-80 so do they when entries expire', { timeout: TEST_MS }, async (context) => {
    await openAll(context)
    // Each run waits for seconds; a failing one is not made smaller for minutes.
    await fc.assert(fc.asyncProperty(stepsWithExpiry, expectSameAnswers), {
      numRuns: SEQUENCES_WITH_EXPIRY,
      endOnFailure: true,
    })
  })
})
