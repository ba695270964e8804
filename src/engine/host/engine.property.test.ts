// Goal: whatever the store loses, refuses or delays, and wherever the engine is stopped, nothing acknowledged is lost and nothing
// happens twice.
// Method: workers and an operator use an engine over a store with random faults; at random moments the engine's process "dies" and
// another one takes over. At the end the store is calm, everything is worked off, and state and log are compared with what was
// acknowledged.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UnavailableError, isPeragoError } from '../../base/errors.ts'
import { seededRandom } from '../../base/random.ts'
import { executionId } from '../../core/keys.ts'
import { openCore } from '../../core/life-cycle/core.ts'
import type { Store } from '../../core/ports.ts'
import { createMemorySpace, openMemoryStore } from '../../stores/memory/memory-store.ts'
import type { TaskRecord, WorkflowId } from '../../worker/ports.ts'
import { StillClock } from '../../../test/support/core-world.ts'
import { openLossyStore, STORE_FAULTS, type StoreFault } from '../../../test/support/lossy-store.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { openEngine, type Engine } from './open-engine.ts'

const UNITS = ['a', 'b', 'c']
const HOUR_MS = 3_600_000
/** `PERAGO_PROPERTY_RUNS` tries more. */
const RUNS_ON_DISK = Number(process.env['PERAGO_PROPERTY_RUNS'] ?? 8)

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ is: fc.constant('start' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant('work' as const),
      count: fc.integer({ min: 1, max: 3 }),
      fails: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('pause' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('publish' as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('die' as const) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('stall' as const) }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant('wake' as const) }) },
)
type Action = typeof step extends fc.Arbitrary<infer T> ? T : never

