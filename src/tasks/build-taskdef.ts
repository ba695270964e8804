/** The TaskDef that Conductor gets for a task, with JSON Schemas of its input and output. */

import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { InvalidError, messageOf } from '../base/errors.ts'
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
  return {
    name: task.name,
    ...defined({ description: task.description }),
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
    ...defined({
      concurrentExecLimit: limits.concurrent,
      rateLimitPerFrequency: limits.rate?.count,
      rateLimitFrequencyInSeconds: limits.rate?.perSeconds,
    }),
    inputKeys: keysOf(task, 'params'),
    outputKeys: keysOf(task, 'result'),
    inputSchema: schemaOf(task, 'params'),
    outputSchema: schemaOf(task, 'result'),
  }
}

type Side = 'params' | 'result'

function keysOf({ workspace }: TaskDefinition, side: Side): readonly string[] {
  return workspace === undefined ? [side] : ['workspace', side]
}

function schemaOf(task: TaskDefinition, side: Side): SchemaDocument {
  const workspace = task.workspace === undefined ? {} : { workspace: WORKSPACE_SCHEMA }
  return {
    name: `${task.name}.${side === 'params' ? 'input' : 'output'}`,
    version: 1,
    type: 'JSON',
    data: {
      type: 'object',
      properties: { ...workspace, [side]: jsonSchemaOf(task, side) },
      required: keysOf(task, side),
      // A workflow definition may pass more inputs than the task reads.
      additionalProperties: side === 'params',
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

function jsonSchemaOf(task: TaskDefinition, side: Side): JsonObject {
  try {
    const schema = z.toJSONSchema(task[side], {
      target: 'draft-7',
      io: side === 'params' ? 'input' : 'output',
    })
    return normalise(schema)
  } catch (error) {
    throw new InvalidError(
      'worker/schema-not-expressible',
      `write the ${side} of task "${task.name}" as JSON Schema: ${messageOf(error)}`,
      {
        cause: error,
        next: 'Use a schema of plain JSON values, without dates, maps, functions or transforms.',
      },
    )
  }
}

/** Removes the bounds of safe integers, which zod adds to every integer; they differ from other languages. */
function normalise(schema: object): JsonObject {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    const isBound =
      (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
      (key === 'minimum' && value === Number.MIN_SAFE_INTEGER)
    return key === '$schema' || isBound ? undefined : value
  }) as JsonObject
}
