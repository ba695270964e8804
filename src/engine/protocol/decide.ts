/**
 * Decides an execution: which attempts are overdue, which are retried, which units come next, how it ends. Pure: the moment
 * is passed in, and deciding again at the same moment changes nothing. Conductor decides on each update of a task, when a
 * workflow is resumed, and when its sweeper runs; a host of these rules must do the same, and also when an event or a
 * variable that a condition names has changed and when a child has ended.
 */

import { advance } from './advance.ts'
import { expire } from './deadlines.ts'
import type { Ending, Execution, Moment } from './execution.ts'
import { settleFailures } from './failures.ts'
import { TOP } from './frames.ts'
import { findGraphProblems } from '../graph/problems.ts'
import { recoveryOf } from './recovery.ts'
import { canUndoAny, goOnWithRollback } from './rollback.ts'
import type { Stage } from './stages.ts'
import { isTaskWellEnded } from './state.ts'
import { Step } from './step.ts'
import { fill } from './values.ts'
import { goOnWithVerification } from './verify.ts'

export function decide(execution: Execution, moment: Moment): Execution {
  if (execution.status !== 'RUNNING') return execution
  const step = new Step(execution, moment)
  expire(step)
  // Each rollback uses up an attempt, so that this ends.
  while (STAGE_WORK[step.stage](step));
  return step.finish()
}

/** What is done in a stage; true when the stage changed. */
const STAGE_WORK: Readonly<Record<Stage, (step: Step) => boolean>> = {
  PENDING: (step) => moved(step, 'SCHEDULING'),
  SCHEDULING: schedule,
  EXECUTING: execute,
  VERIFYING: verify,
  ROLLBACK: rollBack,
  COMMIT: () => false,
  FAILED: () => false,
  CANCELLED: () => false,
}

function moved(step: Step, to: Stage): true {
  step.move(to)
  return true
}

function schedule(step: Step): boolean {
  const { graph, ending } = step.execution
  const problems = findGraphProblems(graph, step.moment.graphLimits)
  if (ending === undefined && problems.length > 0) {
    const reason = problems.map(({ message }) => message).join('; ')
    step.set({ ending: { status: 'FAILED', reason: `the graph cannot run: ${reason}`, output: {} } })
  }
  if (step.execution.ending !== undefined) return close(step, 'FAILED')
  return step.moment.hasRoom ? moved(step, 'EXECUTING') : false
}

function execute(step: Step): boolean {
  if (step.execution.ending === undefined) settleFailures(step)
  while (step.execution.ending === undefined) {
    advance(step)
    // Read again: units and failures set it.
    if (hasEnding(step) || !settleFailures(step)) break
  }
  const ending = step.execution.ending ?? completedEnding(step)
  if (ending === undefined) return false
  step.set({ ending })
  step.cancelOpen()
  if (ending.status === 'COMPLETED') return moved(step, 'VERIFYING')
  if (ending.status === 'TERMINATED') return close(step, 'CANCELLED')
  return isRecovered(step) || isUndone(step) ? moved(step, 'ROLLBACK') : close(step, 'FAILED')
}

function isRecovered(step: Step): boolean {
  if (step.moment.recovers !== true) return false
  return recoveryOf(step.execution, (reference) => step.latest(reference)) !== undefined
}

function isUndone(step: Step): boolean {
  return step.execution.policy.onFailure === 'rollback' && canUndoAny(step)
}

function hasEnding({ execution }: Step): boolean {
  return execution.ending !== undefined
}

function completedEnding(step: Step): Ending | undefined {
  const { graph } = step.execution
  const hasEnded = graph.units.every(({ taskReferenceName }) => {
    const row = step.latest(taskReferenceName)
    return row !== undefined && isTaskWellEnded(row.record.status)
  })
  if (!hasEnded) return undefined
  const last = step.rows.findLast(
    ({ record, unit }) => record.status === 'COMPLETED' && step.index.containers.get(unit) === undefined,
  )
  const output =
    graph.outputParameters === undefined
      ? (last?.record.output ?? {})
      : fill(step, graph.outputParameters, { frame: TOP })
  return { status: 'COMPLETED', reason: undefined, output }
}

function verify(step: Step): boolean {
  const { ending } = step.execution
  if (ending !== undefined && ending.status !== 'COMPLETED') {
    step.cancelOpen()
    return moved(step, 'ROLLBACK')
  }
  const verified = goOnWithVerification(step)
  if (verified.is === 'open') return false
  if (verified.is === 'right') return close(step, 'COMMIT')
  const reason = `verification failed: ${verified.why}`
  step.set({ ending: { status: 'FAILED', reason, output: ending?.output ?? {} } })
  return moved(step, 'ROLLBACK')
}

function rollBack(step: Step): boolean {
  // The host does it, or tells that it cannot.
  if (isRecovered(step)) return false
  const isRefused = step.execution.rollbacks.some(({ recovery }) => recovery === 'refused')
  if (isRefused && !isUndone(step)) return close(step, 'FAILED')
  const report = goOnWithRollback(step)
  if (report === undefined) return false
  const { rollbacks, attempt, policy } = step.execution
  step.set({ rollbacks: [...rollbacks, report] })
  // Running on top of what could not be undone would hide it.
  const isClean = !report.notUndone.some(({ why }) => why !== 'it has no undo')
  if (attempt >= policy.attempts || !isClean) return close(step, 'FAILED')
  step.startAgain()
  return moved(step, 'PENDING')
}

function close(step: Step, stage: 'COMMIT' | 'FAILED' | 'CANCELLED'): false {
  const { ending } = step.execution
  step.move(stage)
  if (ending !== undefined)
    step.set({ status: ending.status, output: ending.output, reasonForIncompletion: ending.reason })
  return false
}
