// The embedded engine as a task queue, over each kind of store. PERAGO_TEST_STORES=all adds those on servers.
import { systemClock } from '../../src/base/clock.ts'
import { openEngine } from '../../src/engine/host/open-engine.ts'
import { openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { STORE_KINDS } from '../support/stores.ts'
import { taskQueueConformance, type QueueScene } from './task-queue.ts'
import { workflowDefinitionConformance } from './workflow-definitions.ts'

const openOnMemory = async (): Promise<QueueScene> => {
  const clock = new ManualClock()
  const store = openMemoryStore()
  const engine = await openEngine({ store, clock })
  return {
    ...engine,
    pass: (durationMs: number) => clock.advance(durationMs),
    settle: <T>(promise: Promise<T>) => clock.run(promise),
    close: async () => {
      await engine.close()
      await store.close()
    },
  }
}

taskQueueConformance('the embedded engine on memory', { open: openOnMemory })
workflowDefinitionConformance('the embedded engine on memory', { open: openOnMemory })

// Over a store that needs time of its own the clock is the real one.
for (const { kind, open } of STORE_KINDS.filter((each) => each.kind !== 'memory')) {
  taskQueueConformance(`the embedded engine on ${kind}`, {
    open: async (context) => {
      const { store } = await open(context)
      const engine = await openEngine({ store })
      return {
        ...engine,
        pass: (durationMs: number) => systemClock.sleep(durationMs),
        settle: <T>(promise: Promise<T>) => promise,
        close: () => engine.close(),
      }
    },
  })
}
