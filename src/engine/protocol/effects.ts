/**
 * What has to happen outside, read from the execution as it is stored. A host may be stopped between storing a step and doing
 * what follows from it: after a restart it reads the same again. Doing it twice must do no harm: a child is started and
 * cancelled by its id.
 */

import type { JsonObject } from '../../base/json.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { referencesOf } from '../../core/expressions/references.ts'
import { parseExpression } from '../../core/expressions/parse-expression.ts'
import { walkUnits, type Graph } from '../graph/graph.ts'
import type { WorkflowStartRequest } from './control.ts'
import type { AttemptRow, Execution } from './execution.ts'
import { isTaskWellEnded } from './state.ts'

export interface ChildStart extends WorkflowStartRequest {
  /** The id that it is to have. */
  readonly workflowId: WorkflowId
  readonly parentId: WorkflowId
  readonly input: JsonObject
}

/** Of every SUB_WORKFLOW that is open: those of them that do not exist yet are started with this. */
export function openChildren(execution: Execution): readonly ChildStart[] {
  const { workflowId: parentId, priority, taskToDomain, correlationId } = execution
  return execution.rows.flatMap(({ child, record }) =>
    child === undefined || record.status !== 'IN_PROGRESS'
      ? []
      : [
          {
            workflowId: child.workflowId,
            parentId,
            name: child.name,
            input: record.input,
            priority,
            taskToDomain,
            ...(child.version === undefined ? {} : { version: child.version }),
            ...(correlationId === undefined ? {} : { correlationId }),
          },
        ],
  )
}

/** Those of them that still run are terminated: what waited for them does not any more. */
export function childrenToCancel({ rows, childrenLeft }: Execution): readonly WorkflowId[] {
  const left = rows.flatMap(({ child, record: { status } }) =>
    child !== undefined && (status === 'CANCELED' || status === 'TIMED_OUT') ? [child.workflowId] : [],
  )
  return [...childrenLeft, ...left]
}

/** The variables `shared.NAME` that steps from `before` to `after` set, to be stored together with `after`. */
export function variablesSet(before: Execution | undefined, after: Execution): JsonObject {
  return Object.assign({}, ...unitsThatSet(before, after).map(({ record }) => record.input)) as JsonObject
}

/** The attempts that set them: each sets what is in its input. */
export function unitsThatSet(before: Execution | undefined, after: Execution): readonly AttemptRow[] {
  const known = new Set(
    before?.rows.filter(({ record }) => isTaskWellEnded(record.status)).map(({ record }) => record.taskId),
  )
  return after.rows.filter(
    ({ record }) =>
      record.taskType === 'SET_VARIABLE' && record.status === 'COMPLETED' && !known.has(record.taskId),
  )
}

/** The events and variables that conditions of a graph name: a host reads these before it decides. */
export function namesReadBy(graph: Graph): {
  readonly events: readonly string[]
  readonly variables: readonly string[]
} {
  const verify = graph.policy?.verify
  const units = walkUnits(graph.units)
  const texts = [
    ...units.flatMap((unit) => [
      unit.startWhen,
      unit.onlyIf,
      unit.type === 'DO_WHILE' ? unit.loopCondition : undefined,
    ]),
    verify !== undefined && 'expression' in verify ? verify.expression : undefined,
  ].filter((text) => text !== undefined)
  const found = texts.map((text) => referencesOf(parseExpression(text)))
  const awaited = units.flatMap((unit) => (unit.type === 'WAIT' ? (unit.events ?? []) : []))
  return {
    events: [...new Set([...found.flatMap(({ events }) => events), ...awaited])],
    variables: [...new Set(found.flatMap(({ variables }) => variables))],
  }
}
