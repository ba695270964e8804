/**
 * Workflow definitions built with Conductor's JavaScript SDK (3.1 and 4): what `workflow(…)` returns, a `ConductorWorkflow`,
 * or any object in Conductor's own form. They are recognised by their shape, so the SDK is not loaded.
 */

import { isTaskDefinition } from './task-definition.ts'
import {
  isWorkflowDefinition,
  workflowOf,
  type WorkflowDefDocument,
  type WorkflowDefinition,
} from './workflow-definition.ts'

/** `undefined`: it is something else. Checked like a workflow of ours, except that it may have no owner. */
export function readWorkflow(value: unknown): WorkflowDefinition | undefined {
  if (isWorkflowDefinition(value)) return value
  if (!isObject(value) || isTaskDefinition(value)) return undefined
  const built = isBuilder(value) ? value.toWorkflowDef() : value
  // As it would be sent: without what is undefined.
  return isDocument(built) ? workflowOf(JSON.parse(JSON.stringify(built)) as WorkflowDefDocument) : undefined
}

function isBuilder(value: object): value is { readonly toWorkflowDef: () => unknown } {
  return 'toWorkflowDef' in value && typeof value.toWorkflowDef === 'function'
}

function isDocument(value: unknown): boolean {
  if (!isObject(value)) return false
  const { name, version, tasks } = value as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || typeof version !== 'number' || !Array.isArray(tasks)) return false
  return tasks.length > 0 && tasks.every(isStep)
}

function isStep(value: unknown): boolean {
  if (!isObject(value)) return false
  const { name, taskReferenceName } = value as Readonly<Record<string, unknown>>
  return typeof name === 'string' && typeof taskReferenceName === 'string'
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
