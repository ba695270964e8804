// Goal: over the host the scheduler decides which task is handed out when and to whom, and changes nothing by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, lasting, task } from '../../../test/support/engine-graphs.ts'
import { UnavailableError } from '../../base/errors.ts'
import type { LogFields, Logger } from '../../base/logger.ts'
import { silentLogger } from '../../base/logger.ts'
import type { Store } from '../../core/ports.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { ResultStatus, TaskRecord } from '../../worker/ports.ts'
import type { Graph, TaskUnit } from '../graph/graph.ts'
import type { SchedulingOptions } from '../scheduling/options.ts'
import { openEngine, type Engine, type EngineOptions } from './open-engine.ts'

class World {
  readonly clock = new ManualClock()
  readonly store = openMemoryStore()
  readonly logged: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = []
  engine!: Engine

  async open(
    scheduling: Partial<SchedulingOptions> = {},
    more: Partial<EngineOptions> = {},
  ): Promise<Engine> {
    const { clock, store } = this
    this.engine = await openEngine({ store, clock, scheduling, logger: this.#logger(), ...more })
    const { engine } = this
    onTestFinished(() => engine.close())
    return engine
  }

  start(graph: Graph, more: { readonly priority?: number } = {}) {
    return this.engine.control.startGraph(graph, more)
  }

  poll(workerId = 'w', count = 1, taskType = 't'): Promise<readonly TaskRecord[]> {
    return this.engine.queue.poll({ taskType, workerId, count, waitMs: 0 })
  }

  async post(
    { taskId, workflowId, workerId }: TaskRecord,
    status: ResultStatus = 'COMPLETED',
  ): Promise<void> {
    await this.engine.queue.postResult({ taskId, workflowId, workerId, status, output: {} })
  }

  /** One worker with one slot: the units in the order in which it got them. */
  async workOff(durationMs = 10): Promise<readonly string[]> {
    const order: string[] = []
    for (;;) {
      const [next] = await this.poll()
      if (next === undefined) return order
      order.push(next.referenceTaskName)
      await this.clock.advance(durationMs)
      await this.post(next)
    }
  }

  #logger(): Logger {
    const at =
      (level: string) =>
      (message: string, fields: LogFields = {}) => {
        this.logged.push({ level, message, fields })
      }
    return { ...silentLogger, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  }
}

async function open(
  scheduling: Partial<SchedulingOptions> = {},
  more: Partial<EngineOptions> = {},
): Promise<World> {
  const world = new World()
  await world.open(scheduling, more)
  return world
}

const many = (count: number, more: Partial<TaskUnit> = {}): TaskUnit[] =>
  Array.from({ length: count }, (_, index) => task(`u${index}`, [], more))
const namesOf = (tasks: readonly TaskRecord[]) => tasks.map(({ referenceTaskName: name }) => name)

test('X-78 the scheduler gets the graph of an execution, and answers what to start', async () => {
  const world = await open()
  const units = [
    task('short', [], lasting(5, { planning: { priority: 9 } })),
    task('long', [], lasting(50)),
    task('end', ['long'], lasting(5)),
  ]
  await world.start(graphOf(units))
  expect(await world.workOff()).toEqual(['long', 'end', 'short'])
})

test('X-79 what the scheduler chose is started by a stored step, or offered again', async () => {
  const store = openMemoryStore()
  let isAway = false
  const failing: Store = Object.create(store, {
    commit: {
      value: (...batch: Parameters<Store['commit']>) =>
        isAway
          ? Promise.reject(new UnavailableError('test/away', 'commit: nobody answers'))
          : store.commit(...batch),
    },
  }) as Store
  const world = await open({}, { store: failing })
  const id = await world.start(graphOf([task('a')]))
  isAway = true
  await expect(world.clock.run(world.poll())).rejects.toThrow('nobody answers')
  isAway = false
  const statusOf = async () => (await world.engine.control.readWorkflow(id))?.tasks[0]?.status
  expect(await statusOf()).toBe('SCHEDULED')
  expect(namesOf(await world.poll())).toEqual(['a'])
  expect(await statusOf()).toBe('IN_PROGRESS')
})

test('X-26 a hand-out is logged with whether its unit is critical and how late it is', async () => {
  const world = await open()
  await world.start(graphOf([task('aside', [], lasting(1_000)), task('main', [], lasting(9_000))]))
  await world.clock.advance(2_500)
  expect(world.engine.waitingCritical()).toMatchObject([{ unit: 'main', delayMs: 2_500 }])
  await world.poll('w', 2)
  const told = world.logged.filter(({ message }) => message.includes('handed out'))
  expect(told.map(({ level, fields }) => ({ level, ...fields }))).toMatchObject([
    { level: 'info', unit: 'main', isCritical: true, waitedMs: 2_500, delayMs: 2_500 },
    { level: 'debug', unit: 'aside', isCritical: false, delayMs: 2_500 },
  ])
  expect(world.engine.waitingCritical()).toEqual([])
})

test('EN-150 a poll that waits for room gets a task as soon as any other one ends', async () => {
  const world = await open({ concurrentTasksMax: 1 })
  await world.start(graphOf([task('a'), task('b', [], { name: 'other' })]))
  const [running] = await world.poll()
  const waiting = world.engine.queue.poll({ taskType: 'other', workerId: 'o', count: 1, waitMs: 5_000 })
  await world.clock.advance(100)
  if (running !== undefined) await world.post(running)
  // No time passes any more: it is woken.
  expect(namesOf(await waiting)).toEqual(['b'])
})

test('EN-151 a waiting poll gets what was left for another worker in vain', async () => {
  const world = await open({ balancing: 'round-robin', balanceWaitMs: 300 })
  // Both are known, and each has its turn.
  for (const worker of ['a', 'b']) await world.poll(worker)
  await world.start(graphOf([task('first'), task('second')]))
  expect(namesOf(await world.poll('a'))).toEqual(['first'])
  const waiting = world.engine.queue.poll({ taskType: 't', workerId: 'a', count: 1, waitMs: 5_000 })
  await world.clock.advance(0)
  await world.clock.advance(299)
  const answered = waiting.then(namesOf)
  expect(await Promise.race([answered, Promise.resolve('waits')])).toBe('waits')
  await world.clock.advance(2)
  expect(await answered).toEqual(['second'])
})

test('EN-152 with fair scheduling a small execution is not delayed by one of five hundred units', async () => {
  const endOf = async (strategy: 'fair' | 'priority'): Promise<number> => {
    const world = await open({ strategy })
    const heavy = many(500).map((unit) => ({ ...unit, taskReferenceName: `heavy-${unit.taskReferenceName}` }))
    await world.start(graphOf(heavy, 'heavy'))
    await world.poll('busy', 30)
    await world.start(graphOf([task('one'), task('two', ['one'])], 'small'))
    const order: string[] = []
    for (let round = 0; round < 60 && !order.includes('two'); round += 1) {
      await world.clock.advance(1)
      for (const each of await world.poll()) {
        order.push(each.referenceTaskName)
        await world.post(each)
      }
    }
    return order.indexOf('two')
  }
  expect(await endOf('fair')).toBe(1)
  // Otherwise those that are due earlier go first.
  expect(await endOf('priority')).toBe(-1)
})

test('EN-153 what was learned from runs changes the order, also after a restart', async () => {
  const graph = graphOf([task('quick', [], lasting(90)), task('slow', [], lasting(1))])
  const world = await open()
  await world.start(graph)
  expect(await world.workOff()).toEqual(['quick', 'slow'])
  // Now it is the slow one that takes long.
  await world.start(graph)
  for (const each of [...(await world.poll('a')), ...(await world.poll('b'))]) {
    await world.clock.advance(each.referenceTaskName === 'slow' ? 60_000 : 1)
    await world.post(each)
  }
  await world.engine.close()
  await world.open()
  await world.start(graph)
  expect(await world.workOff()).toEqual(['slow', 'quick'])
})

test('EN-153 failures of a target are remembered over a restart', async () => {
  const world = await open({ breaker: { failures: 2, openMs: 60_000, openMaxMs: 60_000 } })
  await world.engine.control.registerTask({ name: 't', retryCount: 0 })
  const fail = async (): Promise<void> => {
    await world.start(graphOf([task('a', [], { target: 'warehouse' })]))
    for (const each of await world.poll()) await world.post(each, 'FAILED')
  }
  await fail()
  await fail()
  await world.start(graphOf([task('next', [], { target: 'warehouse' })]))
  expect(await world.poll()).toEqual([])
  await world.engine.close()
  await world.open({ breaker: { failures: 2, openMs: 60_000, openMaxMs: 60_000 } })
  expect(await world.poll()).toEqual([])
  await world.clock.advance(60_000)
  expect(namesOf(await world.poll())).toEqual(['next'])
})

test('EN-154 after a restart with a smaller pool, a task that demands more waits, and the log tells', async () => {
  const world = await open()
  await world.start(graphOf([task('large', [], { planning: { demand: { gpu: 2 } } })]))
  await world.engine.close()
  await world.open({ pool: { cpu: 4, memoryBytes: 1_000, gpu: 1 } })
  expect(await world.poll()).toEqual([])
  expect(
    world.logged.filter(({ level }) => level === 'warn').map(({ fields }) => fields['problems']),
  ).toEqual([['"large" demands 2 GPUs, and the whole pool has 1 GPUs']])
  await expect(world.start(graphOf([task('b', [], { planning: { demand: { cpu: 5 } } })]))).rejects.toThrow(
    'the whole pool has 4 CPU cores',
  )
  await world.start(graphOf([task('small')]))
  expect(namesOf(await world.poll())).toEqual(['small'])
})

test('EN-762 that an execution needs a larger pool is said once, also while nothing of it may be handed out', async () => {
  const world = await open()
  await world.start(graphOf([task('a', [], { planning: { demand: { cpu: 50 } } })]))
  await world.engine.close()
  let tries = 0
  const bodies = {
    name: 'full',
    write: () => {
      tries += 1
      return Promise.reject(new UnavailableError('test/full', 'write: no room'))
    },
    read: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(),
    list: () => Promise.resolve([]),
  }
  const pool = { cpu: 4, memoryBytes: 0, gpu: 0 }
  const again = new World()
  await again.open({ pool }, { store: world.store, checkpoints: { bodies: [bodies], frequency: 'unit' } })
  // It is looked at again and again. Checkpoints are compressed outside of this thread.
  for (let looks = 0; looks < 200 && tries <= 3; looks++) {
    await again.clock.advance(1_000)
    await sleep(5)
  }
  expect(tries).toBeGreaterThan(3)
  const told = again.logged.filter(({ message }) => message.includes('until the pool is enlarged'))
  expect(told).toHaveLength(1)
})
