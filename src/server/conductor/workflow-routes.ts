/** Starting, reading and controlling workflows. */

import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { QueueControl } from '../../engine/protocol/control.ts'
import { CONDUCTOR_PAYLOAD_MAX_BYTES } from '../../worker/limits.ts'
import type { TaskId, WorkflowId } from '../../worker/ports.ts'
import { readJsonBody } from '../http/read-body.ts'
import { jsonObject, readFields } from '../http/read-request.ts'
import { refusal } from './refusals.ts'
import { renderOpenWorkflow, renderWorkflow } from './render-task.ts'
import { searchExecutions, type SearchPage } from './search-executions.ts'
import { parseSearch, type SearchQuery } from './search-query.ts'
import type { ServedQueue } from './served-queue.ts'

const SEARCH_PAGE_MAX = 1_000

const text = z.string()
const START = z.looseObject({
  name: text.min(1),
  version: z.number().int().nullish(),
  input: jsonObject().nullish(),
  correlationId: text.nullish(),
  priority: z.number().int().min(0).max(99).nullish(),
  taskToDomain: z.record(text, text).nullish(),
})
const RERUN = z.looseObject({
  reRunFromTaskId: text.nullish(),
  taskInput: jsonObject().nullish(),
})

export function addWorkflowRoutes(app: Hono, served: ServedQueue): void {
  const { queue, control } = served
  app.post('/api/workflow', async (asked) => {
    const start = readFields('the start', START, await bodyOf(asked))
    return asked.text(await startWorkflow(control, start, asked))
  })
  app.get('/api/workflow/search-v2', async (asked) => {
    const { start, size } = pageOf(asked)
    const text = asked.req.query('query') ?? ''
    const search = parseSearch(text)
    if (!isOpenOnly(search)) {
      if (served.reader === undefined) throw onlyOpen(text)
      return asked.json(await searchExecutions(served.reader, search, { start, size }))
    }
    const { workflows, isWhole } = await queue.readOpenWorkflows(start + size)
    const results = workflows.slice(start).map(renderOpenWorkflow)
    return asked.json({ totalHits: workflows.length + (isWhole ? 0 : 1), results })
  })
  app.post('/api/workflow/:name', async (asked) => {
    const version = asked.req.query('version')
    const start = readFields('the start', START, {
      name: asked.req.param('name'),
      input: await bodyOf(asked),
      ...(version === undefined ? {} : { version: Number(version) }),
      ...defined({ correlationId: asked.req.query('correlationId') }),
    })
    return asked.text(await startWorkflow(control, start, asked))
  })
  app.get('/api/workflow/:id', async (asked) => {
    const view = await control.readWorkflow(idOf(asked))
    const hasTasks = asked.req.query('includeTasks') !== 'false'
    return view === undefined ? missingWorkflow(idOf(asked)) : asked.json(renderWorkflow(view, hasTasks))
  })
  app.get('/api/workflow/:id/status', async (asked) => {
    const view = await control.readWorkflow(idOf(asked))
    return view === undefined ? missingWorkflow(idOf(asked)) : asked.json(renderWorkflow(view, false))
  })
  addControlRoutes(app, control)
}

function addControlRoutes(app: Hono, control: QueueControl): void {
  const on = (method: 'PUT' | 'POST' | 'DELETE', path: string, status: 200 | 204, act: Act): void => {
    app.on(method, `/api/workflow/${path}`, async (asked) => {
      await act(asked)
      return asked.body(null, status)
    })
  }
  on('PUT', 'decide/:id', 200, (asked) => control.decide(idOf(asked)))
  on('DELETE', ':id/remove', 200, (asked) => control.remove(idOf(asked)))
  on('DELETE', ':id', 200, (asked) =>
    control.terminate(idOf(asked), defined({ reason: asked.req.query('reason') })),
  )
  on('PUT', ':id/pause', 200, (asked) => control.pause(idOf(asked)))
  on('PUT', ':id/resume', 200, (asked) => control.resume(idOf(asked)))
  on('POST', ':id/retry', 204, (asked) => control.retry(idOf(asked)))
  on('POST', ':id/restart', 204, (asked) => control.restart(idOf(asked)))
  on('PUT', ':id/skiptask/:reference', 200, (asked) =>
    control.skip(idOf(asked), asked.req.param('reference') ?? ''),
  )
  app.post('/api/workflow/:id/rerun', async (asked) => {
    const { reRunFromTaskId, taskInput } = readFields('the rerun', RERUN, await bodyOf(asked))
    await control.rerun(idOf(asked), {
      ...defined({
        fromTaskId: (reRunFromTaskId ?? undefined) as TaskId | undefined,
        taskInput: taskInput ?? undefined,
      }),
    })
    return asked.text(idOf(asked))
  })
}

type Act = (asked: Context) => Promise<void>

function startWorkflow(
  control: QueueControl,
  start: z.output<typeof START>,
  asked: Context,
): Promise<WorkflowId> {
  const { name, version, input, correlationId, priority, taskToDomain } = start
  return control.start({
    name,
    ...defined({
      version: version ?? undefined,
      input: input ?? undefined,
      correlationId: correlationId ?? undefined,
      priority: priority ?? undefined,
      taskToDomain: taskToDomain ?? undefined,
      traceparent: asked.req.header('traceparent'),
    }),
  })
}

function pageOf(asked: Context): SearchPage {
  const start = Number(asked.req.query('start') ?? 0)
  const size = Number(asked.req.query('size') ?? 100)
  if (Number.isInteger(start) && start >= 0 && Number.isInteger(size) && size >= 1 && size <= SEARCH_PAGE_MAX)
    return { start, size }
  throw new InvalidError('api/bad-parameter', 'search for workflows: "start" or "size" is wrong', {
    next: `Give a start from 0 on, and a size from 1 to ${SEARCH_PAGE_MAX}.`,
  })
}

/** What workers search for: these are in memory, and shown with their input and their steps. */
function isOpenOnly({ statuses = [], ...more }: SearchQuery): boolean {
  return [...statuses].sort().join() === 'PAUSED,RUNNING' && Object.keys(more).length === 0
}

function onlyOpen(query: string): InvalidError {
  return new InvalidError('api/bad-parameter', `search for workflows by ${JSON.stringify(query)}`, {
    next: 'Search for "status IN (RUNNING,PAUSED)": here what has ended is read by its id.',
  })
}

function bodyOf(asked: Context): Promise<unknown> {
  return readJsonBody(asked.req.raw, CONDUCTOR_PAYLOAD_MAX_BYTES)
}

function idOf(asked: Context): WorkflowId {
  return (asked.req.param('id') ?? '') as WorkflowId
}

function missingWorkflow(workflowId: string): Response {
  return refusal(404, `No such workflow found by id: ${workflowId}`)
}
