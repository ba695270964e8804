/**
 * What the SDK's loop is told of each task, and when.
 *
 * - REPLY-1 A reply comes when the task is decided: our result counted, or another one did. While Conductor takes no results,
 *   the outbox sends on, and the loop waits.
 * - REPLY-2 What the loop then posts changes nothing. A result posted twice would be harmless only while nobody runs the task
 *   again under its id, and the loop repeats posts for a minute. `extendLease` makes its post a renewal, of which Conductor
 *   reads nothing else, and which does nothing to a task that has ended.
 * - REPLY-3 A task that is handed back at a stop gets no reply: the next worker has it at once, and even a renewal could
 *   collide with that worker's claim.
 */

import type { JsonObject } from '../../base/json.ts'
import type { AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { ResultStatus, TaskRecord, TaskResult } from '../../worker/ports.ts'
import type { Outbox, OutboxItem } from '../../worker/results/outbox.ts'
import type { RunningWorker, WorkerStatus } from '../../worker/worker.ts'

/** What `execute` gives the SDK's loop to post. Conductor has the result already: of this it takes a renewal, at most. */
export interface ConductorSdkReply {
  status: ResultStatus
  outputData: JsonObject
  reasonForIncompletion?: string
  extendLease: true
}

interface Taker extends Pick<RunningWorker, 'take'> {
  status(): Pick<WorkerStatus, 'state'>
}

interface Waiting {
  result: TaskResult | undefined
  /** The outbox has a copy, which is removed or set aside once the task is decided. */
  isKept: boolean
  readonly decided: Promise<void>
  readonly decide: () => void
  reply?: Promise<ConductorSdkReply>
}

export class TaskReplies {
  readonly #waiting = new Map<string, Waiting>()

  /** The same outbox; what becomes of its results is noticed. */
  readonly watch = (outbox: Outbox): Outbox => ({
    putFallback: (attempt, result) => outbox.putFallback(attempt, result),
    put: async (attempt, result) => {
      const waiting = this.#waiting.get(claimOf(attempt))
      if (waiting !== undefined) waiting.result = result
      const item = await outbox.put(attempt, result)
      if (waiting !== undefined) waiting.isKept = true
      return this.#watchItem(item)
    },
    pending: async () => (await outbox.pending()).map((item) => this.#watchItem(item)),
  })

  /** Has the worker run the task. A claim that comes twice runs once. */
  replyTo(record: TaskRecord, worker: Taker): Promise<ConductorSdkReply> {
    const claim = claimOf(record)
    const known = this.#waiting.get(claim)?.reply
    if (known !== undefined) return known
    const waiting = openWaiting()
    this.#waiting.set(claim, waiting)
    return (waiting.reply = this.#run(record, waiting, worker).finally(() => this.#waiting.delete(claim)))
  }

  async #run(record: TaskRecord, waiting: Waiting, worker: Taker): Promise<ConductorSdkReply> {
    await worker.take(record)
    if (waiting.isKept) await waiting.decided
    const { result } = waiting
    if (result?.status === 'IN_PROGRESS' && worker.status().state !== 'running')
      await new Promise(() => undefined)
    return {
      status: result?.status ?? 'IN_PROGRESS',
      outputData: result?.output ?? {},
      ...(result?.reasonForIncompletion !== undefined && {
        reasonForIncompletion: result.reasonForIncompletion,
      }),
      // Without `callbackAfterSeconds`, with which the loop would leave this out.
      extendLease: true,
    }
  }

  #watchItem(item: OutboxItem): OutboxItem {
    const decide = (): void => this.#waiting.get(claimOf(item.attempt))?.decide()
    return {
      ...item,
      settle: () => item.settle().finally(decide),
      refuse: (reason) => item.refuse(reason).finally(decide),
    }
  }
}

function openWaiting(): Waiting {
  let decide: () => void = () => undefined
  const decided = new Promise<void>((resolve) => (decide = resolve))
  return { result: undefined, isKept: false, decided, decide }
}

/** Tells one hand-out of a task from another. */
function claimOf({ taskId, workerId, pollCount, startTimeMs }: AttemptSnapshot): string {
  return JSON.stringify([taskId, workerId, pollCount, startTimeMs])
}
