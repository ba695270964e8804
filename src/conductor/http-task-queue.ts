/**
 * The task queue of a Conductor server, over HTTP. Claims, renews, posts and reads, and nothing else: which attempt is
 * current, and what to do when an answer is lost, is decided by the worker.
 */

import { systemClock, type Clock } from '../base/clock.ts'
import { InvalidError } from '../base/errors.ts'
import { CONDUCTOR_SEARCH_PAGE } from './limits.ts'
import { CONDUCTOR_LOGS_PER_RESULT_MAX, CONDUCTOR_POLL_WAIT_MAX_MS } from '../worker/limits.ts'
import {
  WORKFLOW_STATUSES,
  type OpenWorkflow,
  type TaskQueue,
  type TaskRecord,
  type TaskResult,
  type WorkflowStatus,
} from '../worker/ports.ts'
import { fieldOf, segment, strangeBody, type ConductorClient } from './client.ts'
import type { components } from './generated/conductor-api.ts'
import type { OperationName } from './operations.ts'
import { requirePayloadFits } from '../worker/payload-limits.ts'
import { readTaskRecord } from './task-records.ts'
import { readOpenPage } from './open-workflows.ts'

type TaskUpdate = components['schemas']['TaskUpdate']

/**
 * ```ts
 * const queue = createHttpTaskQueue(openConductorClient({ endpoint: 'http://localhost:8080/api' }))
 * ```
 */
export function createHttpTaskQueue(
  client: ConductorClient,
  options: { readonly clock?: Clock } = {},
): TaskQueue {
  const { clock = systemClock } = options

  return {
    async poll({ taskType, workerId, domain, count, waitMs }, { signal } = {}) {
      const serverWaitMs = requirePollable({ count, waitMs })
      const about = `of type "${taskType}"`
      const body = await client.call({
        operation: 'pollTasks',
        method: 'GET',
        path: `/api/tasks/poll/batch/${segment(taskType)}`,
        query: { workerid: workerId, count, timeout: serverWaitMs, domain },
        about,
        serverWaitMs,
        signal,
      })
      // A server that has nothing may say so with 204 and no body.
      if (body === '' || body === undefined) return []
      if (!Array.isArray(body)) throw strangeBody('pollTasks', about, 'the answer is no list')
      return body.map((task: unknown) => requireTask('pollTasks', about, task))
    },

    async readTask(taskId, { signal } = {}) {
      const about = `"${taskId}"`
      const path = `/api/tasks/${segment(taskId)}`
      const body = await client.call({ operation: 'getTask', method: 'GET', path, about, signal })
      return body === undefined ? undefined : requireTask('getTask', about, body)
    },

    async readWorkflowStatus(workflowId, { signal } = {}) {
      const about = `"${workflowId}"`
      const body = await client.call({
        operation: 'getWorkflow',
        method: 'GET',
        path: `/api/workflow/${segment(workflowId)}`,
        query: { includeTasks: false },
        about,
        signal,
      })
      if (body === undefined) return undefined
      const status = fieldOf(body, 'status')
      const known = WORKFLOW_STATUSES.find((candidate): candidate is WorkflowStatus => candidate === status)
      if (known !== undefined) return known
      throw strangeBody('getWorkflow', about, `its status is ${JSON.stringify(status)}`)
    },

    async readOpenWorkflows(max, { signal } = {}) {
      const workflows: OpenWorkflow[] = []
      for (;;) {
        const start = workflows.length
        const page = await readOpenPage(
          client,
          { start, size: Math.min(max - start, CONDUCTOR_SEARCH_PAGE) },
          signal,
        )
        workflows.push(...page.workflows)
        const isEnd = page.workflows.length === 0 || workflows.length >= page.total
        if (isEnd || workflows.length >= max) return { workflows, isWhole: workflows.length >= page.total }
      }
    },

    async renewLease({ taskId, workflowId, workerId }, { signal } = {}) {
      const json: TaskUpdate = {
        taskId,
        workflowInstanceId: workflowId,
        workerId,
        status: 'IN_PROGRESS',
        extendLease: true,
      }
      return requireTaken('extendLease', taskId, await update(client, 'extendLease', json, signal))
    },

    async postResult(result, { signal } = {}) {
      requirePayloadFits('task output', result.output)
      const json = renderResult(result, clock.now())
      return requireTaken('updateTask', result.taskId, await update(client, 'updateTask', json, signal))
    },

    async appendLog(taskId, line, { signal } = {}) {
      // An empty body is refused as a missing one.
      if (line === '') return
      await client.call({
        operation: 'addTaskLog',
        method: 'POST',
        path: `/api/tasks/${segment(taskId)}/log`,
        text: line,
        about: `"${taskId}"`,
        signal,
      })
    },
  }
}

function update(
  client: ConductorClient,
  operation: 'updateTask' | 'extendLease',
  json: TaskUpdate,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  return client.call({
    operation,
    method: 'POST',
    path: '/api/tasks',
    json,
    about: `"${json.taskId}"`,
    signal,
  })
}

/** Conductor answers with the task's id. Anything else was said by somebody else, and the update may have arrived. */
function requireTaken(operation: OperationName, taskId: string, body: unknown): boolean {
  if (body === undefined) return false
  if (typeof body === 'string' && body.trim().replaceAll('"', '') === taskId) return true
  throw strangeBody(operation, `"${taskId}"`, 'the answer is not the id of the task')
}

function requireTask(operation: OperationName, about: string, body: unknown): TaskRecord {
  const record = readTaskRecord(body)
  if ('wrong' in record) throw strangeBody(operation, about, `a task cannot be read: ${record.wrong}`)
  return record
}

function requirePollable({ count, waitMs }: { readonly count: number; readonly waitMs: number }): number {
  if (Number.isInteger(count) && count >= 1 && waitMs >= 0 && waitMs <= CONDUCTOR_POLL_WAIT_MAX_MS)
    return Math.round(waitMs)
  throw new InvalidError(
    'conductor/bad-poll',
    `poll for ${count} tasks, waiting ${waitMs} ms: at least 1 task, and 0 to ${CONDUCTOR_POLL_WAIT_MAX_MS} ms`,
  )
}

function renderResult(result: TaskResult, now: Date): TaskUpdate {
  const { reasonForIncompletion, callbackAfterSeconds, logs } = result
  return {
    taskId: result.taskId,
    workflowInstanceId: result.workflowId,
    workerId: result.workerId,
    status: result.status,
    outputData: result.output,
    ...(reasonForIncompletion === undefined ? {} : { reasonForIncompletion }),
    ...(callbackAfterSeconds === undefined ? {} : { callbackAfterSeconds }),
    ...(logs === undefined || logs.length === 0
      ? {}
      : { logs: foldLogs(logs).map((log) => ({ log, createdTime: now.getTime() })) }),
  }
}

/** The server keeps the first ten lines of a result and says nothing about the others: what is more goes into the last. */
function foldLogs(logs: readonly string[]): readonly string[] {
  if (logs.length <= CONDUCTOR_LOGS_PER_RESULT_MAX) return logs
  const kept = CONDUCTOR_LOGS_PER_RESULT_MAX - 1
  return [...logs.slice(0, kept), logs.slice(kept).join('\n')]
}
