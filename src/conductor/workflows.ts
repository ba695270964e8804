/** Workflows of a Conductor as an operator sees them: read with their tasks, listed, paused, resumed, retried, ended. */

import { z } from 'zod'
import {
  WORKFLOW_STATUSES,
  type QueueCallOptions,
  type TaskId,
  type TaskRecord,
  type WorkflowId,
  type WorkflowStatus,
} from '../worker/ports.ts'
import type { JsonObject } from '../base/json.ts'
import type { ConductorClient } from './client.ts'
import { searchWorkflows, type FoundWorkflows, type WorkflowQuery } from './search-workflows.ts'
import { readBy, readTaskRecord } from './task-records.ts'

export interface WorkflowReading {
  readonly workflowId: WorkflowId
  readonly name: string
  readonly version: number | undefined
  readonly correlationId: string | undefined
  readonly parentId: WorkflowId | undefined
  readonly status: WorkflowStatus
  /** 0 where the server does not say. */
  readonly startTimeMs: number
  /** 0 while it has not ended. */
  readonly endTimeMs: number
  readonly input: JsonObject
  readonly output: JsonObject
  readonly reasonForIncompletion: string | undefined
  /** Those of its definition; empty where they are not known. */
  readonly steps: readonly JsonObject[]
  /** In the order in which they were scheduled. */
  readonly tasks: readonly WorkflowTaskReading[]
}

export interface WorkflowTaskReading extends TaskRecord {
  /** The workflow that this task runs. */
  readonly childId: WorkflowId | undefined
  /** Such as `SIMPLE`, where the server says. */
  readonly kind: string | undefined
  /** 0 while it has not ended, and where the server does not say. */
  readonly endTimeMs: number
}

/** What a worker has logged at once: one or more lines. */
export interface LoggedText {
  readonly text: string
  /** When it arrived; 0 where the server does not say. */
  readonly atMs: number
}

/** When workers polled for a task type last, in one domain. */
export interface LastPoll {
  readonly domain: string | undefined
  readonly atMs: number
}

/** The last one of a task type in one domain. */
export interface QueuePoll extends LastPoll {
  readonly taskType: string
  readonly workerId: string | undefined
}

/** How many tasks wait, by queue: `taskType`, or `domain:taskType`. */
export type QueueSizes = ReadonlyMap<string, number>

/** Each is `false` or `undefined` where there is no such workflow. */
export interface WorkflowOperator {
  read(workflowId: string, options?: QueueCallOptions): Promise<WorkflowReading | undefined>
  /** The lines of a task, in no certain order. */
  readLog(taskId: TaskId, options?: QueueCallOptions): Promise<readonly string[]>
  /** The same with times, the oldest first. */
  readTexts(taskId: TaskId, options?: QueueCallOptions): Promise<readonly LoggedText[]>
  /** One for each domain; none where it was never polled. */
  readLastPolls(taskType: string, options?: QueueCallOptions): Promise<readonly LastPoll[]>
  /** Of every task type that was ever polled. */
  readAllPolls(options?: QueueCallOptions): Promise<readonly QueuePoll[]>
  /** Those with tasks that wait, delayed ones among them; queues of the server itself too. */
  readQueueSizes(options?: QueueCallOptions): Promise<QueueSizes>
  /** At most `max`, the newest first, ended ones too. */
  search(query: WorkflowQuery, max: number, options?: QueueCallOptions): Promise<FoundWorkflows>
  pause(workflowId: string, options?: QueueCallOptions): Promise<boolean>
  resume(workflowId: string, options?: QueueCallOptions): Promise<boolean>
  retry(workflowId: string, options?: QueueCallOptions): Promise<boolean>
  /** From this task on; it keeps its id, and what came after it is removed. */
  rerun(workflowId: string, from: TaskId, options?: QueueCallOptions): Promise<boolean>
  terminate(workflowId: string, reason: string, options?: QueueCallOptions): Promise<boolean>
}

const text = z.string().nullish()
const WORKFLOW = z.object({
  workflowId: z.string().min(1),
  status: z.enum(WORKFLOW_STATUSES),
  workflowName: text,
  workflowType: text,
  workflowVersion: z.number().int().nullish(),
  correlationId: text,
  parentWorkflowId: text,
  startTime: z.number().default(0),
  endTime: z.number().default(0),
  input: z.record(z.string(), z.unknown()).default({}),
  output: z.record(z.string(), z.unknown()).default({}),
  reasonForIncompletion: text,
  workflowDefinition: z.object({ tasks: z.array(z.record(z.string(), z.unknown())).nullish() }).nullish(),
  tasks: z.array(z.unknown()).default([]),
})
const POLL = { domain: text, lastPollTime: z.number().default(0) }
const POLLS = z.array(z.object(POLL))
const ALL_POLLS = z.array(z.object({ ...POLL, queueName: z.string(), workerId: text }))
const SIZES = z.record(z.string(), z.number())
const STEP = z.object({
  subWorkflowId: text,
  outputData: z.object({ subWorkflowId: text }).nullish(),
  workflowTask: z.object({ type: text }).nullish(),
  endTime: z.number().default(0),
})
const LINES = z.array(z.object({ log: z.string(), createdTime: z.number().default(0) }))

