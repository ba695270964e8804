/**
 * What follows from a stored step outside of its execution: children are started and ended, a parent is told. Done again after a
 * restart, and harmless when done twice.
 */

import { isPeragoError, type PeragoError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { decide } from '../protocol/decide.ts'
import { childrenToCancel, openChildren, type ChildStart } from '../protocol/effects.ts'
import type { ChildEnd, Execution } from '../protocol/execution.ts'
import { followParent, terminateExecution } from '../protocol/operator.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import type { DefinitionStore } from './definition-store.ts'
import type { Executions } from './executions.ts'
import { traceOfChild } from '../telemetry/execution-trace.ts'
import type { Starter } from './starter.ts'

export interface FollowParts {
  readonly executions: Executions
  readonly definitions: DefinitionStore
  readonly logger: Logger
  readonly starter: Starter
  /** Children that could not be started, by their id. */
  readonly refused: Map<WorkflowId, ChildEnd>
}

export async function followStep(parts: FollowParts, execution: Execution): Promise<void> {
  const { executions } = parts
  const isHeldBack = executions.isHeldBack(execution.workflowId)
  for (const child of openChildren(execution)) {
    const found = await executions.read(child.workflowId)
    if (found !== undefined) await passPauseOn(parts, execution, found)
    else if (!isHeldBack) await startChild(parts, execution, child)
  }
  for (const workflowId of childrenToCancel(execution)) await endChild(parts, execution, workflowId)
  const { parentId, status } = execution
  if (parentId !== undefined && !isWorkflowOpen(status)) await decideAgain(parts, parentId)
}

async function passPauseOn(
  { executions }: FollowParts,
  { workflowId, status }: Execution,
  child: Execution,
): Promise<void> {
  const isDue = status === 'PAUSED' ? child.status === 'RUNNING' : child.isPausedByParent === true
  if (!isDue) return
  await executions.change(child.workflowId, (execution, moment) => {
    // As it is now: it may have changed while this waited for its turn.
    const parent = { status: executions.peek(workflowId)?.status ?? status }
    return { execution: followParent(execution, parent, moment), answer: undefined }
  })
}

async function decideAgain(
  { executions }: Pick<FollowParts, 'executions'>,
  workflowId: WorkflowId,
): Promise<void> {
  await executions.change(workflowId, (execution, moment) => ({
    execution: decide(execution, moment),
    answer: undefined,
  }))
}

async function startChild(parts: FollowParts, parent: Execution, child: ChildStart): Promise<void> {
  const { definitions, refused, starter } = parts
  const { name, version, workflowId, parentId, ...request } = child
  const row = parent.rows.find((each) => each.child?.workflowId === workflowId)
  const node = row?.record.referenceTaskName ?? ''
  try {
    const graph = await definitions.findGraph(name, version)
    const trace = row === undefined ? undefined : traceOfChild(parent, row.record.taskId)
    await starter.start({ graph, request, workflowId, parent: { id: parentId, node }, trace })
    await decideAgain(parts, workflowId)
  } catch (error) {
    if (!failsChild(error)) throw error
    // As in Conductor, a child that cannot be started fails its task.
    refused.set(workflowId, { status: 'FAILED', reason: error.message, output: {} })
    await decideAgain(parts, parentId)
    refused.delete(workflowId)
  }
}

function failsChild(error: unknown): error is PeragoError {
  if (!isPeragoError(error)) return false
  return error.kind === 'invalid' || error.kind === 'missing' || error.code === 'engine/branch-taken'
}

async function endChild(
  { executions }: FollowParts,
  parent: Execution,
  workflowId: WorkflowId,
): Promise<void> {
  const child = await executions.read(workflowId)
  if (child === undefined || !isWorkflowOpen(child.status)) return
  const reason = `the execution ${parent.workflowId} does not wait for it any more`
  await executions.change(workflowId, (execution, moment) => {
    const ended = isWorkflowOpen(execution.status)
      ? terminateExecution(execution, { reason }, moment)
      : undefined
    return { execution: ended?.is === 'done' ? ended.execution : execution, answer: undefined }
  })
}
