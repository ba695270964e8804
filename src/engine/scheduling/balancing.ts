/**
 * Which worker gets a task, decided when one polls. A task is given to the worker that polls, or left for another one that is alive
 * and has room; never for longer than a bound, counted from when it was first left.
 */

import { createHash } from 'node:crypto'
import { hasRoom, type Executor, type Executors } from './executors.ts'
import type { SchedulingOptions } from './options.ts'
import type { Waiting } from './waiting.ts'

export interface BalancedPoll {
  readonly queue: string
  /** The worker that polls. */
  readonly executor: string
  readonly nowMs: number
}

type Choose = (
  candidates: readonly Executor[],
  request: { readonly poll: BalancedPoll; readonly affinity: string | undefined },
) => Executor | undefined

interface Left {
  readonly executor: string
  readonly sinceMs: number
}

export class Balancer {
  readonly #options: SchedulingOptions
  readonly #executors: Executors
  readonly #choose: Choose | undefined
  readonly #left = new Map<string, Left>()

  constructor(options: SchedulingOptions, executors: Executors) {
    this.#options = options
    this.#executors = executors
    this.#choose = strategyOf(options)
  }

  /** Whether the polling worker gets this task; otherwise it is left for another one. */
  mayTake({ taskId, affinity }: Pick<Waiting, 'taskId' | 'affinity'>, poll: BalancedPoll): boolean {
    if (this.#choose === undefined) return true
    const left = this.#left.get(taskId)
    if (left?.executor === poll.executor) return true
    if (left !== undefined && poll.nowMs - left.sinceMs >= this.#options.balanceWaitMs) {
      const awaited = this.#executors.get(left.executor)
      // With room, it should have come. Without, it may still be the right one for the next task.
      if (awaited.running < awaited.capacity) awaited.hasMissed = true
      return true
    }
    const alive = this.#executors.alive(poll.queue, poll.nowMs, this.#options.executorAliveMs)
    if (left !== undefined && alive.some(({ name, hasMissed }) => name === left.executor && !hasMissed))
      return false
    this.forget(taskId)
    const chosen = this.#choose(alive, { poll, affinity })
    if (chosen === undefined || chosen.name === poll.executor) return true
    // Its wait goes on where it was left for a worker that is gone.
    this.#left.set(taskId, { executor: chosen.name, sinceMs: left?.sinceMs ?? poll.nowMs })
    chosen.expected++
    return false
  }

  /** It was handed out, or does not wait any more. */
  forget(taskId: string): void {
    const left = this.#left.get(taskId)
    if (left === undefined) return
    this.#left.delete(taskId)
    const executor = this.#executors.get(left.executor)
    executor.expected = Math.max(0, executor.expected - 1)
  }
}

function strategyOf({ balancing, weights }: SchedulingOptions): Choose | undefined {
  switch (balancing) {
    case 'none':
      return undefined
    case 'round-robin':
      return smooth(() => 1)
    case 'weighted':
      // A worker that takes twice as long as others gets half as many.
      return smooth(({ name, slowness }) => weightOf(weights, name) / Math.max(SLOWNESS_MIN, slowness))
    case 'least-connections':
      return (candidates, { poll }) =>
        withRoom(candidates, poll).reduce<Executor | undefined>((best, each) => {
          if (best === undefined) return each
          const difference = each.running + each.expected - (best.running + best.expected)
          // Of several, the one that is here.
          return difference < 0 || (difference === 0 && each.name === poll.executor) ? each : best
        }, undefined)
    case 'consistent-hashing':
      return (candidates, { affinity }) =>
        affinity === undefined
          ? undefined
          : preferredExecutor(
              affinity,
              candidates.filter(({ hasMissed }) => !hasMissed),
            )
  }
}

/** A worker that is much faster than others on its first tasks does not get all of them. */
const SLOWNESS_MIN = 0.1

/**
 * The worker for a key: the one with the highest hash of key and name. Each worker's hash does not depend on the others, so when
 * one goes, only its keys move.
 */
export function preferredExecutor<T extends Pick<Executor, 'name'>>(
  key: string,
  candidates: readonly T[],
): T | undefined {
  const hashed = candidates.map((executor) => ({
    executor,
    hash: createHash('sha256')
      .update(JSON.stringify([key, executor.name]))
      .digest('hex'),
  }))
  return hashed.sort((one, other) => (one.hash > other.hash ? -1 : 1))[0]?.executor
}

/**
 * Turns in proportion to weights, evenly spread: each time every candidate gains its weight, and the one that has most pays what
 * all of them gained. With equal weights: in turn.
 */
function smooth(weigh: (executor: Executor) => number): Choose {
  const credits = new Map<string, number>()
  return (candidates, { poll }) => {
    const able = withRoom(candidates, poll)
    const weights = able.map(weigh)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    able.forEach(({ name }, index) => credits.set(name, (credits.get(name) ?? 0) + (weights[index] ?? 0)))
    const chosen = able.reduce<Executor | undefined>(
      (best, each) =>
        best === undefined || (credits.get(each.name) ?? 0) > (credits.get(best.name) ?? 0) ? each : best,
      undefined,
    )
    if (chosen !== undefined) credits.set(chosen.name, (credits.get(chosen.name) ?? 0) - total)
    const known = new Set(candidates.map(({ name }) => name))
    for (const name of credits.keys()) if (!known.has(name)) credits.delete(name)
    return chosen
  }
}

/** The polling worker has room: it asks for tasks. */
function withRoom(candidates: readonly Executor[], { executor }: BalancedPoll): readonly Executor[] {
  return candidates.filter((each) => each.name === executor || hasRoom(each))
}

function weightOf(weights: Readonly<Record<string, number>>, name: string): number {
  return Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1
}
