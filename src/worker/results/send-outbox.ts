/**
 * Sends results from the outbox until the queue has them or another result decided: those of an earlier process, and those
 * that could not be delivered. None is given up; the longer one waits, the louder that is said.
 *
 * Passes follow one another sooner after a failure than without: a task whose result is late may be given to others.
 */

import { followSignals } from '../../base/abort-signals.ts'
import { OUTBOX_LATE_MS, OUTBOX_RETRY_MS, OUTBOX_SEND_INTERVAL_MS } from '../limits.ts'
import { deliverItem, type DeliverySurroundings } from './finish-attempt.ts'
import type { OutboxItem } from './outbox.ts'

export interface OutboxSender {
  /** Looks at once: a result was left to it. */
  wake(): void
  /** When the oldest result was written that is not delivered, on the clock's monotonic scale. */
  readonly oldestAtMs: number | undefined
  /** Resolves after the signal was aborted. */
  readonly ended: Promise<void>
}

/** What was found undelivered. */
export interface OutboxNotice {
  readonly waiting: number
  /** How long ago the oldest was written. */
  readonly oldestMs: number
}

export interface SendOutboxOptions extends DeliverySurroundings {
  /** Ends it. */
  readonly signal: AbortSignal
  readonly observe: (notice: OutboxNotice) => void
}

export function sendOutbox(options: SendOutboxOptions): OutboxSender {
  const { clock, logger, signal, observe } = options
  let woken = new AbortController()
  let failures = 0
  let oldestAtMs: number | undefined

  const ageOf = (items: readonly OutboxItem[]): number =>
    Math.max(0, ...items.map(({ writtenAt }) => clock.now().getTime() - Date.parse(writtenAt)))
  const tell = (items: readonly OutboxItem[]): void =>
    observe({ waiting: items.length, oldestMs: ageOf(items) })
  const tellKept = (items: readonly OutboxItem[]): void => {
    tell(items)
    const oldestMs = ageOf(items)
    oldestAtMs = items.length === 0 ? undefined : clock.monotonicMs() - oldestMs
    if (oldestMs < OUTBOX_LATE_MS) return
    logger.error('results wait because the task queue does not take them', {
      waiting: items.length,
      oldestSeconds: Math.round(oldestMs / 1_000),
    })
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      woken = new AbortController()
      try {
        const kept = await sendAll(options, tell)
        failures = kept.length === 0 ? 0 : failures + 1
        tellKept(kept)
      } catch (error) {
        failures++
        logger.error('the outbox could not be read', { error })
      }
      const followed = followSignals(signal, woken.signal)
      await clock.sleep(delayAfter(failures), followed.signal).catch(() => undefined)
      followed.release()
    }
  }
  return {
    wake() {
      failures = 0
      woken.abort()
    },
    get oldestAtMs() {
      return oldestAtMs
    },
    ended: run(),
  }
}

/** Those that stay undelivered. */
async function sendAll(
  options: SendOutboxOptions,
  onFound: (items: readonly OutboxItem[]) => void,
): Promise<readonly OutboxItem[]> {
  const { outbox, logger, signal } = options
  const items = await outbox.pending()
  onFound(items)
  const kept: OutboxItem[] = []
  for (const item of items) {
    if (signal.aborted) {
      item.release()
      continue
    }
    const { workflowId, taskId } = item.attempt
    const of = logger.child({ workflow: workflowId, taskId })
    // One post for each pass: one result that does not count must not hold up the others.
    const delivery = await deliverItem(item, { ...options, logger: of, postsMax: 1 })
    if (delivery === 'kept') kept.push(item)
  }
  return kept
}

function delayAfter(failures: number): number {
  if (failures === 0) return OUTBOX_SEND_INTERVAL_MS
  return Math.min(OUTBOX_RETRY_MS * 2 ** (failures - 1), OUTBOX_SEND_INTERVAL_MS)
}