class World {
  readonly clock = new StillClock()
  readonly started: WorkflowId[] = []
  readonly completed = new Map<string, string>()
  #engine: Engine | undefined
  #process: Process = { isAlive: true, gate: undefined }
  readonly #stalled: {
    readonly engine: Engine
    readonly claims: Promise<readonly TaskRecord[]>
    readonly wake: () => void
  }[] = []
  readonly store: Store
  readonly #faults: Iterator<StoreFault>

  constructor(faults: readonly StoreFault[], store?: Store) {
    this.#faults = faults[Symbol.iterator]()
    this.store = store ?? openMemoryStore({ space: createMemorySpace({ clock: this.clock }) })
  }

  async engine(isCalm = false): Promise<Engine> {
    if (this.#engine !== undefined) return this.#untilRuns(this.#engine)
    const process: Process = (this.#process = { isAlive: true, gate: undefined })
    const store = mortal(isCalm ? this.store : openLossyStore(this.store, this.#faults), process)
    const engine = await openEngine({ store, clock: this.clock, random: seededRandom(1) })
    return (this.#engine = await this.#untilRuns(engine))
  }

  /** One whose lease is over asks for it again when the time has moved. */
  async #untilRuns(engine: Engine): Promise<Engine> {
    const untilMs = performance.now() + 30_000
    for (let looks = 1; !engine.isRunning(); looks++) {
      expect(performance.now()).toBeLessThan(untilMs)
      if (looks % 10 === 0) this.clock.move(10_000)
      await new Promise((resolve) => setTimeout(resolve, looks % 10 === 0 ? 1 : 0))
    }
    return engine
  }

  /** Asks again where the time has moved meanwhile and the lease was over, as whoever asks is told to. */
  async calmly<T>(ask: (engine: Engine) => Promise<T>): Promise<T> {
    for (let triesLeft = 20; ; triesLeft--) {
      try {
        return await ask(await this.engine(true))
      } catch (error) {
        if (triesLeft === 0 || !isPeragoError(error) || error.code !== 'engine/not-running') throw error
      }
    }
  }

  async die(): Promise<void> {
    this.#process.isAlive = false
    await this.#engine?.close()
    this.#engine = undefined
    await this.endLease()
  }

  async endLease(): Promise<void> {
    this.clock.move(10_000)
    // Stores on servers have a clock of their own.
    await this.store.clear('leases:')
  }

  /** The process stops in the middle of a claim, and another one takes over. */
  async stall(): Promise<void> {
    const engine = await this.engine()
    let wake: () => void = () => undefined
    this.#process.gate = new Promise((resolve) => (wake = resolve))
    const claims = engine.queue.poll({ taskType: 't', workerId: 'stalled', count: 2, waitMs: 0 })
    claims.catch(() => undefined)
    this.#stalled.push({ engine, claims, wake })
    this.#engine = undefined
    await this.endLease()
  }

  /** Those that stalled go on as if nothing had happened. */
  async wakeAll(): Promise<void> {
    for (const { engine, claims, wake } of this.#stalled.splice(0)) {
      wake()
      const tasks = await claims.catch(() => [])
      for (const task of tasks)
        expect(this.completed.has(nameOf(task)), `${nameOf(task)} was claimed again`).toBe(false)
      await engine.close()
    }
  }

  async act(action: Action): Promise<void> {
    if (action.is === 'die') return this.die()
    if (action.is === 'stall') return this.stall()
    if (action.is === 'wake') return this.wakeAll()
    const { control } = await this.engine()
    const id = (which: number): WorkflowId | undefined => this.started[which % this.started.length]
    if (action.is === 'start') this.started.push(await control.start({ name: 'w' }))
    if (action.is === 'work') await this.work(action)
    if (action.is === 'pause' && id(action.which) !== undefined) {
      await control.pause(id(action.which)!)
      await control.resume(id(action.which)!)
    }
    if (action.is === 'publish' && id(action.which) !== undefined)
      await control.publishEvent(id(action.which)!, { type: 'external.x', source: 'x' })
  }

  async work({ count, fails }: { readonly count: number; readonly fails: boolean }): Promise<number> {
    const { queue } = await this.engine()
    const tasks = await queue.poll({ taskType: 't', workerId: 'w', count, waitMs: 0 })
    for (const task of tasks) {
      expect(this.completed.has(nameOf(task)), `${nameOf(task)} was handed out again`).toBe(false)
      const { taskId, workflowId, workerId } = task
      const status = fails ? ('FAILED' as const) : ('COMPLETED' as const)
      const result = { taskId, workflowId, workerId, status, output: { ref: taskId } }
      if ((await queue.postResult(result)) && !fails) this.completed.set(nameOf(task), taskId)
    }
    return tasks.length
  }
}

interface Process {
  isAlive: boolean
  /** Nothing arrives before this. */
  gate: Promise<void> | undefined
}

/** A store of a process: after its end nothing arrives. */
function mortal(store: Store, process: Process): Store {
  const alive =
    <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      if (process.gate !== undefined) await process.gate
      if (process.isAlive) return call(...args)
      throw new UnavailableError('test/dead', 'the process is dead')
    }
  return {
    name: store.name,
    watch: (request) => store.watch(request),
    close: () => store.close(),
    get: alive((key) => store.get(key)),
    range: alive((request) => store.range(request)),
    commit: alive((batch) => store.commit(batch)),
    clear: alive((prefix) => store.clear(prefix)),
  }
}

function nameOf({ workflowId, referenceTaskName }: TaskRecord): string {
  return `${workflowId} ${referenceTaskName}`
}

const actions = fc.array(step, { maxLength: 30 })
const faults = fc.array(fc.constantFrom(...STORE_FAULTS, 'none' as const, 'none' as const), { maxLength: 60 })

test('EN-402 over a store with faults, and with engines that die, nothing is lost and nothing happens twice', async () => {
  await fc.assert(fc.asyncProperty(actions, faults, (acts, met) => requireNothingLost(new World(met), acts)))
}, 240_000)

describe.each(STORE_KINDS.filter(({ kind }) => kind !== 'memory'))('on $kind', ({ open }) => {
  test('EN-402 with faults, and with engines that die, nothing is lost and nothing happens twice', async (context) => {
    await fc.assert(
      fc.asyncProperty(actions, faults, async (acts, met) => {
        const { store } = await open(context)
        await requireNothingLost(new World(met, store), acts).finally(() => store.close())
      }),
      { numRuns: RUNS_ON_DISK },
    )
  }, 240_000)
})

async function requireNothingLost(world: World, acts: readonly Action[]): Promise<void> {
  const calm = await world.engine(true)
  await calm.control.registerTask({
    name: 't',
    retryCount: 100,
    retryDelaySeconds: 0,
    timeoutPolicy: 'RETRY',
  })
  await calm.control.registerWorkflow({
    name: 'w',
    tasks: UNITS.map((taskReferenceName) => ({ name: 't', taskReferenceName })),
  })
  await world.die()
  for (const action of acts)
    await world.act(action).catch((error: unknown) => {
      // The one who asks is told that it failed, or that nobody knows.
      if (!isPeragoError(error) || error.kind === 'defect') throw error
    })
  await world.wakeAll()
  await world.die()
  await world.engine(true)
  for (let idle = 0; idle < 5;) {
    idle = (await world.calmly(() => world.work({ count: 5, fails: false }))) > 0 ? 0 : idle + 1
    // An attempt whose claim nobody was told of runs out of time.
    if (idle > 0) world.clock.move(2 * HOUR_MS)
  }
  expect(await world.calmly(({ control }) => control.listOpen())).toEqual([])
  await requireExact(world)
  await world.die()
}

async function requireExact(world: World): Promise<void> {
  const core = openCore({ store: world.store, clock: world.clock })
  for (const id of world.started) {
    const found = await world.calmly(({ control }) => control.readWorkflow(id))
    expect(found?.status).toBe('COMPLETED')
    const ended = found!.tasks.filter(({ status }) => status === 'COMPLETED')
    expect(ended.map(({ referenceTaskName }) => referenceTaskName)).toEqual(UNITS)
    for (const task of ended) {
      const acknowledged = world.completed.get(nameOf(task))
      if (acknowledged !== undefined) expect(task.taskId).toBe(acknowledged)
    }
    const events = await core.events.queryEvents(executionId(id))
    const types = events.map(({ type }) => type)
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1))
    for (const unit of UNITS) {
      for (const verb of ['started', 'completed', 'task.completed'])
        expect(types.filter((type) => type === `${unit}.${verb}`)).toHaveLength(1)
      const last = ended.find(({ referenceTaskName }) => referenceTaskName === unit)
      expect(await core.variables.get(executionId(id), `${unit}.ref`)).toBe(last?.taskId)
      expect(types.filter((type) => type === `${unit}.retrying`)).toHaveLength(last?.retryCount ?? 0)
    }
    expect(types[0]).toBe('pipeline.started')
    expect(types.at(-1)).toBe('pipeline.completed')
  }
}
