/** Compares the definitions of a module with those on the server, and registers them. */

import type { FieldChange, WorkflowDef } from '../../conductor/definition-diff.ts'
import {
  createDefinitionRegistry,
  type DefinitionRegistry,
  type WorkflowDefPlan,
} from '../../conductor/definitions.ts'
import type { ConductorClient } from '../../conductor/client.ts'
import { polledTypes, type ReadModule } from './task-modules.ts'
import { examineRegistration, type TaskRegistration } from './task-registration.ts'

export interface DefinitionState {
  readonly kind: 'task' | 'workflow'
  readonly name: string
  /** Of a workflow. */
  readonly version?: number
  readonly state: 'same' | 'missing' | 'differs'
  readonly changes: readonly FieldChange[]
}

export interface ModuleComparison {
  /** The server's. */
  readonly version: string
  readonly definitions: readonly DefinitionState[]
  /** Task types of workflow steps that are neither declared nor registered. */
  readonly unknownTypes: readonly string[]
  /** What keeps the tasks from starting in any case. */
  readonly problems: readonly string[]
}

interface CallOptions {
  readonly signal: AbortSignal
}

/** Changes nothing on the server. */
export async function compareModule(
  client: ConductorClient,
  module: ReadModule,
  options: CallOptions,
): Promise<ModuleComparison> {
  const registry = createDefinitionRegistry(client)
  const [version, tasks, workflows, unknownTypes] = await Promise.all([
    registry.readVersion(options),
    examineRegistration(registry, module.tasks, options),
    planWorkflows(registry, module, options),
    findUnknownTypes(registry, module, options),
  ])
  return {
    version,
    definitions: [...tasks.map(taskState), ...workflows.map(workflowState)],
    unknownTypes,
    problems: tasks
      // A missing definition is reported as its state.
      .filter(({ plan }) => plan.action !== 'create')
      .flatMap(({ task, problems }) => problems.map((problem) => `${task.name}: ${problem}`)),
  }
}

/** Creates what is missing and replaces what differs, tasks before the workflows that name them. */
export async function registerDefinitions(
  client: ConductorClient,
  module: ReadModule,
  options: CallOptions,
): Promise<readonly DefinitionState[]> {
  const registry = createDefinitionRegistry(client)
  const tasks = await examineRegistration(registry, module.tasks, options)
  for (const { plan } of tasks) await registry.applyTaskDef(plan, options)
  const workflows = await planWorkflows(registry, module, options)
  for (const plan of workflows) await registry.applyWorkflowDef(plan, options)
  return [...tasks.map(taskState), ...workflows.map(workflowState)]
}

function planWorkflows(
  registry: DefinitionRegistry,
  { workflows }: ReadModule,
  options: CallOptions,
): Promise<readonly WorkflowDefPlan[]> {
  return Promise.all(
    workflows.map((document) => registry.planWorkflowDef(document as unknown as WorkflowDef, options)),
  )
}

async function findUnknownTypes(
  registry: DefinitionRegistry,
  { tasks, workflows }: ReadModule,
  options: CallOptions,
): Promise<readonly string[]> {
  const elsewhere = polledTypes(workflows).filter((type) => !tasks.some(({ name }) => name === type))
  const found = await Promise.all(elsewhere.map((type) => registry.readTaskDef(type, options)))
  return elsewhere.filter((_, index) => found[index] === undefined)
}

function taskState({ task, plan }: TaskRegistration): DefinitionState {
  return { kind: 'task', name: task.name, ...stateOf(plan) }
}

function workflowState(plan: WorkflowDefPlan): DefinitionState {
  const { name, version = 1 } = plan.declared
  return { kind: 'workflow', name, version, ...stateOf(plan) }
}

function stateOf(
  plan: TaskRegistration['plan'] | WorkflowDefPlan,
): Pick<DefinitionState, 'state' | 'changes'> {
  switch (plan.action) {
    case 'create':
      return { state: 'missing', changes: [] }
    case 'keep':
      return { state: 'same', changes: [] }
    case 'update':
      return { state: 'differs', changes: plan.changes }
  }
}
