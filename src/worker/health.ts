/** Whether a worker does its work: judged by its last successful polls and renewals, not by whether its process runs. */

import { OUTBOX_LATE_MS, WORKER_POLL_SILENT_MS } from './limits.ts'
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
  const outages = status.outages.map(({ why }) => why)
  return healthOf([
    ...problems,
    ...outages,
    ...findSilentPolls(status, 'never'),
    ...findSilentLeases(status),
    ...findLateResults(status),
  ])
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
    // A restart helps against no outage.
    if (status.held.includes(task)) return []
    if (succeededAtMs === undefined && before === 'never') return [`"${task}" was not polled yet`]
    const silentMs = status.nowMs - Math.max(succeededAtMs ?? status.startedAtMs, status.freeSinceMs)
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

function findLateResults({ oldestResultAtMs, nowMs }: WorkerStatus): readonly string[] {
  const waitedMs = nowMs - (oldestResultAtMs ?? nowMs)
  if (waitedMs < OUTBOX_LATE_MS) return []
  return [`a result has waited for ${Math.round(waitedMs / 1_000)} s: the task queue does not take it`]
}

function healthOf(problems: readonly string[]): WorkerHealth {
  return { ok: problems.length === 0, problems }
}
