/**
 * The state of an execution before and after a rollback. Pure. The host stores each result in one step.
 *
 * What is undone has no row afterwards, and runs again with new task ids: an attempt of before is unknown, so its fences
 * fail and its result is dropped.
 */

import type { CommitRef } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import { decide } from '../protocol/decide.ts'
import type { AttemptRow, Execution, Moment, Rollback } from '../protocol/execution.ts'
import { nextRun, pauseExecution, terminateExecution } from '../protocol/operator.ts'
import { Step } from '../protocol/step.ts'
import type { Checkpoint } from './checkpoint.ts'
import { isSameBranch, workspaceOf, type BranchCommit } from './written-branches.ts'

/** What the execution does after a rollback: it goes on, waits for `resume`, or ends. */
export type AfterRollback = 'continue' | 'pause' | 'end'

/** Nothing is handed out, and what will be undone publishes nothing more: its attempts are stale from now on. */
export function stopForRollback(
  execution: Execution,
  undone: ReadonlySet<TaskId>,
  moment: Moment,
): Execution {
  const paused = pauseExecution(execution, moment)
  const step = new Step(paused.is === 'done' ? paused.execution : execution, moment)
  step.cancelOpen(({ record }) => undone.has(record.taskId))
  return step.finish()
}

export function restoreState(
  execution: Execution,
  to: {
    readonly kept: readonly AttemptRow[]
    readonly checkpoint: Checkpoint | undefined
    readonly report: Rollback
    readonly then: AfterRollback
  },
  moment: Moment,
): Execution {
  const { input, variables } = to.checkpoint?.execution ?? execution
  const rollbacks = [...execution.rollbacks, to.report]
  const restored = { ...nextRun(execution, moment, to.kept), input, variables, rollbacks }
  if (to.then === 'continue') return decide(restored, moment)
  const reason = to.report.reason ?? 'it was rolled back'
  const ended =
    to.then === 'pause' ? pauseExecution(restored, moment) : terminateExecution(restored, { reason }, moment)
  return ended.is === 'done' ? ended.execution : restored
}

/** After paths were restored by a new commit: what named the old head of the branch names the new one. */
export function moveRefs(
  execution: Execution,
  head: Pick<BranchCommit, 'repository' | 'branch'> & { readonly from: CommitRef; readonly to: CommitRef },
): Execution {
  const moved = (output: JsonObject): JsonObject => {
    const known = workspaceOf(output)
    if (known === undefined || !isSameBranch(known, head) || known.ref !== head.from) return output
    return { ...output, workspace: { ...(output.workspace as JsonObject), ref: head.to } }
  }
  const rows = execution.rows.map((row) => ({
    ...row,
    record: { ...row.record, output: moved(row.record.output) },
  }))
  return { ...execution, rows, output: moved(execution.output) }
}
