/** Reads a task as Conductor writes it. */

import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { TASK_STATUSES, type TaskId, type TaskRecord, type WorkflowId } from '../worker/ports.ts'
import { ShapeError } from '../remote/failures.ts'
import type { JsonObject } from '../base/json.ts'
import type { components } from './generated/conductor-api.ts'

type ApiTask = components['schemas']['Task']

const count = z.number().int().default(0)
const payload = z.record(z.string(), z.unknown()).default({})
// Absent and null mean the same; which one a server writes depends on its configuration.
const text = z.string().nullish()

const TASK = z.object({
  taskId: z.string().min(1),
  workflowInstanceId: z.string().min(1),
  workflowType: text,
  status: z.enum(TASK_STATUSES),
  taskType: z.string().min(1),
  taskDefName: text,
  referenceTaskName: z.string(),
  retryCount: count,
  pollCount: count,
  seq: count,
  iteration: count,
  scheduledTime: count,
  startTime: count,
  updateTime: count,
  responseTimeoutSeconds: count,
  retried: z.boolean().default(false),
  workerId: text,
  correlationId: text,
  domain: text,
  reasonForIncompletion: text,
  inputData: payload,
  outputData: payload,
  externalInputPayloadStoragePath: text,
  externalOutputPayloadStoragePath: text,
  // Of a server of ours; Conductor has none.
  traceparent: text,
}) satisfies z.ZodType<unknown, Partial<Record<keyof ApiTask | 'traceparent', unknown>>>

export function readTaskRecord(body: unknown): TaskRecord {
  const task = readBy(TASK, body, 'a task')
  return {
    taskId: task.taskId as TaskId,
    workflowId: task.workflowInstanceId as WorkflowId,
    workflowType: task.workflowType ?? '',
    status: task.status,
    taskType: task.taskType,
    taskDefName: task.taskDefName ?? task.taskType,
    referenceTaskName: task.referenceTaskName,
    retryCount: task.retryCount,
    pollCount: task.pollCount,
    seq: task.seq,
    iteration: task.iteration,
    scheduledTimeMs: task.scheduledTime,
    startTimeMs: task.startTime,
    updateTimeMs: task.updateTime,
    responseTimeoutSeconds: task.responseTimeoutSeconds,
    isRetried: task.retried,
    // Never the worker id of a claim of ours, so that such a record belongs to no worker.
    workerId: task.workerId ?? '',
    correlationId: task.correlationId ?? undefined,
    domain: task.domain ?? undefined,
    reasonForIncompletion: task.reasonForIncompletion ?? undefined,
    // It was parsed from JSON.
    input: task.inputData as JsonObject,
    output: task.outputData as JsonObject,
    externalInputPath: task.externalInputPayloadStoragePath ?? undefined,
    externalOutputPath: task.externalOutputPayloadStoragePath ?? undefined,
    ...defined({ traceparent: task.traceparent ?? undefined }),
  }
}

/** What a schema makes of a body; an error names the first field that is wrong. */
export function readBy<T>(schema: z.ZodType<T>, body: unknown, what: string): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [first] = parsed.error.issues
  const field = first?.path.join('.') ?? ''
  throw new ShapeError(`${what} has a wrong field "${field}": ${first?.message ?? 'it cannot be read'}`)
}
