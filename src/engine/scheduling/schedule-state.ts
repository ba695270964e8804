/** What waits and what runs, in all its indexes. Each change goes to all of them here. */

import type { TaskId } from '../../fences/attempt-snapshot.ts'
import { Balancer } from './balancing.ts'
import { Breakers, type BreakerStates } from './breakers.ts'
import { Capacity } from './capacity.ts'
import { Executors } from './executors.ts'
import type { SchedulingOptions } from './options.ts'
import { strategyOf, type Load, type Strategy } from './order.ts'
import { endOf, type Running, type TrackedRow } from './tracked-row.ts'
import type { Waiting } from './waiting.ts'
import { WaitingQueue } from './waiting-queue.ts'

interface Queued {
  readonly taskType: string
  readonly domain?: string | undefined
}

export class ScheduleState {
  readonly options: SchedulingOptions
  readonly #strategy: Strategy
  readonly capacity: Capacity
  readonly breakers: Breakers
  readonly balancer: Balancer
  readonly #executors = new Executors()
  readonly #queues = new Map<string, WaitingQueue>()
  readonly #running = new Map<string, number>()
  /** Chosen, and not known to be claimed. */
  readonly #chosen = new Map<TaskId, { readonly waiting: Waiting; readonly executor: string }>()

  constructor(options: SchedulingOptions, breakers: BreakerStates | undefined) {
    this.options = options
    this.#strategy = strategyOf(options)
    this.capacity = new Capacity(options)
    this.breakers = new Breakers(options.breaker, breakers)
    this.balancer = new Balancer(options, this.#executors)
  }

  /** How many tasks of an execution run. */
  readonly #load: Load = (workflowId) => this.#running.get(workflowId) ?? 0

  queueOf(queued: Queued): WaitingQueue {
    const key = queueKey(queued)
    const queue = this.#queues.get(key) ?? new WaitingQueue(this.#strategy, this.#load)
    this.#queues.set(key, queue)
    return queue
  }

  keyOf(queued: Queued): string {
    return queueKey(queued)
  }

  notePoll(
    poll: Queued & { readonly executor: string; readonly count: number; readonly nowMs: number },
  ): void {
    const { executor, count, nowMs } = poll
    this.#executors.notePoll(executor, { queue: queueKey(poll), count, nowMs })
  }

  replace(before: TrackedRow | undefined, after: TrackedRow | undefined, nowMs: number): void {
    if (before?.waiting !== undefined) this.#stopWaiting(before.waiting)
    if (before?.running !== undefined) this.#stopRunning(before, after, nowMs)
    if (after?.running !== undefined) this.#startRunning(after.running, after.row.record.workflowId)
    if (after?.waiting !== undefined) this.queueOf(after.waiting).add(after.waiting, nowMs)
  }

  /** Nobody else gets it, and what it needs is in use. */
  take(waiting: Waiting, executor: string): void {
    const { taskId, workflowId, target } = waiting
    this.queueOf(waiting).delete(waiting)
    this.balancer.forget(taskId)
    this.capacity.release(taskId)
    this.breakers.noteHandOut(target, taskId)
    this.capacity.correctPrediction(waiting, -1)
    this.#chosen.set(taskId, { waiting, executor })
    if (!waiting.isRunning) this.#startRunning({ ...waiting, executor }, workflowId)
  }

  giveBack(taskId: TaskId, nowMs: number): void {
    const chosen = this.#chosen.get(taskId)
    if (chosen === undefined) return
    this.#stopWaiting(chosen.waiting)
    this.breakers.noteEnd(chosen.waiting.target, { id: taskId, end: 'unknown', nowMs })
    this.capacity.correctPrediction(chosen.waiting, 1)
    this.queueOf(chosen.waiting).add(chosen.waiting, nowMs)
  }

  dueCritical(nowMs: number): readonly Waiting[] {
    return [...this.#queues.values()].flatMap((queue) => {
      queue.ripen(nowMs)
      return [...queue.byAge()].flatMap(({ byAge }) => (byAge.at(0)?.isCritical === true ? [...byAge] : []))
    })
  }

  #stopWaiting(waiting: Waiting): void {
    const { taskId, workflowId } = waiting
    const chosen = this.#chosen.get(taskId)
    if (chosen === undefined) {
      this.queueOf(waiting).delete(waiting)
      this.balancer.forget(taskId)
      this.capacity.release(taskId)
      return
    }
    this.#chosen.delete(taskId)
    if (waiting.isRunning) return
    this.#release({ ...waiting, executor: chosen.executor }, workflowId)
    this.#executors.noteEnd(chosen.executor, { taskType: waiting.taskType, durationMs: undefined })
  }

  #startRunning(running: Running, workflowId: string): void {
    this.capacity.add(running)
    this.#executors.noteStart(running.executor)
    this.#running.set(workflowId, (this.#running.get(workflowId) ?? 0) + 1)
    this.#reload(workflowId)
  }

  #stopRunning({ row, running }: TrackedRow, after: TrackedRow | undefined, nowMs: number): void {
    if (running === undefined) return
    const { workflowId, taskId } = row.record
    this.#release(running, workflowId)
    const isOver = after?.running === undefined
    const end = endOf(after?.row)
    const { updateTimeMs = 0, startTimeMs = 0 } = after?.row.record ?? {}
    const durationMs = isOver && end === 'success' ? updateTimeMs - startTimeMs : undefined
    this.#executors.noteEnd(running.executor, { taskType: running.taskType, durationMs })
    if (isOver) this.breakers.noteEnd(running.target, { id: taskId, end, nowMs })
  }

  #release(running: Running, workflowId: string): void {
    this.capacity.remove(running)
    const left = (this.#running.get(workflowId) ?? 0) - 1
    if (left > 0) this.#running.set(workflowId, left)
    else this.#running.delete(workflowId)
    this.#reload(workflowId)
  }

  #reload(workflowId: string): void {
    for (const queue of this.#queues.values()) queue.reload(workflowId as Waiting['workflowId'])
  }
}

function queueKey({ taskType, domain }: Queued): string {
  return JSON.stringify([taskType, domain ?? null])
}
