/** The status of a worker as its file tells it: with wall times, and bounded. */

import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { ProcessIdentity } from '../../base/process-identity.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import { STATUS_ATTEMPTS_MAX, STATUS_FILE_MAX_BYTES, STATUS_TASKS_MAX } from '../limits.ts'
import { shownName, type StatusFile } from './status-file.ts'
import type { StatusHistory } from './status-history.ts'

export interface DescribeStatusParts {
  readonly process: ProcessIdentity
  readonly workerId: string
  readonly history: Pick<StatusHistory, 'ended' | 'files' | 'reason'>
  readonly clock: Clock
}

export function describeStatus(status: WorkerStatus, parts: DescribeStatusParts): StatusFile {
  const { process, workerId, history, clock } = parts
  const now = clock.now()
  const at = (ms: number): string => new Date(now.getTime() - (status.nowMs - ms)).toISOString()
  const maybeAt = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : at(ms))
  return {
    ...{ format: 'perago-status', version: 1, writtenAt: now.toISOString(), process, workerId },
    ...{ state: status.state, startedAt: at(status.startedAtMs), slots: status.slots },
    polls: Object.entries(status.polls)
      .slice(0, STATUS_TASKS_MAX)
      .map(([taskType, { succeededAtMs, slots }]) => ({
        ...{ taskType: shownName(taskType), slots, isHeld: status.held.includes(taskType) },
        ...defined({ succeededAt: maybeAt(succeededAtMs) }),
      })),
    attempts: status.attempts.slice(0, STATUS_ATTEMPTS_MAX).map((attempt) => ({
      taskId: shownName(attempt.taskId),
      workflowId: shownName(attempt.workflowId),
      taskType: shownName(attempt.taskName),
      ...{ retryCount: attempt.retryCount, step: attempt.step },
      startedAt: at(attempt.startedAtMs),
      renewedAt: at(attempt.renewedAtMs),
      leaseMs: Math.round(attempt.responseTimeoutSeconds * 1_000),
    })),
    outages: status.outages.map(({ what, why, sinceMs }) => ({
      ...{ what, why: history.reason(why), since: at(sinceMs) },
    })),
    ...{ files: history.files, ended: [...history.ended] },
    ...defined({ oldestResultAt: maybeAt(status.oldestResultAtMs) }),
  }
}

/** Tells less where all of it would be too large. */
export function encodeStatus(status: StatusFile): string {
  const text = `${JSON.stringify(status)}\n`
  if (Buffer.byteLength(text) <= STATUS_FILE_MAX_BYTES) return text
  const { ended, attempts, polls, outages } = status
  const half = <T>(list: readonly T[]): T[] => list.slice(0, Math.floor(list.length / 2))
  return encodeStatus({
    ...status,
    ...{ ended: half(ended), attempts: half(attempts), polls: half(polls), outages: half(outages) },
  })
}