export function createWorkflowOperator(client: ConductorClient): WorkflowOperator {
  const act = async (
    operation: 'pauseWorkflow' | 'resumeWorkflow' | 'retryWorkflow',
    workflowId: string,
    { signal }: QueueCallOptions = {},
  ): Promise<boolean> =>
    (await client.call({ operation, path: { workflowId }, signal }, () => true as const)) ?? false
  return {
    read: (workflowId, { signal } = {}) =>
      client.call(
        { operation: 'getWorkflow', path: { workflowId }, query: { includeTasks: true }, signal },
        readWorkflow,
      ),
    readLog: async (taskId, { signal } = {}) =>
      ((await client.call({ operation: 'getTaskLog', path: { taskId }, signal }, readLines)) ?? []).map(
        ({ text: line }) => line,
      ),
    readTexts: async (taskId, { signal } = {}) =>
      [...((await client.call({ operation: 'getTaskLog', path: { taskId }, signal }, readLines)) ?? [])].sort(
        (one, other) => one.atMs - other.atMs,
      ),
    readLastPolls: async (taskType, { signal } = {}) =>
      (await client.call({ operation: 'getPollData', query: { taskType }, signal }, readPolls)) ?? [],
    readAllPolls: async ({ signal } = {}) =>
      (await client.call({ operation: 'getAllPollData', signal }, readAllPolls)) ?? [],
    readQueueSizes: async ({ signal } = {}) =>
      (await client.call({ operation: 'getQueueSizes', signal }, readSizes)) ?? new Map<string, number>(),
    search: (query, max, { signal } = {}) => searchWorkflows(client, query, { max, signal }),
    pause: (workflowId, options) => act('pauseWorkflow', workflowId, options),
    resume: (workflowId, options) => act('resumeWorkflow', workflowId, options),
    retry: (workflowId, options) => act('retryWorkflow', workflowId, options),
    rerun: async (workflowId, from, { signal } = {}) =>
      (await client.call(
        { operation: 'rerunWorkflow', path: { workflowId }, json: { reRunFromTaskId: from }, signal },
        () => true as const,
      )) ?? false,
    terminate: async (workflowId, reason, { signal } = {}) =>
      (await client.call(
        { operation: 'terminateWorkflow', path: { workflowId }, query: { reason }, signal },
        () => true as const,
      )) ?? false,
  }
}

function readWorkflow(body: unknown): WorkflowReading {
  const found = readBy(WORKFLOW, body, 'the workflow')
  return {
    workflowId: found.workflowId as WorkflowId,
    name: found.workflowName ?? found.workflowType ?? '',
    version: found.workflowVersion ?? undefined,
    correlationId: found.correlationId ?? undefined,
    parentId: (found.parentWorkflowId ?? undefined) as WorkflowId | undefined,
    status: found.status,
    startTimeMs: found.startTime,
    endTimeMs: found.endTime,
    // They were parsed from JSON.
    input: found.input as JsonObject,
    output: found.output as JsonObject,
    reasonForIncompletion: found.reasonForIncompletion ?? undefined,
    steps: (found.workflowDefinition?.tasks ?? []) as readonly JsonObject[],
    tasks: found.tasks.map(readTask).sort((one, other) => one.seq - other.seq),
  }
}

function readTask(body: unknown): WorkflowTaskReading {
  const { subWorkflowId, outputData, workflowTask, endTime } = readBy(STEP, body, 'a task')
  // A child is named by the task from its start on, or by its output only.
  const childId = subWorkflowId ?? outputData?.subWorkflowId ?? undefined
  return {
    ...readTaskRecord(body),
    childId: childId as WorkflowId | undefined,
    kind: workflowTask?.type ?? undefined,
    endTimeMs: endTime,
  }
}

function readSizes(body: unknown): QueueSizes {
  return new Map(Object.entries(readBy(SIZES, body, 'the sizes')).filter(([, size]) => size > 0))
}

function readPolls(body: unknown): readonly LastPoll[] {
  return readBy(POLLS, body, 'the polls').map(({ domain, lastPollTime: atMs }) => ({
    domain: domain ?? undefined,
    atMs,
  }))
}

function readAllPolls(body: unknown): readonly QueuePoll[] {
  return readBy(ALL_POLLS, body, 'the polls').map(({ queueName, workerId, domain, lastPollTime: atMs }) => ({
    taskType: queueName,
    workerId: workerId ?? undefined,
    domain: domain ?? undefined,
    atMs,
  }))
}

function readLines(body: unknown): readonly LoggedText[] {
  // Without any the answer has no body.
  if (body === '' || body === undefined) return []
  return readBy(LINES, body, 'the log').map(({ log, createdTime }) => ({ text: log, atMs: createdTime }))
}
