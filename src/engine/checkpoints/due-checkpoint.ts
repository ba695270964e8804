/**
 * When a checkpoint has to be taken. Pure: the host asks before it hands anything out, and takes what is due first. After a
 * crash it asks again and gets the same answer until the checkpoint is there.
 */

import type { Execution } from '../protocol/execution.ts'
import { isTaskOpen } from '../protocol/state.ts'
import type { CheckpointReason, CheckpointRecord } from './checkpoint.ts'
import { finishedPhases } from './phases.ts'

/** `phase`: one at the start and one after each phase; `unit`: also before each unit is handed out. */
export type CheckpointFrequency = (typeof CHECKPOINT_FREQUENCIES)[number]

export const CHECKPOINT_FREQUENCIES = ['phase', 'unit', 'never'] as const

/** `undefined`: nothing is due. `newest` is the newest record of the execution. */
export function dueCheckpoint(
  execution: Execution,
  newest: Pick<CheckpointRecord, 'finishedPhases' | 'attempts'> | undefined,
  frequency: CheckpointFrequency,
): CheckpointReason | undefined {
  if (frequency === 'never') return undefined
  const finished = finishedPhases(execution)
  const phaseId = finished.at(-1) ?? 'start'
  const open = execution.rows.filter(({ record }) => isTaskOpen(record.status))
  const unsaved = open.filter(({ record }) => newest?.attempts.includes(record.taskId) !== true)
  const units = frequency === 'unit' ? unsaved.map(({ record }) => record.referenceTaskName) : []
  // Fewer than then, too: after a rollback the newest one would otherwise be of a state that is not wanted any more.
  const isSamePhase = newest !== undefined && newest.finishedPhases.join('\n') === finished.join('\n')
  if (isSamePhase && units.length === 0) return undefined
  return { phaseId, ...(units.length > 0 && { units }) }
}
