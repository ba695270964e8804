import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../base/logger.ts'
import type { Store } from '../core/ports.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import { graph, task } from '../../test/support/rules-world.ts'
import { openEngines, type EnginesOptions, type OpenEngines } from './engines.ts'

function open(store: Store, more: Partial<EnginesOptions> = {}): OpenEngines {
  const engines = openEngines({ store, logger: silentLogger, leaseMs: 300, ...more })
  onTestFinished(() => engines.close())
  return engines
}

const POLL = { taskType: 'work', workerId: 'w', count: 5, waitMs: 2_000 }

test('EN-712 another server goes on with the executions of every tenant, whether anybody asks or not', async () => {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const first = open(store)
  for (const tenant of [undefined, 'acme', 'zoo'])
    await (
      await first.of(tenant)
    ).control.startGraph(graph([task('a')]), { input: { tenant: tenant ?? 'none' } })
  await first.close()
  const second = open(store)
  second.startWork()
  for (const tenant of [undefined, 'acme', 'zoo']) {
    const engine = await second.of(tenant)
    const [found] = await engine.queue.poll(POLL)
    expect(found).toMatchObject({ referenceTaskName: 'a' })
  }
})

test('EN-712 a server that does not run a tenant reads its executions, and says that another one runs them', async () => {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const [runs, waits] = [await open(store).of('acme'), await open(store).of('acme')]
  const id = await runs.control.startGraph(graph([task('a')]), {})
  expect([runs.isRunning(), waits.isRunning()]).toEqual([true, false])
  expect((await waits.reader.read(id))?.stage).toBe('EXECUTING')
  expect((await waits.reader.list({ limit: 5 })).executions).toMatchObject([
    { workflowId: id, stage: 'EXECUTING' },
  ])
  await expect(waits.control.pause(id)).rejects.toMatchObject({
    ...{ kind: 'unavailable', code: 'engine/not-running', retryAfterMs: 1_000 },
  })
})

test('EN-713 the number of tenants is bounded; a closed one opens nothing', async () => {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const engines = open(store, { tenantsMax: 1 })
  const engine = await engines.of('acme')
  expect(await engines.of('acme')).toBe(engine)
  await expect(engines.of('zoo')).rejects.toMatchObject({ code: 'runtime/too-many-tenants' })
  await engines.close()
  await expect(engines.of('late')).rejects.toMatchObject({ code: 'runtime/engines-closed' })
})

test('EN-714 what is removed or swept is not listed, and leaves no entry of the list', async () => {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const { control, reader } = await open(store).of('acme')
  const [kept, removed] = [
    await control.startGraph(graph([task('a')]), {}),
    await control.startGraph(graph([task('a')]), {}),
  ]
  await control.remove(removed)
  expect((await reader.list({ limit: 5 })).executions.map(({ workflowId }) => workflowId)).toEqual([kept])
  expect((await store.range({ prefix: 'engine-started:' })).entries).toHaveLength(1)
})
