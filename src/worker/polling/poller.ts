/**
 * Polls the task queue for one type of task while the worker takes tasks.
 *
 * - POLL-1 A poll is sent only with a slot for what it may bring: one of the type's own and one of the worker's.
 * - POLL-2 A poll asks for one task, because the server waits until all that were asked for are there, and under its own
 *   worker id, which identifies the claim. One poll is in flight, and while tasks are queued one for each slot.
 * - POLL-3 A poll is never aborted, because the server would still claim the task. What it brings after the worker was
 *   asked to stop is handed back. One that is not answered in its time is no longer awaited then.
 * - POLL-4 The server is asked to wait, longer while there is nothing; after failures the pauses double, with jitter.
 * - POLL-5 No poll is sent while an outage holds the tasks back.
 * - POLL-6 Right after a task began or ended, a server that looks for tasks only now and then is asked without a wait, ever
 *   more rarely: see `quick-polls.ts`. The poll that follows an ended task comes at once, for all types of the worker.
 */

import { setMaxListeners } from 'node:events'
import { isAborted, unlessAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import {
  POLL_AFTER_OTHER_MS,
  POLL_ERROR_DELAY_MAX_MS,
  POLL_ERROR_DELAY_MS,
  POLL_QUEUED_MAX_MS,
  POLL_STOP_WAIT_MS,
  POLL_WAIT_MAX_MS,
  POLL_WAIT_MS,
} from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import type { Random } from '../../base/random.ts'
import { retryDelay, type RetryPolicy } from '../../base/retry.ts'
import type { PollRequest, TaskQueue, TaskRecord } from '../ports.ts'
import { QuickPolls } from './quick-polls.ts'
import type { Slots } from './slots.ts'
import type { TaskEnds } from './task-ends.ts'

export interface PollOptions {
  readonly queue: TaskQueue
  readonly taskType: string
  readonly domain?: string | undefined
  /** Of this type, and of all types together. */
  readonly slots: readonly [Slots, Slots]
  /** What keeps tasks from being taken for a time. */
  readonly hold?: PollHold
  readonly nextWorkerId: () => string
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Shared by the task types of a worker. */
  readonly ends?: TaskEnds
  /** Gets a task with its slots, and when the poll was sent that brought it. Returns at once. */
  readonly onTask: (record: TaskRecord, releaseSlots: () => void, sinceMs: number) => void
  /** Gets a task that came too late. */
  readonly onLateTask: (record: TaskRecord) => Promise<void>
  readonly onPolled: (poll: PollNotice) => void
  /** Aborted when no more tasks are taken. */
  readonly stopping: AbortSignal
}

export interface PollHold {
  readonly isHeld: () => boolean
  /** Rejects when the signal is aborted. */
  readonly untilFree: (signal: AbortSignal) => Promise<void>
}

export interface PollNotice {
  readonly claimed: number
  readonly durationMs: number
  readonly error?: unknown
}

const ERROR_POLICY: RetryPolicy = {
  maxAttempts: Infinity,
  maxElapsedMs: Infinity,
  firstDelayMs: POLL_ERROR_DELAY_MS,
  maxDelayMs: POLL_ERROR_DELAY_MAX_MS,
}

/** Resolves when it was asked to stop and the polls in flight have ended. */
export async function pollForTasks(options: PollOptions): Promise<void> {
  const { clock, ends, queue } = options
  const [own, shared] = options.slots
  // Every loop of every type waits under it; that is no leak.
  setMaxListeners(0, options.stopping)
  const extra = openExtraPolls()
  const quick = new QuickPolls(clock)
  let toldAtMs = -Infinity
  const onOtherEnd = (): void => {
    if (queue.findsLate !== true || clock.monotonicMs() - toldAtMs < POLL_AFTER_OTHER_MS) return
    toldAtMs = clock.monotonicMs()
    extra.wake()
  }
  const onEnd = (): void => {
    if (queue.findsLate === true) {
      // Whoever polls quickly is woken; a poll that waits at the server needs one beside it.
      if (!quick.isTaken) extra.wake()
      quick.note()
    }
    ends?.tellOthers(onOtherEnd)
  }
  const polling: Polling = { ...options, extra, quick, onEnd, last: { isEmpty: false } }
  const unlisten = ends?.listen(onOtherEnd)
  await Promise.all([
    pollSteadily(polling).finally(() => extra.close()),
    ...Array.from({ length: Math.min(own.limit, shared.limit) - 1 }, () => pollWhileQueued(polling)),
  ])
  unlisten?.()
}

interface Polling extends PollOptions {
  readonly extra: ExtraPolls
  readonly quick: QuickPolls
  /** A task that was begun has released its slots. */
  readonly onEnd: () => void
  readonly last: {
    /** The last poll brought nothing: types with work have slots first. */
    isEmpty: boolean
  }
}

async function pollSteadily(polling: Polling): Promise<void> {
  const { clock, random, logger, stopping, quick, extra, queue, slots, ends } = polling
  const pause = (delayMs: number): Promise<void> => clock.sleep(delayMs, stopping).catch(() => undefined)
  let waitMs = POLL_WAIT_MS
  let failures = 0
  let wasQueuedBefore = false
  for (;;) {
    const release = await takeSlots(polling)
    if (release === undefined) return
    const isQuick = queue.findsLate === true && quick.enter()
    // The last place is not kept from a type that has work while the server waits.
    const [, { taken, limit }] = slots
    const yields = !isQuick && queue.findsLate === true && taken === limit && ends?.isRecent === true
    const polled = await poll(polling, isQuick || yields ? 0 : waitMs)
    const hasBegun = await begin(polling, polled, release)
    // Two tasks in a row that were queued already: there may be more.
    const wasQueued = hasBegun && polled.durationMs < POLL_QUEUED_MAX_MS
    if (wasQueued && wasQueuedBefore) extra.wake()
    wasQueuedBefore = wasQueued

    if (polled.error === undefined) {
      failures = 0
      if (hasBegun) waitMs = POLL_WAIT_MS
      else if (isQuick) await quick.pause(stopping)
      else if (yields) await pause(POLL_WAIT_MS)
      else {
        // A server that did not wait as it was asked to is not asked again at once.
        const leftMs = polled.askedMs - polled.durationMs
        if (leftMs > polled.askedMs / 2) await pause(leftMs * (0.5 + random.next() / 2))
        waitMs = Math.min(polled.askedMs * 2, POLL_WAIT_MAX_MS)
      }
    } else {
      failures++
      const attempt = Math.min(failures, 30)
      const delayMs = retryDelay({ attempt, error: polled.error, policy: ERROR_POLICY, random })
      const level = isPeragoError(polled.error) && polled.error.kind === 'unavailable' ? 'warn' : 'error'
      logger[level]('a poll failed and is tried again', { error: polled.error, failures, delayMs })
      await pause(delayMs)
    }
    if (isQuick) quick.leave()
  }
}

/** An extra poll beside the steady one, repeated while each brings a task, and while the next is likely to come at once. */
async function pollWhileQueued(polling: Polling): Promise<void> {
  const { extra, quick, stopping, queue } = polling
  while (await extra.next()) {
    for (;;) {
      const release = await takeSlots(polling)
      if (release === undefined) return
      const polled = await poll(polling, queue.findsLate === true ? 0 : POLL_WAIT_MS)
      // The steady poll meets the same failures, and logs them.
      if (await begin(polling, polled, release)) extra.wake()
      else if (polled.error !== undefined || queue.findsLate !== true || !quick.enter()) break
      else if (!(await quick.pause(stopping).finally(() => quick.leave()))) break
    }
  }
}

/** Whether a task was begun, which has the slots then. */
async function begin(
  { stopping, onTask, onLateTask, quick, ends, onEnd }: Polling,
  { records, sinceMs }: Polled,
  release: () => void,
): Promise<boolean> {
  const [first, ...others] = records
  const begins = first !== undefined && !isAborted(stopping)
  if (begins) {
    const end = once(onEnd)
    quick.note()
    ends?.note()
    const releaseAndTell = (): void => {
      release()
      end()
    }
    onTask(first, releaseAndTell, sinceMs)
  } else release()
  // They came after the stop, or there is no slot for them because only one was asked for.
  for (const record of begins ? others : records) await onLateTask(record)
  return begins
}

/** Wakes the extra polls, one at a time. */
interface ExtraPolls {
  wake(): void
  /** Resolves with `true` when an extra poll is to be sent, and with `false` when there will be no more. */
  next(): Promise<boolean>
  close(): void
}

function openExtraPolls(): ExtraPolls {
  const sleeping: ((isWanted: boolean) => void)[] = []
  let isClosed = false
  return {
    wake: () => sleeping.shift()?.(true),
    next: () => new Promise((resolve) => (isClosed ? resolve(false) : sleeping.push(resolve))),
    close() {
      isClosed = true
      for (const resolve of sleeping.splice(0)) resolve(false)
    },
  }
}

async function takeSlots({ slots, stopping, hold, last }: Polling): Promise<(() => void) | undefined> {
  const taken: (() => void)[] = []
  // The type's own slot first: whoever waits for it asks for the worker's before that is given to others.
  const releaseAll = (): void => {
    const [releaseOwn, releaseShared] = taken.splice(0)
    releaseOwn?.()
    if (releaseShared !== undefined) queueMicrotask(() => queueMicrotask(releaseShared))
  }
  try {
    // Without a slot, so that tasks that are not held back have them all; and again, because taking them may have lasted.
    do {
      releaseAll()
      await hold?.untilFree(stopping)
      for (const of of slots) taken.push(await of.take(stopping, last.isEmpty ? 'maybe' : 'surely'))
    } while (hold?.isHeld() === true)
    return releaseAll
  } catch {
    // Asked to stop while waiting.
    releaseAll()
    return undefined
  }
}

interface Polled extends PollNotice {
  readonly records: readonly TaskRecord[]
  readonly askedMs: number
  /** When it was sent, on the clock's monotonic scale. */
  readonly sinceMs: number
}

async function poll(options: Polling, longestMs: number): Promise<Polled> {
  const { taskType, domain, slots, nextWorkerId, clock, onPolled } = options
  const startMs = clock.monotonicMs()
  const workerId = nextWorkerId()
  // A slot that other types wait for is not occupied for long.
  const waitMs = slots[1].waiting > 0 ? Math.min(POLL_WAIT_MS, longestMs) : longestMs
  let records: readonly TaskRecord[] = []
  let failure: { readonly error?: unknown } = {}
  try {
    records = await claim(options, { taskType, workerId, count: 1, waitMs, domain })
  } catch (error) {
    failure = { error }
  }
  const notice = { claimed: records.length, durationMs: clock.monotonicMs() - startMs, ...failure }
  options.last.isEmpty = records.length === 0
  onPolled(notice)
  return { ...notice, records, askedMs: waitMs, sinceMs: startMs }
}

/** Nothing, if the worker is asked to stop and the server does not answer; what comes later is handed back, if it can be. */
async function claim(options: PollOptions, request: PollRequest): Promise<readonly TaskRecord[]> {
  const { queue, clock, stopping, logger, onLateTask } = options
  const dueMs = clock.monotonicMs() + request.waitMs + POLL_STOP_WAIT_MS
  const polling = queue.poll(request).then((claimed) => ownOf(claimed, request, logger))
  try {
    return await unlessAborted(polling, stopping)
  } catch (error) {
    if (!isAborted(stopping)) throw error
  }
  const over = new AbortController()
  const tooLate = clock.sleep(Math.max(0, dueMs - clock.monotonicMs()), over.signal).catch(() => undefined)
  const records = await Promise.race([polling, tooLate]).finally(() => over.abort())
  if (records !== undefined) return records
  logger.warn('a poll was not answered, and the worker stops without it', { workerId: request.workerId })
  polling.then((late) => Promise.all(late.map(onLateTask))).catch(() => undefined)
  return []
}

/** A task of another claim could not pass a fence. */
function ownOf(
  claimed: readonly TaskRecord[],
  { taskType, workerId }: PollRequest,
  logger: Logger,
): readonly TaskRecord[] {
  const own = claimed.filter((record) => record.workerId === workerId && record.taskType === taskType)
  if (own.length < claimed.length)
    logger.error('a poll brought tasks of another claim; they are left alone', { taskType, workerId })
  return own
}
