/**
 * Sends what a body logs to the task queue while it runs: one text for all lines of some seconds, with how far the body is. The
 * longer an attempt lasts, the more seconds, up to a limit, so that a day of work leaves thousands of texts and not tens of thousands.
 *
 * 1. One text is under way at most, and nothing waits for it: neither the result, which has the lines that are left, nor a renewal,
 *    which another thread makes.
 * 2. A text that may not have arrived when the attempt ends comes again with the result: rather twice than not at all.
 */

import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { TASK_LOG_SEND_INTERVAL_MAX_MS, TASK_LOG_SEND_INTERVAL_MS, TASK_LOG_SEND_PART } from '../limits.ts'
import type { QueueCallOptions } from '../ports.ts'
import { describeProgress, type ProgressTold } from './describe-progress.ts'
import type { TaskLog } from './task-log.ts'

export type SendLines = (text: string, options: QueueCallOptions) => Promise<void>

export interface TaskLogSender {
  /** How far the body is; the last one counts. */
  note(told: ProgressTold): void
  /** Nothing is under way any more when this returns. What was not sent is in the log; of a failure also how far the body was. */
  end(how: 'succeeded' | 'failed'): void
}

export function sendTaskLog(options: {
  readonly log: TaskLog
  readonly send: SendLines | undefined
  readonly clock: Clock
  readonly logger: Logger
}): TaskLogSender {
  const { log, send, clock, logger } = options
  const ended = new AbortController()
  const { signal } = ended
  const startMs = clock.monotonicMs()
  let progress: string | undefined
  let underWay: readonly string[] = []

  const sendOnce = async (append: SendLines): Promise<void> => {
    if (progress !== undefined) log.add(progress)
    progress = undefined
    underWay = log.take()
    if (underWay.length === 0) return
    try {
      await append(underWay.join('\n'), { signal })
      underWay = []
    } catch (error) {
      if (signal.aborted) return
      log.giveBack(underWay)
      underWay = []
      logger.debug('lines of the task log could not be sent yet', { error })
    }
  }
  /** A body that says nothing costs no timer. */
  let isTiming = false
  const sendAll = async (append: SendLines): Promise<void> => {
    do {
      const slower = (clock.monotonicMs() - startMs) * TASK_LOG_SEND_PART
      const waitMs = Math.min(Math.max(TASK_LOG_SEND_INTERVAL_MS, slower), TASK_LOG_SEND_INTERVAL_MAX_MS)
      await clock.sleep(waitMs, signal).catch(() => undefined)
      if (signal.aborted) return
      await sendOnce(append)
    } while (!log.isEmpty || progress !== undefined)
    isTiming = false
  }
  const begin = (): void => {
    if (send === undefined || isTiming || signal.aborted) return
    isTiming = true
    sendAll(send).catch((error: unknown) =>
      logger.error('the task log is sent with the result alone', { error }),
    )
  }
  log.onLine = begin
  return {
    note(told) {
      progress = describeProgress(told)
      begin()
    },
    end(how) {
      ended.abort()
      log.giveBack(underWay)
      underWay = []
      if (how === 'failed' && progress !== undefined) log.add(progress)
    },
  }
}
