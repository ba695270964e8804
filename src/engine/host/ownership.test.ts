// Goal: an engine goes on through short troubles of its store, and never acts when another one may have its lease.
// Method: engines over one store in memory, in a time that the test moves; the writes of leases fail as the test says.
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { SteppedClock } from '../../../test/support/stepped-clock.ts'
import { UncertainError, UnavailableError } from '../../base/errors.ts'
import { ENGINE_OPEN_PREFIX, leaseKey } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import { createMemorySpace, openMemoryStore } from '../../stores/memory/memory-store.ts'
import type { TaskRecord, TaskResult } from '../../worker/ports.ts'
import { openEngine, type Engine } from './open-engine.ts'

const LEASE_MS = 9_000
const KEY = leaseKey('engine')

type Fault = 'none' | 'refuse' | 'lose-request' | 'lose-answer' | 'hang'

class World {
  readonly clock = new SteppedClock()
  readonly #space = createMemorySpace({ clock: this.clock })
  readonly #engines: Engine[] = []
  /** What the lease of an engine meets when it is written. */
  readonly faults = new Map<string, Fault>()
  /** How often it asked which executions are open: to run them all. */
  readonly lists = new Map<string, number>()
  readonly #hanging: (() => void)[] = []

  async open(name: string): Promise<Engine> {
    const { clock } = this
    const engine = await openEngine({ store: this.#storeOf(name), clock, leaseMs: LEASE_MS })
    this.#engines.push(engine)
    return engine
  }

  /** With pauses in real time: whether a process has ended is asked of the machine. */
  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= 250) {
      await this.clock.advance(Math.min(250, leftMs))
      await sleep(2)
    }
  }

