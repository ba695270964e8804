/**
 * The task queue of a Conductor server, over HTTP. It claims, renews, posts and reads; the worker decides which attempt is
 * current and what to do when an answer is lost.
 */

import { systemClock, type Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { InvalidError } from '../base/errors.ts'
import { CONDUCTOR_SEARCH_PAGE } from './limits.ts'
import { CONDUCTOR_LOGS_PER_RESULT_MAX, CONDUCTOR_POLL_WAIT_MAX_MS } from '../worker/limits.ts'
import {
  POLLS_WOKEN_HEADER,
  WORKFLOW_STATUSES,
  type OpenWorkflow,
  type PostOptions,
  type TaskQueue,
  type TaskRecord,
  type TaskResult,
  type WorkflowStatus,
} from '../worker/ports.ts'
import { ShapeError } from '../remote/failures.ts'
import { fieldOf, type ConductorClient } from './client.ts'
import type { components } from './generated/conductor-api.ts'
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
  let findsLate: boolean | undefined

  return {
    get findsLate() {
      return findsLate === true
    },

    async poll({ taskType, workerId, domain, count, waitMs }, { signal } = {}) {
      const serverWaitMs = requirePollable({ count, waitMs })
      const query = { workerid: workerId, count, timeout: serverWaitMs, domain }
      const tasks = await client.call(
        { operation: 'pollTasks', path: { taskType }, query, serverWaitMs, signal },
        (body, head) => {
          findsLate = head.header(POLLS_WOKEN_HEADER) === undefined
          return readTasks(body)
        },
      )
      return tasks ?? []
    },

    readTask: (taskId, { signal } = {}) =>
      client.call({ operation: 'getTask', path: { taskId }, signal }, readTaskRecord),

    readWorkflowStatus: (workflowId, { signal } = {}) =>
      client.call(
        { operation: 'getWorkflow', path: { workflowId }, query: { includeTasks: false }, signal },
        readStatus,
      ),

    async readOpenWorkflows(max, { signal } = {}) {
      const workflows: OpenWorkflow[] = []
      for (;;) {
        const start = workflows.length
        const size = Math.min(max - start, CONDUCTOR_SEARCH_PAGE)
        const page = await readOpenPage(client, { start, size }, signal)
        workflows.push(...page.workflows)
        const isEnd = page.workflows.length === 0 || workflows.length >= page.total
        if (isEnd || workflows.length >= max) return { workflows, isWhole: workflows.length >= page.total }
      }
    },

    renewLease({ taskId, workflowId, workerId }, options) {
      const json: TaskUpdate = {
        taskId,
        workflowInstanceId: workflowId,
        workerId,
        status: 'IN_PROGRESS',
        extendLease: true,
      }
      return update(client, 'extendLease', json, options)
    },

    async postResult(result, options) {
      requirePayloadFits('task output', result.output)
      return update(client, 'updateTask', renderResult(result, clock.now()), options)
    },

    async appendLog(taskId, line, { signal } = {}) {
      // The server refuses an empty body.
      if (line === '') return
      const headers = { 'content-type': 'text/plain; charset=utf-8' }
      await client.call({ operation: 'addTaskLog', path: { taskId }, headers, body: line, signal })
    },
  }
}

async function update(
  client: ConductorClient,
  operation: 'updateTask' | 'extendLease',
  json: TaskUpdate,
  options: PostOptions = {},
): Promise<boolean> {
  const { taskId } = json
  // Conductor responds with the id of the task. Anything else is not from Conductor, and the update may have arrived.
  const readId = (body: unknown): true => {
    if (typeof body === 'string' && body.trim().replaceAll('"', '') === taskId) return true
    throw new ShapeError('it is not the id of the task')
  }
  return (await client.call({ operation, json, target: { taskId }, ...options }, readId)) ?? false
}

function readTasks(body: unknown): readonly TaskRecord[] {
  // A server that has nothing may answer 204 without a body.
  if (body === '') return []
  if (!Array.isArray(body)) throw new ShapeError('it is not a list')
  return body.map(readTaskRecord)
}

function readStatus(body: unknown): WorkflowStatus {
  const status = fieldOf(body, 'status')
  const known = WORKFLOW_STATUSES.find((candidate) => candidate === status)
  if (known === undefined) throw new ShapeError(`the status is ${JSON.stringify(status)}`)
  return known
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
  const { reasonForIncompletion, callbackAfterSeconds, logs = [] } = result
  return {
    taskId: result.taskId,
    workflowInstanceId: result.workflowId,
    workerId: result.workerId,
    status: result.status,
    outputData: result.output,
    ...defined({ reasonForIncompletion, callbackAfterSeconds }),
    ...(logs.length > 0 && { logs: foldLogs(logs).map((log) => ({ log, createdTime: now.getTime() })) }),
  }
}

/** The server drops all but the first ten lines of a result without a word: the tenth line holds all that follow. */
function foldLogs(logs: readonly string[]): readonly string[] {
  if (logs.length <= CONDUCTOR_LOGS_PER_RESULT_MAX) return logs
  const whole = CONDUCTOR_LOGS_PER_RESULT_MAX - 1
  return [...logs.slice(0, whole), logs.slice(whole).join('\n')]
}
