/**
 * Undoing what an execution did: one unit after the other, the one that completed last first, each by a task that workers
 * poll for like any other. A unit that cannot be undone is reported, and the others are undone all the same.
 */

import type { Unit } from '../graph/graph.ts'
import type { AttemptRow, Rollback } from './execution.ts'
import { hasFailed, mayRetry, retry } from './failures.ts'
import { frameOf } from './frames.ts'
import { addPolled } from './rows.ts'
import { isTaskOpen, isTaskWellEnded } from './state.ts'
import type { Step } from './step.ts'
import { fill } from './values.ts'

/** Whether a unit that completed has an `undo`. */
export function canUndoAny(step: Step): boolean {
  return step.rows.some((row) => isDone(step, row) && step.index.units.get(row.unit)?.undo !== undefined)
}

/** Returns the report when there is nothing left to undo. */
export function goOnWithRollback(step: Step): Rollback | undefined {
  const undoing = step.rows.filter((row) => row.role === 'undo' && !row.record.isRetried)
  for (const row of undoing) if (mayRetry(step, row)) retry(step, row)
  if (step.rows.some((row) => row.role === 'undo' && isTaskOpen(row.record.status))) return undefined
  const next = nextToUndo(step)
  if (next === undefined) return reportOf(step)
  addUndo(step, next)
  return undefined
}

export function undoReference(row: AttemptRow): string {
  return `${row.record.referenceTaskName}__undo`
}

function nextToUndo(step: Step): AttemptRow | undefined {
  const orderOf = (row: AttemptRow): number => step.index.units.get(row.unit)?.undo?.order ?? 0
  let next: AttemptRow | undefined
  for (const row of step.rows) {
    if (!isDone(step, row) || step.index.units.get(row.unit)?.undo === undefined) continue
    if (step.latest(undoReference(row)) !== undefined) continue
    const isBefore =
      next === undefined ||
      orderOf(row) < orderOf(next) ||
      (orderOf(row) === orderOf(next) && (row.endOrder ?? 0) > (next.endOrder ?? 0))
    if (isBefore) next = row
  }
  return next
}

function addUndo(step: Step, row: AttemptRow): void {
  const undo = step.index.units.get(row.unit)?.undo
  if (undo === undefined) return
  const frame = frameOf(row, step.index)
  addPolled(step, {
    unit: row.unit,
    role: 'undo',
    taskType: undo.name,
    reference: undoReference(row),
    frame,
    delaySeconds: 0,
    inputOf: (taskId) => ({
      ...row.record.output,
      ...fill(step, undo.inputParameters ?? {}, { frame, taskId }),
    }),
  })
}

/** Ran to its end, also with errors that were bearable. */
function isDone(step: Step, row: AttemptRow): boolean {
  const { status, referenceTaskName } = row.record
  if (row.role !== 'run' || status === 'SKIPPED' || !isTaskWellEnded(status)) return false
  return step.latest(referenceTaskName) === row
}

/** Units that only decide or wait leave nothing behind. */
const LEAVES_SOMETHING: ReadonlySet<Unit['type']> = new Set(['SIMPLE', 'SUB_WORKFLOW'])

function reportOf(step: Step): Rollback {
  const undone = step.rows
    .filter((row) => row.role === 'undo' && isTaskWellEnded(row.record.status))
    .map((row) => step.rows.find((one) => undoReference(one) === row.record.referenceTaskName))
  const failed = step.rows.filter((row) => row.role === 'undo' && hasFailed(row) && !row.record.isRetried)
  const without = step.rows.filter((row) => {
    const unit = step.index.units.get(row.unit)
    return isDone(step, row) && unit?.undo === undefined && LEAVES_SOMETHING.has(unit?.type ?? 'JOIN')
  })
  return {
    atMs: step.moment.nowMs,
    reason: step.execution.ending?.reason,
    undone: undone.flatMap((row) => row?.record.referenceTaskName ?? []),
    notUndone: [
      ...failed.map(({ record }) => ({
        unit: record.referenceTaskName.slice(0, -'__undo'.length),
        why: `undoing it failed: ${record.reasonForIncompletion ?? record.status}`,
      })),
      ...without.map(({ record }) => ({ unit: record.referenceTaskName, why: 'it has no undo' })),
    ],
  }
}