  async close(): Promise<void> {
    this.faults.clear()
    for (const end of this.#hanging.splice(0)) end()
    const closing = Promise.all(this.#engines.map((engine) => engine.close()))
    await this.clock.advance(60_000)
    await closing
  }

  #storeOf(name: string): Store {
    const store = openMemoryStore({ space: this.#space })
    return {
      ...store,
      range: (request, options) => {
        if (request.prefix.startsWith(ENGINE_OPEN_PREFIX))
          this.lists.set(name, (this.lists.get(name) ?? 0) + 1)
        return store.range(request, options)
      },
      commit: async (batch, options) => {
        const isLease = batch.operations.some(({ key }) => key === KEY)
        const fault = isLease ? this.faults.get(name) : undefined
        if (fault === 'refuse') throw new UnavailableError('test/refused', 'commit: nobody answers')
        if (fault === 'lose-request') throw lost()
        if (fault === 'hang') await new Promise<void>((resolve) => this.#hanging.push(resolve))
        const outcome = await store.commit(batch, options)
        if (fault === 'lose-answer' || fault === 'hang') throw lost()
        return outcome
      },
    }
  }
}

function lost(): UncertainError {
  return new UncertainError('test/lost', 'commit: the answer was lost', { read: 'the store' })
}

function openWorld(): World {
  const world = new World()
  onTestFinished(() => world.close())
  return world
}

function completed({ taskId, workflowId, workerId }: TaskRecord): TaskResult {
  return { taskId, workflowId, workerId, status: 'COMPLETED', output: {} }
}

test.each(['refuse', 'lose-request', 'lose-answer'] as const)(
  'EN-760 an engine goes on within its term when renewals fail (%s), and reads nothing again',
  async (fault) => {
    const world = openWorld()
    const engine = await world.open('a')
    await engine.control.registerTask({ name: 't' })
    const id = await engine.control.startGraph(graphOf([task('one'), task('two', ['one'])]), {})
    const work = async (): Promise<void> => {
      const [next] = await engine.queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 0 })
      expect(next).toBeDefined()
      await engine.queue.postResult(completed(next!))
    }
    const lists = world.lists.get('a')
    world.faults.set('a', fault)
    await world.clock.advance(LEASE_MS * 0.6)
    expect(engine.isRunning()).toBe(true)
    await work()
    world.faults.clear()
    await world.clock.advance(LEASE_MS)
    await work()
    expect((await engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
    expect(world.lists.get('a')).toBe(lists)
  },
)

test.each(['refuse', 'lose-request', 'hang'] as const)(
  'EN-761 an engine whose term is over answers nothing, also while it still waits for the store (%s)',
  async (fault) => {
    const world = openWorld()
    const engine = await world.open('a')
    await engine.control.registerTask({ name: 't', responseTimeoutSeconds: 3_600 })
    await engine.control.startGraph(graphOf([task('one')]), {})
    const [held] = await engine.queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 0 })
    world.faults.set('a', fault)
    await world.clock.advance(LEASE_MS * 0.95)
    expect(engine.isRunning()).toBe(false)
    const refused = { code: 'engine/not-running' }
    // A worker that read here that its attempt is current would publish behind the attempt of another.
    await expect(engine.queue.readTask(held!.taskId)).rejects.toMatchObject(refused)
    await expect(engine.queue.renewLease(held!)).rejects.toMatchObject(refused)
    await expect(engine.queue.readWorkflowStatus(held!.workflowId)).rejects.toMatchObject(refused)
    await expect(engine.queue.postResult(completed(held!))).rejects.toMatchObject(refused)
    await world.clock.advance(LEASE_MS * 0.1)
    const another = await world.open('b')
    // It has not seen before how long the lease has been as it is.
    await world.pass(LEASE_MS + 2_000)
    expect(another.isRunning()).toBe(true)
    expect(await another.queue.readTask(held!.taskId)).toMatchObject({ status: 'IN_PROGRESS' })
    await world.clock.advance(LEASE_MS * 3)
    expect([engine.isRunning(), another.isRunning()]).toEqual([false, true])
  },
)

test('EN-761 an engine that was stalled longer than its term does not act before it has asked for its lease', async () => {
  const world = openWorld()
  const engine = await world.open('a')
  // No timer of it runs meanwhile.
  const leaping = world.clock.leap(LEASE_MS)
  expect(engine.isRunning()).toBe(false)
  await leaping
  await world.clock.advance(1_000)
  expect(engine.isRunning()).toBe(true)
})

test('EN-761 whatever the writes of leases meet, two engines never run the executions at once, and in the end one does', async () => {
  const fault = fc.constantFrom<Fault>('none', 'refuse', 'lose-request', 'lose-answer', 'hang')
  const phase = fc.record({ a: fault, b: fault, ms: fc.integer({ min: 100, max: LEASE_MS }) })
  await fc.assert(
    fc.asyncProperty(fc.array(phase, { maxLength: 6 }), async (phases) => {
      const world = new World()
      const engines = [await world.open('a'), await world.open('b')]
      const running = (): number => engines.filter((engine) => engine.isRunning()).length
      for (const { a, b, ms } of phases) {
        world.faults.set('a', a).set('b', b)
        for (let leftMs = ms; leftMs > 0; leftMs -= 300) {
          await world.clock.advance(Math.min(300, leftMs))
          expect(running()).toBeLessThanOrEqual(1)
        }
      }
      const mayHang = phases.some(({ a, b }) => a === 'hang' || b === 'hang')
      world.faults.clear()
      await world.clock.advance(2 * LEASE_MS)
      // A call that never ends keeps its engine from asking again.
      if (!mayHang) expect(running()).toBe(1)
      await world.close()
    }),
    { numRuns: 40 },
  )
})

test('EN-404 the lease of an attempt counts from the take-over, also when the clock was set back meanwhile', async () => {
  const world = openWorld()
  const engine = await world.open('a')
  await engine.control.registerTask({ name: 't', retryCount: 0, responseTimeoutSeconds: 60 })
  const id = await engine.control.startGraph(graphOf([task('one')]), {})
  const [held] = await engine.queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 0 })
  expect(held).toBeDefined()
  await engine.close()
  world.clock.set(-3 * 3_600_000)
  const next = await world.open('b')
  await world.clock.advance(50_000)
  expect((await next.control.readWorkflow(id))?.status).toBe('RUNNING')
  await world.clock.advance(20_000)
  expect((await next.control.readWorkflow(id))?.status).toBe('TIMED_OUT')
})
