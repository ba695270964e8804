/** Polling for tasks, posting results, renewing leases, logs: what workers need. */

import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { followSignals } from '../../base/abort-signals.ts'
import { systemClock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { CONDUCTOR_PAYLOAD_MAX_BYTES, CONDUCTOR_POLL_WAIT_MAX_MS } from '../../worker/limits.ts'
import {
  POLLS_WOKEN_HEADER,
  type PollRequest,
  type ResultStatus,
  type TaskId,
  type TaskRecord,
  type WorkflowId,
} from '../../worker/ports.ts'
import { readBoundedText, readJsonBody } from '../http/read-body.ts'
import { jsonObject, readFields } from '../http/read-request.ts'
import { countQueues } from './count-queues.ts'
import { LastPolls } from './last-polls.ts'
import type { ServedQueue } from './served-queue.ts'
import { refusal } from './refusals.ts'
import { renderTask } from './render-task.ts'

export interface Closing {
  /** Aborted when the server closes: waiting polls are answered. */
  readonly closing?: AbortSignal | undefined
}

const POLL_COUNT_MAX = 100
const POLL_WAIT_MS = 100

const text = z.string()
const RESULT_STATUSES = ['COMPLETED', 'FAILED', 'FAILED_WITH_TERMINAL_ERROR', 'IN_PROGRESS'] as const

/** Fields that clients of Conductor also send are known, but have no effect, as there. */
const UPDATE = z.looseObject({
  workflowInstanceId: text.min(1),
  taskId: text.min(1),
  status: z.enum(RESULT_STATUSES),
  workerId: text.nullish(),
  outputData: jsonObject().nullish(),
  reasonForIncompletion: text.nullish(),
  callbackAfterSeconds: z.number().min(0).nullish(),
  extendLease: z.boolean().nullish(),
  logs: z.array(z.looseObject({ log: text })).nullish(),
})
type Update = z.output<typeof UPDATE>

export function addTaskRoutes(app: Hono, { queue, control, closing }: ServedQueue & Closing): void {
  const polls = new LastPolls(systemClock)
  const pollUntilClosed = async (poll: PollRequest, asked: Context): Promise<readonly TaskRecord[]> => {
    const stop = followSignals(asked.req.raw.signal, closing)
    try {
      return await queue.poll(poll, { signal: stop.signal })
    } catch (error) {
      // It has claimed nothing: an aborted poll rejects only before that.
      if (closing?.aborted === true && stop.signal.aborted) return []
      throw error
    } finally {
      stop.release()
    }
  }
  app.get('/api/tasks/poll/batch/:type', async (asked) => {
    const poll = polls.noted(pollOf(asked))
    const tasks = await pollUntilClosed(poll, asked)
    asked.header(POLLS_WOKEN_HEADER, 'true')
    return asked.json(tasks.map(renderTask))
  })
  app.get('/api/tasks/poll/:type', async (asked) => {
    const poll = polls.noted(pollOf(asked))
    const [task] = await pollUntilClosed({ ...poll, count: 1 }, asked)
    return task === undefined ? asked.body(null, 204) : asked.json(renderTask(task))
  })
  app.get('/api/tasks/queue/polldata', (asked) => asked.json(polls.of(asked.req.query('taskType') ?? '')))
  app.get('/api/tasks/queue/polldata/all', (asked) => asked.json(polls.all()))
  app.get('/api/tasks/queue/all', async (asked) => asked.json(await countQueues({ queue, control })))
  app.post('/api/tasks', async (asked) => {
    const update = await readUpdate(asked)
    return (await apply(queue, update)) ? asked.text(update.taskId) : missingTask(update.taskId)
  })
  // The answer may carry the next task of this type. It never does: a worker would hold a task that it did not poll for.
  app.post('/api/tasks/update-v2', async (asked) => {
    const update = await readUpdate(asked)
    return (await apply(queue, update)) ? asked.body(null, 204) : missingTask(update.taskId)
  })
  app.get('/api/tasks/:id', async (asked) => {
    const record = await queue.readTask(asked.req.param('id') as TaskId)
    return record === undefined ? missingTask(asked.req.param('id')) : asked.json(renderTask(record))
  })
  app.post('/api/tasks/:id/log', async (asked) => {
    const line = await readBoundedText(asked.req.raw, CONDUCTOR_PAYLOAD_MAX_BYTES)
    await queue.appendLog(asked.req.param('id') as TaskId, line)
    return asked.body(null, 200)
  })
  app.get('/api/tasks/:id/log', async (asked) => {
    const taskId = asked.req.param('id') as TaskId
    const lines = await control.readLogs(taskId)
    return lines.length === 0
      ? asked.body(null, 204)
      : asked.json(lines.map((log) => ({ log, taskId, createdTime: 0 })))
  })
  app.post('/api/tasks/queue/requeue/:type', async (asked) => {
    await control.requeue(asked.req.param('type'))
    return asked.text('')
  })
  // By name instead of id, for whoever completes a HUMAN or WAIT task.
  app.post('/api/tasks/:workflow/:reference/:status', async (asked) => {
    const { workflow, reference, status } = asked.req.param()
    const output = (await readJsonBody(asked.req.raw, CONDUCTOR_PAYLOAD_MAX_BYTES)) as JsonObject
    const view = await control.readWorkflow(workflow as WorkflowId)
    const open = view?.tasks.findLast((task) => task.referenceTaskName === reference && isOpen(task))
    if (open === undefined) return asked.text('')
    const workerId = asked.req.query('workerid') ?? ''
    const { taskId, workflowId } = open
    await queue.postResult({ taskId, workflowId, workerId, status: statusOf(status), output })
    return asked.text(open.taskId)
  })
}

function pollOf(asked: Context) {
  const count = numberOf(asked, 'count', 1)
  const waitMs = numberOf(asked, 'timeout', POLL_WAIT_MS)
  if (!Number.isInteger(count) || count < 1 || count > POLL_COUNT_MAX)
    throw badPoll(`count must be a whole number from 1 to ${POLL_COUNT_MAX}`)
  if (!(waitMs >= 0 && waitMs <= CONDUCTOR_POLL_WAIT_MAX_MS))
    throw badPoll(`timeout must be from 0 to ${CONDUCTOR_POLL_WAIT_MAX_MS} ms`)
  return {
    taskType: asked.req.param('type') ?? '',
    workerId: asked.req.query('workerid') ?? '',
    ...{ count, waitMs },
    ...defined({ domain: asked.req.query('domain') }),
  }
}

function numberOf(asked: Context, name: string, otherwise: number): number {
  const given = asked.req.query(name)
  return given === undefined ? otherwise : Number(given)
}

function badPoll(why: string): InvalidError {
  return new InvalidError('task-queue/bad-poll', `poll: ${why}`, { next: 'Correct the query.' })
}

async function readUpdate(asked: Context): Promise<Update> {
  return readFields('the update', UPDATE, await readJsonBody(asked.req.raw, CONDUCTOR_PAYLOAD_MAX_BYTES))
}

/** `false`: the task does not exist any more. */
async function apply(queue: ServedQueue['queue'], update: Update): Promise<boolean> {
  const taskId = update.taskId as TaskId
  if (update.extendLease === true) {
    const record = await queue.readTask(taskId)
    return record !== undefined && queue.renewLease(record)
  }
  const { reasonForIncompletion, callbackAfterSeconds, logs } = update
  return queue.postResult({
    taskId,
    workflowId: update.workflowInstanceId as WorkflowId,
    workerId: update.workerId ?? '',
    status: update.status,
    output: update.outputData ?? {},
    ...defined({
      reasonForIncompletion: reasonForIncompletion ?? undefined,
      callbackAfterSeconds: callbackAfterSeconds ?? undefined,
      logs: logs?.map(({ log }) => log),
    }),
  })
}

function isOpen({ status }: TaskRecord): boolean {
  return status === 'SCHEDULED' || status === 'IN_PROGRESS'
}

function statusOf(given: string): ResultStatus {
  const status = RESULT_STATUSES.find((known) => known === given)
  if (status !== undefined) return status
  throw new InvalidError('api/bad-parameter', `complete the task: "${given}" is not a status of a result`, {
    next: `Use one of ${RESULT_STATUSES.join(', ')}.`,
  })
}

function missingTask(taskId: string): Response {
  return refusal(404, `No such task found by id: ${taskId}`)
}
