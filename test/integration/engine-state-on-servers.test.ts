// Goal: the state of an execution on a server: other instances see each change of it, a stale write changes nothing, and from a backup
// an engine goes on.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { systemRandom } from '../../src/base/random.ts'
import { openStepWriter } from '../../src/core/life-cycle/steps.ts'
import type { Store } from '../../src/core/ports.ts'
import { DefinitionStore } from '../../src/engine/host/definition-store.ts'
import { ExecutionStore } from '../../src/engine/host/execution-store.ts'
import { openEngine, type Engine } from '../../src/engine/host/open-engine.ts'
import { openPostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { graphOf, task } from '../support/engine-graphs.ts'
import { freshName } from '../support/servers/own-database.ts'
import { findPostgresProgram } from '../support/servers/postgres.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { readText } from '../support/source-tree.ts'
import { serverStores } from '../support/stores.ts'

const TEST_MS = 60_000
const chain = graphOf([task('a'), task('b', ['a'])])

async function open(store: Store): Promise<Engine> {
  const engine = await openEngine({ store, leaseMs: 900 })
  onTestFinished(() => engine.close())
  await expect.poll(() => engine.isRunning(), { timeout: 20_000 }).toBe(true)
  return engine
}

/** Does the next unit; its name. */
async function work({ queue }: Engine, output = {}): Promise<string> {
  const [next] = await queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 5_000 })
  if (next === undefined) throw new Error('there is no unit to do')
  const { taskId, workflowId, workerId } = next
  await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output })
  return next.referenceTaskName
}

function executionsOn(store: Store): ExecutionStore {
  const pace = { clock: systemClock, random: systemRandom }
  const steps = openStepWriter({ store, tenant: undefined, pace, logger: silentLogger, outbox: false })
  const definitions = new DefinitionStore(store, undefined, pace)
  return new ExecutionStore({ steps, definitions, pace, stateMaxBytes: Infinity })
}

/** The keys of states that changed, as a watcher learns of them. */
function watchStates(store: Store) {
  const ending = new AbortController()
  const seen: string[] = []
  let isReady: () => void = () => undefined
  const ready = new Promise<void>((resolve) => (isReady = resolve))
  const watching = (async () => {
    for await (const notice of store.watch({ prefix: '', signal: ending.signal })) {
      if (notice.kind === 'ready') isReady()
      if (notice.kind === 'changes')
        for (const { key } of notice.changes) if (key.endsWith('head')) seen.push(key)
    }
  })()
  onTestFinished(async () => {
    ending.abort()
    await watching
  })
  return { seen, ready }
}

describe.each(serverStores(['etcd', 'postgres']))('executions on $kind', (kind) => {
  test(
    'X-45 X-47 the state of an execution is kept on the server: another engine goes on where the first was',
    async (context) => {
      const { store, openAnother } = await kind.open(context)
      const first = await open(store)
      await first.control.registerTask({ name: 't' })
      const id = await first.control.startGraph(chain, { input: { day: 'monday' } })
      expect(await work(first, { rows: 7 })).toBe('a')
      const before = await first.control.readExecution(id)
      await first.close()
      const second = await open(await openAnother())
      expect(await second.control.readExecution(id)).toEqual(before)
      expect(await work(second)).toBe('b')
      expect(await second.control.readExecution(id)).toMatchObject({
        stage: 'COMMIT',
        input: { day: 'monday' },
      })
    },
    TEST_MS,
  )

  test(
    'X-46 X-47 each change of state reaches a watcher of another instance',
    async (context) => {
      const { store, openAnother } = await kind.open(context)
      const { seen, ready } = watchStates(await openAnother())
      await ready
      const engine = await open(store)
      await engine.control.registerTask({ name: 't' })
      const id = await engine.control.startGraph(chain, {})
      for (const unit of ['a', 'b']) {
        const before = seen.length
        expect(await work(engine)).toBe(unit)
        // Its claim and its completion.
        await expect.poll(() => seen.length, { timeout: 10_000 }).toBeGreaterThan(before)
        await sleep(20)
      }
      const [key, ...others] = new Set(seen)
      expect([key?.includes(id), others]).toEqual([true, []])
    },
    TEST_MS,
  )

  test(
    'X-46 X-47 a step that was made from a stale reading is refused, and changes nothing',
    async (context) => {
      const { store, openAnother } = await kind.open(context)
      const engine = await open(store)
      await engine.control.registerTask({ name: 't' })
      const id = await engine.control.startGraph(chain, {})
      const other = executionsOn(await openAnother())
      const stale = await other.load(id)
      expect(stale).toBeDefined()
      await work(engine)
      const now = await other.load(id)
      await expect(
        other.write(stale!, { ...stale!.execution, updatedMs: 1, output: { from: 'the past' } }),
      ).rejects.toMatchObject({ code: 'core/stale' })
      expect((await other.load(id))?.execution).toEqual(now?.execution)
      expect((await engine.control.readExecution(id))?.output).toEqual({})
    },
    TEST_MS,
  )
})

const postgres = useRealServer('postgres')

test(
  'X-48 from a backup of PostgreSQL, made while an engine runs, another engine goes on; executions are found by stage',
  async (context) => {
    const { url } = postgres(context)
    const [schema, database] = [freshName(), freshName()]
    const admin = new Client({ connectionString: url })
    await admin.connect()
    onTestFinished(() => admin.end())
    await admin.query(`CREATE DATABASE ${database}`)
    const empty = new URL(url)
    empty.pathname = `/${database}`
    const store = await openPostgresStore({ url, schema })
    onTestFinished(() => store.close())
    const engine = await open(store)
    await engine.control.registerTask({ name: 't' })
    const done = await engine.control.startGraph(chain, {})
    for (const unit of ['a', 'b']) expect(await work(engine)).toBe(unit)
    const open1 = await engine.control.startGraph(chain, { input: { day: 'monday' } })
    expect(await work(engine, { rows: 7 })).toBe('a')

    const directory = mkdtempSync(join(tmpdir(), 'perago-backup-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const [, backUp = '', restore = ''] = blocksOf('docs/guides/back-up-a-store.md')
    const shell = (script: string): Promise<unknown> =>
      promisify(execFile)('sh', ['-euc', script], {
        env: {
          PATH: `${dirname(findPostgresProgram('pg_dump'))}:${process.env.PATH ?? ''}`,
          ...{ STORE: url, SCHEMA: schema, EMPTY: empty.href, FILE: join(directory, 'store.dump') },
        },
      })
    await shell(backUp)
    // What happens afterwards is not in it.
    expect(await work(engine)).toBe('b')
    await engine.close()
    await shell(restore)

    const restored = await openPostgresStore({ url: empty.href, schema })
    onTestFinished(() => restored.close())
    const next = await open(restored)
    const listed = async (stage: 'COMMIT' | 'EXECUTING') =>
      (await next.reader.list({ limit: 10, stages: [stage] })).executions.map(({ workflowId }) => workflowId)
    expect([await listed('COMMIT'), await listed('EXECUTING')]).toEqual([[done], [open1]])
    expect(await work(next)).toBe('b')
    expect(await next.control.readExecution(open1)).toMatchObject({
      stage: 'COMMIT',
      input: { day: 'monday' },
    })
    expect(await listed('COMMIT')).toEqual([open1, done])
    // A second restore is refused: it would mix two pasts.
    await expect(shell(restore)).rejects.toThrow()
  },
  TEST_MS,
)

function blocksOf(guide: string): readonly string[] {
  return ['', ...[...readText(guide).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code ?? '')]
}
