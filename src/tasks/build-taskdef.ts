/** The TaskDef that Conductor gets for a task, with JSON Schemas of its input and output. */

import { z } from 'zod'
import { InvalidError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { TaskDefinition } from './task-definition.ts'

/** The fields of a TaskDef that perago sets; the server adds more. */
export interface TaskDefDocument {
  readonly name: string
  readonly description?: string
  readonly ownerEmail: string
  readonly retryCount: number
  readonly retryLogic: string
  readonly retryDelaySeconds: number
  readonly maxRetryDelaySeconds: number
  readonly backoffJitterMs: number
  readonly timeoutPolicy: string
  readonly timeoutSeconds: number
  readonly responseTimeoutSeconds: number
  readonly totalTimeoutSeconds: number
  readonly pollTimeoutSeconds?: number
  readonly concurrentExecLimit?: number
  readonly rateLimitPerFrequency?: number
  readonly rateLimitFrequencyInSeconds?: number
  readonly inputKeys: readonly string[]
  readonly outputKeys: readonly string[]
  readonly inputSchema: SchemaDocument
  readonly outputSchema: SchemaDocument
}

export interface SchemaDocument {
  readonly name: string
  readonly version: number
  readonly type: 'JSON'
  readonly data: JsonObject
}

/** Builds the document that `perago extract` writes and `perago register` sends. */
export function buildTaskDef(task: TaskDefinition): TaskDefDocument {
  const { retry, timeout, limits } = task.controls
  const hasWorkspace = task.workspace !== undefined
  const inputs = hasWorkspace ? ['workspace', 'params'] : ['params']
  const outputs = hasWorkspace ? ['workspace', 'result'] : ['result']
  return {
    name: task.name,
    ...(task.description === undefined ? {} : { description: task.description }),
    ownerEmail: task.owner,
    retryCount: retry.count,
    retryLogic: retry.logic,
    retryDelaySeconds: retry.delaySeconds,
    maxRetryDelaySeconds: retry.maxDelaySeconds,
    backoffJitterMs: retry.jitterMs,
    timeoutPolicy: timeout.policy,
    timeoutSeconds: timeout.runSeconds,
    responseTimeoutSeconds: timeout.responseSeconds,
    totalTimeoutSeconds: timeout.totalSeconds,
    // A poll timeout uses up retries while no worker runs, so it is sent only if it is set.
    ...(timeout.pollSeconds === 0 ? {} : { pollTimeoutSeconds: timeout.pollSeconds }),
    ...(limits.concurrent === undefined ? {} : { concurrentExecLimit: limits.concurrent }),
    ...(limits.rate === undefined
      ? {}
      : { rateLimitPerFrequency: limits.rate.count, rateLimitFrequencyInSeconds: limits.rate.perSeconds }),
    inputKeys: inputs,
    outputKeys: outputs,
    inputSchema: {
      name: `${task.name}.input`,
      version: 1,
      type: 'JSON',
      data: objectSchema({
        properties: {
          ...(hasWorkspace ? { workspace: WORKSPACE_SCHEMA } : {}),
          params: jsonSchemaOf(task, 'params'),
        },
        required: inputs,
        // A workflow definition may pass more inputs than the task reads.
        additionalProperties: true,
      }),
    },
    outputSchema: {
      name: `${task.name}.output`,
      version: 1,
      type: 'JSON',
      data: objectSchema({
        properties: {
          ...(hasWorkspace ? { workspace: WORKSPACE_SCHEMA } : {}),
          result: jsonSchemaOf(task, 'result'),
        },
        required: outputs,
        additionalProperties: false,
      }),
    },
  }
}

const WORKSPACE_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    repository: { type: 'string', minLength: 1 },
    branch: { type: 'string', minLength: 1 },
    refType: { const: 'commit', type: 'string' },
    ref: { type: 'string', minLength: 1 },
  },
  required: ['repository', 'branch', 'refType', 'ref'],
  additionalProperties: false,
}

function objectSchema(parts: {
  readonly properties: JsonObject
  readonly required: readonly string[]
  readonly additionalProperties: boolean
}): JsonObject {
  return { type: 'object', ...parts }
}

function jsonSchemaOf(task: TaskDefinition, side: 'params' | 'result'): JsonObject {
  try {
    const schema = z.toJSONSchema(task[side], {
      target: 'draft-7',
      io: side === 'params' ? 'input' : 'output',
    })
    return normalise(schema as unknown as JsonObject)
  } catch (error) {
    throw new InvalidError(
      'worker/schema-not-expressible',
      `write the ${side} of task "${task.name}" as JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
        next: 'Use a schema of plain JSON values, without dates, maps, functions or transforms.',
      },
    )
  }
}

/** Removes the bounds of safe integers, which zod adds to every integer; they differ from other languages. */
function normalise(value: JsonObject): JsonObject {
  const out: Record<string, JsonObject[string]> = {}
  for (const [key, entry] of Object.entries(value)) {
    if (key === '$schema') continue
    if (key === 'maximum' && entry === Number.MAX_SAFE_INTEGER) continue
    if (key === 'minimum' && entry === Number.MIN_SAFE_INTEGER) continue
    out[key] = normaliseValue(entry)
  }
  return out
}

function normaliseValue(value: JsonObject[string]): JsonObject[string] {
  if (Array.isArray(value)) return value.map((entry: JsonObject[string]) => normaliseValue(entry))
  if (typeof value === 'object' && value !== null) return normalise(value as JsonObject)
  return value
}
