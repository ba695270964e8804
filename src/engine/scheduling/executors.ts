/** The workers that poll, as far as their polls and their results show them. */

import { BoundedMap } from '../../base/bounded-map.ts'
import { SCHEDULING_NAMES_MAX } from '../limits.ts'

export interface Executor {
  readonly name: string
  lastPollMs: number
  /** The most tasks that it had and asked for at one time. */
  capacity: number
  /** Handed out to it and not ended. */
  running: number
  /** Tasks that are left for it. */
  expected: number
  /** It let a task wait in vain: it is not waited for before its next poll. */
  hasMissed: boolean
  /** Mean of its durations, each divided by the mean of all workers for that task type; above 1: slower than others. */
  slowness: number
}

/** How much one duration counts in a mean. */
const LEARNING = 0.2

export class Executors {
  readonly #byName = new BoundedMap<string, Executor>({
    max: SCHEDULING_NAMES_MAX,
    evict: 'least-recently-used',
  })
  /** By queue, the names of those that poll it, with the time of the last poll. */
  readonly #pollers = new Map<string, Map<string, number>>()
  readonly #meanMs = new BoundedMap<string, number>({
    max: SCHEDULING_NAMES_MAX,
    evict: 'least-recently-used',
  })

  notePoll(
    name: string,
    poll: { readonly queue: string; readonly count: number; readonly nowMs: number },
  ): Executor {
    const executor = this.get(name)
    executor.lastPollMs = poll.nowMs
    executor.capacity = Math.max(executor.capacity, executor.running + poll.count)
    executor.hasMissed = false
    const pollers = this.#pollers.get(poll.queue) ?? new Map<string, number>()
    this.#pollers.set(poll.queue, pollers.set(name, poll.nowMs))
    return executor
  }

  get(name: string): Executor {
    return this.#byName.getOrAdd(name, () => ({
      name,
      lastPollMs: -Infinity,
      capacity: 0,
      running: 0,
      expected: 0,
      hasMissed: false,
      slowness: 1,
    }))
  }

  /** Those that poll this queue and have not fallen silent, by name. */
  alive(queue: string, nowMs: number, aliveMs: number): readonly Executor[] {
    const pollers = this.#pollers.get(queue)
    if (pollers === undefined) return []
    const found: Executor[] = []
    for (const [name, polledMs] of pollers) {
      const executor = this.get(name)
      // A worker without a free slot does not poll.
      if (nowMs - polledMs < aliveMs || executor.running > 0) found.push(executor)
      else pollers.delete(name)
    }
    return found.sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  noteStart(name: string): void {
    const executor = this.get(name)
    executor.running++
    executor.capacity = Math.max(executor.capacity, executor.running)
  }

  /** `durationMs`: only of a task that succeeded, because a failure may be quick. */
  noteEnd(
    name: string,
    { taskType, durationMs }: { readonly taskType: string; readonly durationMs: number | undefined },
  ): void {
    const executor = this.get(name)
    executor.running = Math.max(0, executor.running - 1)
    if (durationMs === undefined) return
    const mean = this.#meanMs.get(taskType) ?? durationMs
    if (mean > 0) executor.slowness += (durationMs / mean - executor.slowness) * LEARNING
    this.#meanMs.set(taskType, mean + (durationMs - mean) * LEARNING)
  }
}

export function hasRoom({ capacity, running, expected, hasMissed }: Executor): boolean {
  return !hasMissed && running + expected < capacity
}
