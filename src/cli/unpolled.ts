/** Says of each task that waits for a worker which does not come, once, what to start. */

import { systemClock, type Clock } from '../base/clock.ts'
import { oneLine, shortened } from '../base/one-line.ts'
import type { LastPoll, Workflow, WorkflowTask } from '../runtime/workflows.ts'
import { TASK_NAME_SHOWN_CHARS, UNPOLLED_AFTER_MS } from './limits.ts'

export interface UnpolledParts {
  readonly readLastPolls: (taskType: string) => Promise<readonly LastPoll[]>
  /** What a user can do about it. */
  readonly next: string
  readonly clock?: Clock
}

/** Looks again whenever the workflow was read; answers what is to be said now. */
export type FindUnpolled = (workflow: Pick<Workflow, 'tasks'>) => Promise<readonly string[]>

export function openUnpolled({ readLastPolls, next, clock = systemClock }: UnpolledParts): FindUnpolled {
  const waitingSinceMs = new Map<string, number>()
  /** Asked about each attempt once: one that was polled for since it was scheduled is waiting for something else. */
  const done = new Set<string>()
  return async ({ tasks }) => {
    const said: string[] = []
    for (const task of tasks.filter(waitsForWorker)) {
      const { taskId, taskType } = task
      const sinceMs = waitingSinceMs.get(taskId) ?? clock.monotonicMs()
      waitingSinceMs.set(taskId, sinceMs)
      if (done.has(taskType) || done.has(taskId) || clock.monotonicMs() - sinceMs < UNPOLLED_AFTER_MS)
        continue
      done.add(taskId)
      // It is only advice: a server that does not answer this may do everything else.
      const polls = await readLastPolls(taskType).catch(() => undefined)
      const what = polls && describeUnpolled(task, polls)
      if (what === undefined) continue
      done.add(taskType)
      said.push(`${what} ${next}`)
    }
    return said
  }
}

/** Types in capitals are those that the server itself runs. */
function waitsForWorker({ status, taskType }: WorkflowTask): boolean {
  return status === 'SCHEDULED' && !/^[A-Z][A-Z0-9_]*$/.test(taskType)
}

/** `undefined`: somebody polled. Both times are those of the server. */
function describeUnpolled(task: WorkflowTask, polls: readonly LastPoll[]): string | undefined {
  const { domain, taskType, scheduledTimeMs } = task
  const lastMs = Math.max(-1, ...polls.filter((poll) => poll.domain === domain).map(({ atMs }) => atMs))
  if (lastMs >= scheduledTimeMs) return undefined
  const name = `"${shortened(oneLine(taskType), TASK_NAME_SHOWN_CHARS)}"`
  const where =
    domain === undefined ? '' : ` in the domain "${shortened(oneLine(domain), TASK_NAME_SHOWN_CHARS)}"`
  return lastMs < 0
    ? `nobody works on ${name}${where}: no worker has ever asked for it.`
    : `nobody takes ${name}${where}: the last time that a worker asked for it was ${new Date(lastMs).toISOString()}; none runs any more, or all are busy.`
}
