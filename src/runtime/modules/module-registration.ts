/** A module's definitions beside those on the server: what differs, and making them the same. */

import type { FieldChange, WorkflowDef } from '../../conductor/definition-diff.ts'
import {
  createDefinitionRegistry,
  type DefinitionRegistry,
  type WorkflowDefPlan,
} from '../../conductor/definitions.ts'
import type { Logger } from '../../base/logger.ts'
import type { RetryPolicy } from '../../base/retry.ts'
import { openConductor } from '../connections/conductor-connection.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'
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
  /** Named by a workflow, declared nowhere and registered nowhere. */
  readonly unknownTypes: readonly string[]
  /** What stands against starting the tasks, whatever is allowed. */
  readonly problems: readonly string[]
}

export interface RegistryConnection {
  compare(module: ReadModule, options?: CallOptions): Promise<ModuleComparison>
  /** Creates what is missing and replaces what differs, tasks before the workflows that name them. */
  register(module: ReadModule, options?: CallOptions): Promise<readonly DefinitionState[]>
  close(): Promise<void>
}

interface CallOptions {
  readonly signal?: AbortSignal
}

/** Nothing is sent yet. To be closed by whoever opens it. */
export function openRegistry(
  configuration: PeragoConfiguration,
  options: { readonly logger: Logger; readonly retry?: Partial<RetryPolicy> },
): RegistryConnection {
  const client = openConductor(configuration, options)
  const registry = createDefinitionRegistry(client)
  return {
    compare: (module, call) => compareModule(registry, module, call),
    register: (module, call) => registerModule(registry, module, call),
    close: () => client.close(),
  }
}

/** Changes nothing on the server. */
export async function compareModule(
  registry: DefinitionRegistry,
  module: ReadModule,
  options: CallOptions = {},
): Promise<ModuleComparison> {
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
      // That it is missing is its state already.
      .filter(({ plan }) => plan.action !== 'create')
      .flatMap(({ task, problems }) => problems.map((problem) => `${task.name}: ${problem}`)),
  }
}

async function registerModule(
  registry: DefinitionRegistry,
  module: ReadModule,
  options: CallOptions = {},
): Promise<readonly DefinitionState[]> {
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
