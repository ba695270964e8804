/** The input of a further attempt, evaluated again. */

import type { JsonObject } from '../../base/json.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { AttemptRow } from './execution.ts'
import { frameOf } from './frames.ts'
import type { Step } from './step.ts'
import { fill } from './values.ts'

export function inputAgain(step: Step, row: AttemptRow): (taskId: TaskId) => JsonObject {
  const unit = step.index.units.get(row.unit)
  // What is undone and verified has ended: it cannot have changed since.
  if (row.role !== 'run' || unit === undefined) return () => row.record.input
  return (taskId) => fill(step, unit.inputParameters, { frame: frameOf(row, step.index), taskId })
}
