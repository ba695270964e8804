// The in-process queue behind the few calls that a worker makes of a Conductor: for processes, which cannot share it.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TaskId, WorkflowId } from '../../../src/fences/attempt-snapshot.ts'
import type { TestQueue } from '../../../src/testing/open-test-queue.ts'
import type { ResultStatus, TaskRecord } from '../../../src/worker/ports.ts'
import type { JsonObject } from '../../../src/base/json.ts'

export interface ConductorFront {
  /** With its `/api`. */
  readonly url: string
  close(): Promise<void>
}

/** `taskDefs` is what the server answers when it is asked for a definition. */
export async function serveTestQueue(
  queue: TestQueue,
  taskDefs: Readonly<Record<string, object>>,
): Promise<ConductorFront> {
  const server = createServer((request, response) => {
    answer(queue, taskDefs, request).then(
      ({ status, body }) => {
        const isText = typeof body === 'string'
        response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' })
        response.end(isText ? body : JSON.stringify(body))
      },
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

async function answer(
  queue: TestQueue,
  taskDefs: Readonly<Record<string, object>>,
  request: IncomingMessage,
): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://host')
  const text = await readText(request)
  const [, , ...path] = url.pathname.split('/').map(decodeURIComponent)
  const [room, first, second = ''] = path
  const missing = (what: string): Answer => ({
    status: 404,
    body: { status: 404, message: `${what} not found`, instance: 'test', retryable: false },
  })
  if (request.method === 'GET' && room === 'tasks' && first === 'poll') {
    const count = Number(url.searchParams.get('count'))
    const domain = url.searchParams.get('domain')
    const records = await queue.poll({
      taskType: path[3] ?? '',
      workerId: url.searchParams.get('workerid') ?? '',
      count,
      waitMs: Number(url.searchParams.get('timeout')),
      ...(domain === null ? {} : { domain }),
    })
    return { status: 200, body: records.map(render) }
  }
  if (request.method === 'GET' && room === 'tasks') {
    const task = await queue.readTask(first as TaskId)
    return task === undefined ? missing(`Task ${first ?? ''}`) : { status: 200, body: render(task) }
  }
  if (request.method === 'GET' && room === 'workflow' && first === 'search-v2') {
    const { workflows } = await queue.readOpenWorkflows(Number(url.searchParams.get('size')))
    const results = workflows.map(({ name, parentId, startTimeMs, steps, ...rest }) => ({
      ...rest,
      workflowName: name,
      parentWorkflowId: parentId,
      startTime: startTimeMs,
      workflowDefinition: { tasks: steps },
    }))
    return { status: 200, body: { totalHits: results.length, results } }
  }
  if (request.method === 'GET' && room === 'workflow' && url.searchParams.get('includeTasks') === 'true') {
    const found = await queue.readWorkflow(first as WorkflowId)
    if (found === undefined) return missing('Workflow')
    return {
      status: 200,
      body: { ...found, workflowName: found.tasks[0]?.workflowType, tasks: found.tasks.map(render) },
    }
  }
  if (request.method === 'GET' && room === 'workflow') {
    const status = await queue.readWorkflowStatus(first as WorkflowId)
    return status === undefined ? missing('Workflow') : { status: 200, body: { workflowId: first, status } }
  }
  if (request.method === 'GET' && room === 'metadata') {
    const def = taskDefs[second]
    return def === undefined ? missing('TaskDef') : { status: 200, body: def }
  }
  if (request.method === 'POST' && room === 'tasks' && second === 'log') {
    await queue.appendLog(first as TaskId, text)
    return { status: 200, body: '' }
  }
  if (request.method === 'POST' && room === 'tasks') return update(queue, JSON.parse(text) as Update)
  return { status: 405, body: { status: 405, message: `${request.method ?? ''} ${url.pathname}` } }
}

interface Update {
  readonly taskId: TaskId
  readonly workflowInstanceId: WorkflowId
  readonly workerId: string
  readonly status: ResultStatus
  readonly extendLease?: boolean
  readonly outputData?: JsonObject
  readonly reasonForIncompletion?: string
  readonly callbackAfterSeconds?: number
  readonly logs?: readonly { readonly log: string }[]
}

async function update(queue: TestQueue, sent: Update): Promise<Answer> {
  const {
    taskId,
    workflowInstanceId: workflowId,
    workerId,
    status,
    callbackAfterSeconds,
    reasonForIncompletion,
  } = sent
  const attempt = { taskId, workflowId, workerId, retryCount: 0, pollCount: 0, startTimeMs: 0 }
  const isThere =
    sent.extendLease === true
      ? await queue.renewLease(attempt)
      : await queue.postResult({
          ...{ taskId, workflowId, workerId, status, output: sent.outputData ?? {} },
          ...(reasonForIncompletion === undefined ? {} : { reasonForIncompletion }),
          ...(callbackAfterSeconds === undefined ? {} : { callbackAfterSeconds }),
          logs: (sent.logs ?? []).map(({ log }) => log),
        })
  return isThere
    ? { status: 200, body: taskId }
    : { status: 404, body: { status: 404, message: `Task ${taskId} not found`, retryable: false } }
}

function render(task: TaskRecord): object {
  return {
    ...task,
    workflowInstanceId: task.workflowId,
    startTime: task.startTimeMs,
    scheduledTime: task.scheduledTimeMs,
    updateTime: task.updateTimeMs,
    retried: task.isRetried,
    inputData: task.input,
    outputData: task.output,
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
