/** What a step did, in the words of who observes it. Pure. */

import type { TaskId } from '../../fences/attempt-snapshot.ts'
import { findRow, type AttemptRow, type Execution, type Rollback } from '../protocol/execution.ts'
import type { StageMove } from '../protocol/stages.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import type { NewEvent } from '../../core/events/event.ts'
import type { StepStored } from './engine-events.ts'

/** The execution ended with this step. */
export function hasEndedWith({ before, after }: StepStored): boolean {
  return !isWorkflowOpen(after.status) && (before === undefined || isWorkflowOpen(before.status))
}

/** Since the start of this run. */
export function durationOf({ startTimeMs, updatedMs, moves }: Execution): number {
  return Math.max(0, (moves.at(-1)?.atMs ?? updatedMs) - startTimeMs)
}

/** Stages that the step left or entered, each with its end; one that goes on has none. */
export function stagesTouched({
  before,
  after,
}: StepStored): readonly (StageMove & { readonly endMs: number | undefined; readonly isNew: boolean })[] {
  const known = before?.run === after.run ? before.moves.length : 0
  if (known === after.moves.length) return []
  const first = Math.max(0, known - 1)
  return after.moves.slice(first).map((move, at) => ({
    ...move,
    endMs: after.moves[first + at + 1]?.atMs,
    isNew: first + at >= known,
  }))
}

/** Rollbacks that ended with this step. */
export function rollbacksOf({ before, after }: StepStored): readonly Rollback[] {
  const known = before?.run === after.run ? before.rollbacks.length : 0
  return after.rollbacks.slice(known)
}

/** The attempt that an event of the log tells of. */
export function rowOfEvent(execution: Execution, { payload }: NewEvent): AttemptRow | undefined {
  const taskId = payload?.['taskId']
  return typeof taskId === 'string' ? findRow(execution, taskId as TaskId) : undefined
}

/** The last part of an event's type. */
export function verbOf({ type }: NewEvent): string {
  return type.slice(type.lastIndexOf('.') + 1)
}
