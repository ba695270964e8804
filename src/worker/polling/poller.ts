/**
 * Asks the task queue for one type of task for as long as the worker takes work.
 *
 * - POLL-1 A poll is only sent with a place for what it may bring, of the type's own and of the worker's.
 * - POLL-2 A poll asks for one task, under a worker id of its own: the server waits until all that were asked for are
 *   there, and a claim is told from any other by its worker id. One poll is under way, and where tasks are seen to queue,
 *   one for each place.
 * - POLL-3 A poll is never cut short: the server would go on and claim for nobody. What it brings after the worker was
 *   asked to stop is handed back.
 * - POLL-4 The server is asked to wait, longer while there is nothing; after trouble the pauses double, with jitter.
 */

import type { Clock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import {
  POLL_ERROR_DELAY_MAX_MS,
  POLL_ERROR_DELAY_MS,
  POLL_QUEUED_MAX_MS,
  POLL_WAIT_MAX_MS,
  POLL_WAIT_MS,
} from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { retryDelay, type RetryPolicy } from '../../base/retry.ts'
import type { TaskQueue, TaskRecord } from '../ports.ts'
import type { Slots } from './slots.ts'

export interface PollOptions {
  readonly queue: TaskQueue
  readonly taskType: string
  readonly domain?: string | undefined
  /** Of this type, and of all types together. */
  readonly slots: readonly [Slots, Slots]
  readonly nextWorkerId: () => string
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Takes over a task with its place. Returns at once. */
  readonly onTask: (record: TaskRecord, giveBackPlace: () => void) => void
  /** Takes over a task that came too late to be begun. */
  readonly onLateTask: (record: TaskRecord) => Promise<void>
  readonly onPolled: (poll: PollNotice) => void
  /** Aborted when no more work is taken. */
  readonly stopping: AbortSignal
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

/** Resolves once it was asked to stop and the polls in flight have ended. */
export async function pollForTasks(options: PollOptions): Promise<void> {
  const [own, shared] = options.slots
  const rush = openRush(Math.min(own.limit, shared.limit) - 1)
  await Promise.all([
    pollSteadily(options, rush).finally(() => rush.close()),
    ...Array.from({ length: rush.helpers }, () => pollInRush(options, rush)),
  ])
}

async function pollSteadily(options: PollOptions, rush: Rush): Promise<void> {
  const { clock, random, logger, stopping } = options
  const pause = (delayMs: number): Promise<void> => clock.sleep(delayMs, stopping).catch(() => undefined)
  let waitMs = POLL_WAIT_MS
  let failures = 0
  let isSecond = false
  for (;;) {
    const place = await takePlaces(options)
    if (place === undefined) return
    const polled = await poll(options, waitMs)
    const hasBegun = await takeIn(options, polled, place)
    // Two that were there at once, one after the other: more may be.
    const wasThere = hasBegun && polled.durationMs < POLL_QUEUED_MAX_MS
    if (wasThere && isSecond) rush.help()
    isSecond = wasThere

    if (polled.error !== undefined) {
      failures++
      const delayMs = retryDelay({
        attempt: Math.min(failures, 30),
        error: polled.error,
        policy: ERROR_POLICY,
        random,
      })
      const level = isPeragoError(polled.error) && polled.error.kind === 'unavailable' ? 'warn' : 'error'
      logger[level]('a poll failed and is tried again', { error: polled.error, failures, delayMs })
      await pause(delayMs)
      continue
    }
    failures = 0
    if (hasBegun) waitMs = POLL_WAIT_MS
    else {
      // A server that did not wait as it was asked is not asked again at once.
      const leftMs = polled.askedMs - polled.durationMs
      if (leftMs > polled.askedMs / 2) await pause(leftMs * (0.5 + random.next() / 2))
      waitMs = Math.min(polled.askedMs * 2, POLL_WAIT_MAX_MS)
    }
  }
}

/** One more poll beside the steady one, as long as each brings something. */
async function pollInRush(options: PollOptions, rush: Rush): Promise<void> {
  while (await rush.wanted()) {
    for (;;) {
      const place = await takePlaces(options)
      if (place === undefined) return
      const polled = await poll(options, POLL_WAIT_MS)
      // What went wrong the steady poll meets as well, and tells.
      if (!(await takeIn(options, polled, place))) break
      rush.help()
    }
  }
}

/** Whether a task was begun; the place is its own then. */
async function takeIn(
  options: PollOptions,
  { records }: { readonly records: readonly TaskRecord[] },
  place: () => void,
): Promise<boolean> {
  const [first, ...others] = records
  const begins = first !== undefined && !isStopping(options)
  if (begins) options.onTask(first, place)
  else place()
  // They came too late, or nobody asked for them and there is no place for them.
  for (const record of begins ? others : records) await options.onLateTask(record)
  return begins
}

/** Wakes those who help with polling, one at a time. */
interface Rush {
  readonly helpers: number
  help(): void
  /** Resolves when help is wanted, with `false` when it never will be again. */
  wanted(): Promise<boolean>
  close(): void
}

function openRush(helpers: number): Rush {
  const resting: ((isWanted: boolean) => void)[] = []
  let isClosed = false
  return {
    helpers,
    help: () => resting.shift()?.(true),
    wanted: () => new Promise((resolve) => (isClosed ? resolve(false) : resting.push(resolve))),
    close() {
      isClosed = true
      for (const rest of resting.splice(0)) rest(false)
    },
  }
}

async function takePlaces({ slots, stopping }: PollOptions): Promise<(() => void) | undefined> {
  const taken: (() => void)[] = []
  const giveBack = (): void => {
    for (const give of taken) give()
  }
  try {
    for (const of of slots) taken.push(await of.take(stopping))
    return giveBack
  } catch {
    // Asked to stop while waiting.
    giveBack()
    return undefined
  }
}

async function poll(
  { queue, taskType, domain, slots, nextWorkerId, clock, logger, onPolled }: PollOptions,
  longestMs: number,
): Promise<PollNotice & { readonly records: readonly TaskRecord[]; readonly askedMs: number }> {
  const startMs = clock.monotonicMs()
  const workerId = nextWorkerId()
  // Where other types wait for this place, it is not kept for long.
  const waitMs = slots[1].waiting > 0 ? POLL_WAIT_MS : longestMs
  let records: readonly TaskRecord[] = []
  let trouble: { readonly error?: unknown } = {}
  try {
    const claimed = await queue.poll({
      taskType,
      workerId,
      count: 1,
      waitMs,
      ...(domain === undefined ? {} : { domain }),
    })
    // Whatever does not carry the name of this claim is not ours to act on, and could not pass a fence.
    records = claimed.filter((record) => record.workerId === workerId && record.taskType === taskType)
    if (records.length < claimed.length)
      logger.error('a poll brought tasks of another claim; they are left alone', { taskType, workerId })
  } catch (error) {
    trouble = { error }
  }
  const notice = { claimed: records.length, durationMs: clock.monotonicMs() - startMs, ...trouble }
  onPolled(notice)
  return { ...notice, records, askedMs: waitMs }
}

function isStopping({ stopping }: PollOptions): boolean {
  return stopping.aborted
}
