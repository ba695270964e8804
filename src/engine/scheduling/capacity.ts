/** What running tasks use of the limits, and whether one more fits. */

import { AGED_HOLD_MS } from '../limits.ts'
import { RESOURCES, type Resource, type ResourcePool } from '../graph/resources.ts'
import type { SchedulingOptions } from './options.ts'
import type { Waiting } from './waiting.ts'

/** What one task uses while it runs. */
export type Use = Pick<Waiting, 'taskType' | 'phase' | 'demand'>

interface Need {
  readonly counter: string
  readonly amount: number
  readonly limit: number
  readonly resource?: Resource
}

type Asks = Use & Pick<Waiting, 'taskId' | 'isCritical' | 'concurrentExecLimit'>

/**
 * Room is kept for one task at a time that has waited too long and does not fit: without this, smaller ones would take what
 * becomes free, for ever.
 */
interface Hold {
  readonly taskId: string
  readonly amounts: ReadonlyMap<string, number>
  readonly untilMs: number
}

export class Capacity {
  readonly #options: SchedulingOptions
  readonly #used = new Map<string, number>()
  #hold: Hold | undefined
  /** By execution, what its critical units will demand next. */
  readonly #predicted = new Map<string, ResourcePool>()
  #predictedSum: ResourcePool = NOTHING

  constructor(options: SchedulingOptions) {
    this.#options = options
  }

  add(use: Use): void {
    for (const [counter, amount] of amountsOf(use)) this.#change(counter, amount)
  }

  remove(use: Use): void {
    for (const [counter, amount] of amountsOf(use)) this.#change(counter, -amount)
  }

  /** `isAged`: it may also use what is reserved for critical units; otherwise a large one might never fit. */
  fits(asks: Asks, { isAged, nowMs }: { readonly isAged: boolean; readonly nowMs: number }): boolean {
    const hold = this.#holdAgainst(asks, nowMs)
    const mayUseAll = asks.isCritical || isAged
    return this.#needsOf(asks).every(({ counter, amount, limit, resource }) => {
      const allowed = resource === undefined || mayUseAll ? limit : limit * (1 - this.reservedShare(resource))
      // Sums of fractions of a core are not exact.
      return this.used(counter) + amount + (hold?.get(counter) ?? 0) <= allowed + EXACT
    })
  }

  /** No task fits, whatever it is. */
  get isFull(): boolean {
    return this.used(TASKS) >= this.#options.concurrentTasksMax
  }

  /** Keeps room for it, unless room is kept for another one. */
  hold(asks: Asks, nowMs: number): void {
    if (this.#hold !== undefined && this.#hold.untilMs > nowMs && this.#hold.taskId !== asks.taskId) return
    const amounts = new Map(this.#needsOf(asks).map(({ counter, amount }) => [counter, amount]))
    this.#hold = { taskId: asks.taskId, amounts, untilMs: nowMs + AGED_HOLD_MS }
  }

  release(taskId: string): void {
    if (this.#hold?.taskId === taskId) this.#hold = undefined
  }

  used(counter: string): number {
    return this.#used.get(counter) ?? 0
  }

  /** The share that only critical units may use. */
  reservedShare(resource: Resource): number {
    const { pool, criticalShare } = this.#options
    const size = pool?.[resource] ?? 0
    const share = size === 0 ? 0 : this.#predictedSum[resource] / size
    return Math.min(criticalShare.max, Math.max(criticalShare.min, share))
  }

  /** Replaces what was predicted for this execution. */
  predict(workflowId: string, demand: ResourcePool | undefined): void {
    const before = this.#predicted.get(workflowId) ?? NOTHING
    const now = demand ?? NOTHING
    if (demand === undefined) this.#predicted.delete(workflowId)
    else this.#predicted.set(workflowId, demand)
    this.#predictedSum = sumOf(this.#predictedSum, now, before)
  }

  /** A critical unit of it was handed out (-1), or waits again (1). */
  correctPrediction({ workflowId, isCritical, demand }: Waiting, direction: 1 | -1): void {
    const before = this.#predicted.get(workflowId)
    if (!isCritical || before === undefined) return
    const by = (resource: Resource): number =>
      Math.max(0, before[resource] + direction * (demand[resource] ?? 0))
    this.predict(workflowId, { cpu: by('cpu'), memoryBytes: by('memoryBytes'), gpu: by('gpu') })
  }

  #holdAgainst({ taskId }: Asks, nowMs: number): ReadonlyMap<string, number> | undefined {
    if (this.#hold === undefined || this.#hold.taskId === taskId || this.#hold.untilMs <= nowMs)
      return undefined
    return this.#hold.amounts
  }

  #needsOf(asks: Asks): readonly Need[] {
    const { concurrentTasksMax, concurrentPerPhaseMax, pool } = this.#options
    const { taskType, phase, demand, concurrentExecLimit } = asks
    return [
      { counter: TASKS, amount: 1, limit: concurrentTasksMax },
      { counter: phaseCounter(phase), amount: 1, limit: concurrentPerPhaseMax },
      {
        counter: typeCounter(taskType),
        amount: 1,
        limit: concurrentExecLimit === 0 ? Infinity : concurrentExecLimit,
      },
      ...(pool === undefined
        ? []
        : RESOURCES.flatMap((resource) => {
            const amount = demand[resource] ?? 0
            return amount === 0 ? [] : [{ counter: resource, amount, limit: pool[resource], resource }]
          })),
    ]
  }

  #change(counter: string, by: number): void {
    const now = this.used(counter) + by
    // Counters of phases come and go with their executions.
    if (Math.abs(now) < EXACT) this.#used.delete(counter)
    else this.#used.set(counter, now)
  }
}

const TASKS = 'tasks'
const EXACT = 1e-9
const NOTHING: ResourcePool = { cpu: 0, memoryBytes: 0, gpu: 0 }

function phaseCounter(phase: string): string {
  return `phase:${phase}`
}

function typeCounter(taskType: string): string {
  return `type:${taskType}`
}

function amountsOf({ taskType, phase, demand }: Use): readonly (readonly [string, number])[] {
  return [
    [TASKS, 1],
    [phaseCounter(phase), 1],
    [typeCounter(taskType), 1],
    ...RESOURCES.flatMap((resource) => {
      const amount = demand[resource] ?? 0
      return amount === 0 ? [] : [[resource, amount] as const]
    }),
  ]
}

function sumOf(sum: ResourcePool, added: ResourcePool, removed: ResourcePool): ResourcePool {
  const change = (resource: Resource): number =>
    Math.max(0, sum[resource] + added[resource] - removed[resource])
  return { cpu: change('cpu'), memoryBytes: change('memoryBytes'), gpu: change('gpu') }
}
