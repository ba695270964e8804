/** Whether a worker does its work: judged by its last successful polls and renewals, not by whether its process runs. */

import { WORKER_POLL_SILENT_MS } from './limits.ts'
import type { WorkerStatus } from './worker.ts'

export interface WorkerHealth {
  readonly ok: boolean
  /** What is wrong, one sentence each. */
  readonly problems: readonly string[]
}

/** Whether the worker takes tasks and works on them. */
export function judgeReadiness(status: WorkerStatus | undefined): WorkerHealth {
  if (status === undefined) return { ok: false, problems: ['the worker is starting'] }
  const problems = status.state === 'running' ? [] : [`the worker is ${status.state}`]
  return healthOf([...problems, ...findSilentPolls(status, 'never'), ...findSilentLeases(status)])
}

/** Whether a restart of the worker may help. */
export function judgeHealth(status: WorkerStatus | undefined): WorkerHealth {
  if (status === undefined) return { ok: true, problems: [] }
  // A worker that is stopping does not poll.
  const polls = status.state === 'running' ? findSilentPolls(status, 'since-start') : []
  return healthOf([...polls, ...findSilentLeases(status)])
}

function findSilentPolls(status: WorkerStatus, before: 'never' | 'since-start'): readonly string[] {
  return Object.entries(status.polls).flatMap(([task, { succeededAtMs, slots }]) => {
    if (succeededAtMs === undefined && before === 'never') return [`"${task}" was not polled yet`]
    const silentMs = status.nowMs - (succeededAtMs ?? status.startedAtMs)
    // A worker whose slots are all taken does not poll.
    const isBusy = status.slots.taken >= status.slots.limit || runningOf(status, task) >= slots
    if (isBusy || silentMs < WORKER_POLL_SILENT_MS) return []
    return [`no poll of "${task}" has succeeded for ${Math.round(silentMs / 1_000)} s`]
  })
}

function runningOf(status: WorkerStatus, task: string): number {
  return status.attempts.filter(({ taskName }) => taskName === task).length
}

function findSilentLeases({ attempts, nowMs }: WorkerStatus): readonly string[] {
  return attempts.flatMap(({ taskId, renewedAtMs, responseTimeoutSeconds }) => {
    const silentMs = nowMs - renewedAtMs
    if (silentMs < responseTimeoutSeconds * 1_000) return []
    return [`the lease of task ${taskId} was not renewed for ${Math.round(silentMs / 1_000)} s`]
  })
}

function healthOf(problems: readonly string[]): WorkerHealth {
  return { ok: problems.length === 0, problems }
}
