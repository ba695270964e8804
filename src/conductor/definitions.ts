/** Task and workflow definitions on a Conductor server: read, compared with what is declared, registered; and starts. */

import { MissingError, RefusedError } from '../base/errors.ts'
import type { QueueCallOptions, WorkflowId } from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import { fieldOf, segment, strangeBody, type ConductorClient } from './client.ts'
import {
  diffTaskDef,
  diffWorkflowDef,
  type FieldChange,
  type TaskDef,
  type WorkflowDef,
} from './definition-diff.ts'
import type { components } from './generated/conductor-api.ts'
import type { OperationName } from './operations.ts'
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
  /** Give one: it is the only way to find a workflow again whose start was not answered. */
  readonly correlationId?: string
  /** 0 to 99; the higher goes first. */
  readonly priority?: number
  readonly taskToDomain?: Readonly<Record<string, string>>
}

export interface DefinitionRegistry {
  readTaskDef(name: string, options?: QueueCallOptions): Promise<TaskDef | undefined>
  /** Reads the server and compares; changes nothing. */
  planTaskDef(declared: TaskDef, options?: QueueCallOptions): Promise<TaskDefPlan>
  /** Does what the plan says. Definitions have no versions for tasks: the last to write wins. */
  applyTaskDef(plan: TaskDefPlan, options?: QueueCallOptions): Promise<void>
  readWorkflowDef(
    name: string,
    options?: QueueCallOptions & { readonly version?: number },
  ): Promise<WorkflowDef | undefined>
  planWorkflowDef(declared: WorkflowDef, options?: QueueCallOptions): Promise<WorkflowDefPlan>
  /** Workflows that run already keep the definition they started with. */
  applyWorkflowDef(plan: WorkflowDefPlan, options?: QueueCallOptions): Promise<void>
  startWorkflow(start: WorkflowStart, options?: QueueCallOptions): Promise<WorkflowId>
  /** Ends it, and cancels what of it is open. One that is gone already is no error. */
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
  const readTaskDef: DefinitionRegistry['readTaskDef'] = async (name, { signal } = {}) => {
    const path = `/api/metadata/taskdefs/${segment(name)}`
    const about = `"${name}"`
    const body = await client.call({ operation: 'getTaskDef', method: 'GET', path, about, signal })
    return body === undefined ? undefined : (requireNamed('getTaskDef', name, body) as TaskDef)
  }
  const readWorkflowDef: DefinitionRegistry['readWorkflowDef'] = async (name, { version, signal } = {}) => {
    const body = await client.call({
      operation: 'getWorkflowDef',
      method: 'GET',
      path: `/api/metadata/workflow/${segment(name)}`,
      query: { version },
      about: `"${name}"`,
      signal,
    })
    return body === undefined ? undefined : (requireNamed('getWorkflowDef', name, body) as WorkflowDef)
  }

  return {
    readTaskDef,
    readWorkflowDef,

    async planTaskDef(declared, options) {
      return plan(declared, await readTaskDef(declared.name, options), diffTaskDef)
    },

    async applyTaskDef(planned, { signal } = {}) {
      const { action, declared } = planned
      if (action === 'keep') return
      const about = `"${declared.name}"`
      if (action === 'create') {
        const json = [declared]
        const path = '/api/metadata/taskdefs'
        await client.call({ operation: 'registerTaskDefs', method: 'POST', path, json, about, signal })
        return
      }
      const path = '/api/metadata/taskdefs'
      const body = await client.call({
        operation: 'updateTaskDef',
        method: 'PUT',
        path,
        // An update replaces everything; schemas are not ours to take away.
        json: { ...schemasOf(planned.registered), ...declared },
        about,
        signal,
      })
      if (body === undefined) throw goneMeanwhile('task', declared.name)
    },

    async planWorkflowDef(declared, options) {
      const version = declared.version ?? 1
      const registered = await readWorkflowDef(declared.name, { ...options, version })
      return plan({ ...declared, version }, registered, diffWorkflowDef)
    },

    async applyWorkflowDef({ action, declared }, { signal } = {}) {
      if (action === 'keep') return
      const about = `"${declared.name}"`
      const path = '/api/metadata/workflow'
      if (action === 'create') {
        await client.call({
          operation: 'registerWorkflowDef',
          method: 'POST',
          path,
          json: declared,
          about,
          signal,
        })
        return
      }
      const json = [declared]
      const body = await client.call({
        operation: 'updateWorkflowDefs',
        method: 'PUT',
        path,
        json,
        about,
        signal,
      })
      const problem = fieldOf(fieldOf(body, 'bulkErrorResults'), declared.name)
      if (problem === undefined) return
      throw new RefusedError(
        'conductor/definition-refused',
        `replace the workflow definition ${about}: ${JSON.stringify(problem)}`,
      )
    },

    async startWorkflow(start, { signal } = {}) {
      if (start.input !== undefined) requirePayloadFits('workflow input', start.input)
      const json: components['schemas']['WorkflowStart'] = start
      const about = `"${start.name}"`
      const body = await client.call({
        operation: 'startWorkflow',
        method: 'POST',
        path: '/api/workflow',
        json,
        about,
        signal,
      })
      if (body === undefined) throw notDefined(start)
      const id = typeof body === 'string' ? body.trim().replaceAll('"', '') : ''
      if (/^[\w-]+$/.test(id)) return id as WorkflowId
      throw strangeBody('startWorkflow', about, 'the answer is no workflow id')
    },

    async terminateWorkflow(workflowId, reason, { signal } = {}) {
      await client.call({
        operation: 'terminateWorkflow',
        method: 'DELETE',
        path: `/api/workflow/${segment(workflowId)}`,
        query: { reason },
        about: `"${workflowId}"`,
        signal,
      })
    },

    async readVersion({ signal } = {}) {
      const path = '/api/version'
      const body = await client.call({
        operation: 'getVersion',
        method: 'GET',
        path,
        about: 'in use',
        signal,
      })
      return String(body).trim()
    },

    async isHealthy({ signal } = {}) {
      const path = '/health'
      const body = await client.call({ operation: 'getHealth', method: 'GET', path, about: 'now', signal })
      return fieldOf(body, 'healthy') === true
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

function requireNamed(operation: OperationName, name: string, body: unknown): unknown {
  if (fieldOf(body, 'name') === name) return body
  throw strangeBody(operation, `"${name}"`, 'the answer is not the definition of that name')
}

function goneMeanwhile(what: string, name: string): MissingError {
  return new MissingError(
    'conductor/definition-gone',
    `replace the ${what} definition "${name}": it is not there any more`,
    { next: 'Compare again, and register it anew.' },
  )
}

function notDefined({ name, version }: WorkflowStart): MissingError {
  const which = version === undefined ? `"${name}"` : `"${name}" in version ${version}`
  return new MissingError(
    'conductor/no-such-workflow-def',
    `start the workflow ${which}: it is not defined`,
    {
      next: 'Register the workflow definition first.',
    },
  )
}

const SCHEMA_FIELDS: readonly string[] = ['inputSchema', 'outputSchema', 'enforceSchema']

/** What others have registered of a task's input and output: the contract of the server does not name these fields. */
function schemasOf(registered: TaskDef): Partial<TaskDef> {
  return Object.fromEntries(Object.entries(registered).filter(([field]) => SCHEMA_FIELDS.includes(field)))
}
