/** Which attempts a rollback undoes. Pure. */

import { MissingError } from '../../base/errors.ts'
import type { TaskId } from '../../fences/attempt-snapshot.ts'
import type { Graph } from '../graph/graph.ts'
import { latestRow, type AttemptRow, type Execution } from '../protocol/execution.ts'
import { hasFailed } from '../protocol/failures.ts'
import { indexOf } from '../protocol/graph-index.ts'
import { isTaskOpen, isTaskWellEnded } from '../protocol/state.ts'
import type { Checkpoint } from './checkpoint.ts'

/**
 * What goes back: everything; a phase or a unit, each with all that depends on it; everything since a checkpoint; or only what
 * a unit did to some paths of its branch.
 */
export type RollbackScope =
  | { readonly level: 'execution' }
  | { readonly level: 'phase'; readonly phaseId: string }
  | { readonly level: 'unit'; readonly unit: string }
  | { readonly level: 'checkpoint'; readonly checkpointId: string }
  | {
      readonly level: 'artifact'
      readonly unit: string
      /** Default: all paths that the unit changed. */
      readonly paths?: readonly string[]
    }

export interface Division {
  readonly undone: readonly AttemptRow[]
  /** What the execution goes on with. */
  readonly kept: readonly AttemptRow[]
}

/** `checkpoint`: of the scope, where it has one. */
export function divideRows(
  execution: Execution,
  scope: Exclude<RollbackScope, { level: 'artifact' }>,
  checkpoint: Checkpoint | undefined,
): Division {
  if (checkpoint !== undefined) return divideAtCheckpoint(execution, checkpoint)
  const { graph, rows } = execution
  const units = unitsOf(graph, scope)
  const isUndone = (row: AttemptRow): boolean => row.role === 'run' && units.has(topOf(graph, row.unit))
  const stays = withoutFailures(execution)
  return {
    undone: rows.filter(isUndone),
    kept: rows.filter((row) => !isUndone(row) && stays(row)),
  }
}

/** Open attempts of then are not kept either: they begin again, with new ids. */
function divideAtCheckpoint({ rows }: Execution, { execution: then }: Checkpoint): Division {
  const stays = withoutFailures(then)
  const kept = then.rows.filter((row) => {
    if (!stays(row)) return false
    const latest = latestRow(then, row.record.referenceTaskName)
    return row.loop !== undefined || (latest !== undefined && !isTaskOpen(latest.record.status))
  })
  const keptIds = new Set<TaskId>(kept.map(({ record }) => record.taskId))
  return { undone: rows.filter(({ role, record }) => role === 'run' && !keptIds.has(record.taskId)), kept }
}

/** Units that have failed run again, and those that were stopped with them; so do loops that they are in. */
function withoutFailures(execution: Execution): (row: AttemptRow) => boolean {
  const failed = new Set(
    execution.graph.units
      .map(({ taskReferenceName }) => latestRow(execution, taskReferenceName))
      .flatMap((row) => (row !== undefined && hasFailed(row) ? [row.unit] : [])),
  )
  return (row) => row.role === 'run' && !failed.has(topOf(execution.graph, row.unit))
}

function unitsOf(
  graph: Graph,
  scope: Exclude<RollbackScope, { level: 'artifact' | 'checkpoint' }> | { readonly level: 'checkpoint' },
): ReadonlySet<string> {
  const all = graph.units.map(({ taskReferenceName }) => taskReferenceName)
  if (scope.level === 'execution' || scope.level === 'checkpoint') return new Set(all)
  const { phases, dependents } = indexOf(graph)
  const first =
    scope.level === 'unit'
      ? all.filter((name) => name === topOf(graph, scope.unit))
      : all.filter((name) => phases.get(name) === scope.phaseId)
  if (first.length === 0) throw nothingNamed(graph, scope)
  const units = new Set(first)
  // Grows while it is walked.
  for (const name of units)
    for (const dependent of dependents.get(name) ?? []) units.add(topOf(graph, dependent))
  return units
}

/** The unit of the graph itself that a unit is, or is inside of. */
function topOf(graph: Graph, unit: string): string {
  const { containers } = indexOf(graph)
  let name = unit
  for (let outer = containers.get(name); outer !== undefined; outer = containers.get(name)) name = outer
  return name
}

/** Whether something of it is done or begun. */
export function hasBegun(row: AttemptRow): boolean {
  return isTaskOpen(row.record.status) || isTaskWellEnded(row.record.status) || row.record.startTimeMs > 0
}

function nothingNamed(
  graph: Graph,
  scope: Extract<RollbackScope, { level: 'phase' | 'unit' }>,
): MissingError {
  const what = scope.level === 'unit' ? `unit "${scope.unit}"` : `phase "${scope.phaseId}"`
  return new MissingError(
    'engine/nothing-to-roll-back',
    `roll back ${what} of "${graph.name}": it has none`,
    {
      details: { graph: graph.name, ...scope },
      next: 'Name a unit or a phase of the graph; without a label, phases are called layer-1, layer-2, and so on.',
    },
  )
}
