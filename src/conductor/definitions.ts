/** Task and workflow definitions on a Conductor server: read, compared with what is declared, registered; and starts. */

import { MissingError, RefusedError } from '../base/errors.ts'
import type { QueueCallOptions, WorkflowId } from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import { ShapeError } from '../remote/failures.ts'
import { fieldOf, type ConductorClient } from './client.ts'
import {
  diffTaskDef,
  diffWorkflowDef,
  type FieldChange,
  type TaskDef,
  type WorkflowDef,
} from './definition-diff.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'

/** What registering would do. */
export type DefinitionPlan<Definition> =
  | { readonly action: 'create'; readonly declared: Definition }
  | { readonly action: 'keep'; readonly declared: Definition }
  | {
      readonly action: 'update'
      readonly declared: Definition
      readonly registered: Definition
      readonly changes: readonly FieldChange[]
    }

export type TaskDefPlan = DefinitionPlan<TaskDef>
export type WorkflowDefPlan = DefinitionPlan<WorkflowDef>

export interface WorkflowStart {
  readonly name: string
  /** The latest when not given. */
  readonly version?: number
  readonly input?: JsonObject
  /** Give one: without it, a workflow whose start was not answered cannot be found. */
  readonly correlationId?: string
  /** 0 to 99; a higher priority is served first. */
  readonly priority?: number
  readonly taskToDomain?: Readonly<Record<string, string>>
}

export interface DefinitionRegistry {
  readTaskDef(name: string, options?: QueueCallOptions): Promise<TaskDef | undefined>
  /** Reads the server and compares; changes nothing. */
  planTaskDef(declared: TaskDef, options?: QueueCallOptions): Promise<TaskDefPlan>
  /** Does what the plan says. Task definitions have no versions: the last one written wins. */
  applyTaskDef(plan: TaskDefPlan, options?: QueueCallOptions): Promise<void>
  readWorkflowDef(
    name: string,
    options?: QueueCallOptions & { readonly version?: number },
  ): Promise<WorkflowDef | undefined>
  planWorkflowDef(declared: WorkflowDef, options?: QueueCallOptions): Promise<WorkflowDefPlan>
  /** Running workflows keep the definition they started with. */
  applyWorkflowDef(plan: WorkflowDefPlan, options?: QueueCallOptions): Promise<void>
  startWorkflow(start: WorkflowStart, options?: QueueCallOptions): Promise<WorkflowId>
  /** Ends it and cancels its open tasks. A workflow that is already gone is not an error. */
  terminateWorkflow(workflowId: WorkflowId, reason: string, options?: QueueCallOptions): Promise<void>
  readVersion(options?: QueueCallOptions): Promise<string>
  isHealthy(options?: QueueCallOptions): Promise<boolean>
}

/**
 * ```ts
 * const registry = createDefinitionRegistry(client)
 * const plan = await registry.planTaskDef(declared)
 * if (plan.action !== 'keep') await registry.applyTaskDef(plan)
 * ```
 */
export function createDefinitionRegistry(client: ConductorClient): DefinitionRegistry {
  const readTaskDef: DefinitionRegistry['readTaskDef'] = (name, { signal } = {}) =>
    client.call({ operation: 'getTaskDef', path: { name }, signal }, readNamed(name))
  const readWorkflowDef: DefinitionRegistry['readWorkflowDef'] = (name, { version, signal } = {}) =>
    client.call({ operation: 'getWorkflowDef', path: { name }, query: { version }, signal }, readNamed(name))

  return {
    readTaskDef,
    readWorkflowDef,

    async planTaskDef(declared, options) {
      return plan(declared, await readTaskDef(declared.name, options), diffTaskDef)
    },

    async applyTaskDef(planned, { signal } = {}) {
      const { action, declared } = planned
      const target = { name: declared.name }
      if (action === 'create')
        await client.call({ operation: 'registerTaskDefs', json: [declared], target, signal })
      if (action !== 'update') return
      // An update replaces everything; schemas that others registered must stay where none are declared.
      const json = { ...schemasOf(planned.registered), ...declared }
      const body = await client.call({ operation: 'updateTaskDef', json, target, signal })
      if (body !== undefined) return
      throw new MissingError(
        'conductor/definition-gone',
        `replace the task definition "${declared.name}": it is no longer there`,
        { next: 'Compare again, and register it again.' },
      )
    },

    async planWorkflowDef(declared, options) {
      const version = declared.version ?? 1
      const registered = await readWorkflowDef(declared.name, { ...options, version })
      return plan({ ...declared, version }, registered, diffWorkflowDef)
    },

    async applyWorkflowDef({ action, declared }, { signal } = {}) {
      const target = { name: declared.name }
      if (action === 'create')
        await client.call({ operation: 'registerWorkflowDef', json: declared, target, signal })
      if (action !== 'update') return
      const body = await client.call({ operation: 'updateWorkflowDefs', json: [declared], target, signal })
      const problem = fieldOf(fieldOf(body, 'bulkErrorResults'), declared.name)
      if (problem === undefined) return
      throw new RefusedError(
        'conductor/definition-refused',
        `replace the workflow definition "${declared.name}": ${JSON.stringify(problem)}`,
      )
    },

    async startWorkflow(start, { signal } = {}) {
      if (start.input !== undefined) requirePayloadFits('workflow input', start.input)
      const call = { operation: 'startWorkflow', json: start, target: { name: start.name }, signal } as const
      const id = await client.call(call, readWorkflowId)
      if (id === undefined) throw notDefined(start)
      return id
    },

    async terminateWorkflow(workflowId, reason, { signal } = {}) {
      await client.call({ operation: 'terminateWorkflow', path: { workflowId }, query: { reason }, signal })
    },

    async readVersion({ signal } = {}) {
      return String(await client.call({ operation: 'getVersion', signal })).trim()
    },

    async isHealthy({ signal } = {}) {
      return fieldOf(await client.call({ operation: 'getHealth', signal }), 'healthy') === true
    },
  }
}

function plan<Definition extends { readonly name: string }>(
  declared: Definition,
  registered: Definition | undefined,
  diff: (declared: Definition, registered: Definition) => readonly FieldChange[],
): DefinitionPlan<Definition> {
  if (registered === undefined) return { action: 'create', declared }
  const changes = diff(declared, registered)
  return changes.length === 0
    ? { action: 'keep', declared }
    : { action: 'update', declared, registered, changes }
}

function readNamed(name: string): (body: unknown) => TaskDef & WorkflowDef {
  return (body) => {
    if (fieldOf(body, 'name') === name) return body as TaskDef & WorkflowDef
    throw new ShapeError('it is not the definition of that name')
  }
}

function readWorkflowId(body: unknown): WorkflowId {
  const id = typeof body === 'string' ? body.trim().replaceAll('"', '') : ''
  if (!/^[\w-]+$/.test(id)) throw new ShapeError('it is not a workflow id')
  return id as WorkflowId
}

function notDefined({ name, version }: WorkflowStart): MissingError {
  const which = version === undefined ? `"${name}"` : `"${name}" in version ${version}`
  return new MissingError(
    'conductor/no-such-workflow-def',
    `start the workflow ${which}: it is not defined`,
    { next: 'Register the workflow definition first.' },
  )
}

const SCHEMA_FIELDS: readonly string[] = ['inputSchema', 'outputSchema', 'enforceSchema']

/** The schemas others have registered for a task's input and output; the contract does not name these fields. */
function schemasOf(registered: TaskDef): Partial<TaskDef> {
  return Object.fromEntries(Object.entries(registered).filter(([field]) => SCHEMA_FIELDS.includes(field)))
}
