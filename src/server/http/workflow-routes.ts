/** Workflows over HTTP, for those who look and those who operate: lists, tasks, logs, control, and who polls. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { InvalidError, MissingError } from '../../base/errors.ts'
import type { WorkflowPlace } from '../../runtime/views/list-workflows.ts'
import type { Poller } from '../../runtime/views/pollers.ts'
import type { WorkflowAct, WorkflowView, WorkflowViews } from '../../runtime/views/workflow-view.ts'
import { WORKFLOW_STATUSES } from '../../worker/ports.ts'
import { requireRight, type Right } from '../access/callers.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import { decodeCursor, encodeCursor } from './cursors.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { readJsonBody } from './read-body.ts'
import { once, readFields, readQuery, textOf, wholeNumber } from './read-request.ts'
import { showDetails, showWorkflow, timeOf } from './show-workflow.ts'

const STATUS = z.enum(WORKFLOW_STATUSES)
const limit = once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS }))
const LIST = {
  status: z.array(STATUS).max(8, 'must be given at most 8 times').optional(),
  search: once(textOf({ least: 1, most: 256 })),
  after: once(z.string()),
  limit,
}
const LOG = { after: once(wholeNumber({ least: 0, most: Number.MAX_SAFE_INTEGER })), limit }
const TERMINATION = z.strictObject({ reason: z.string().min(1).max(1_024).optional() })
const PLACE = /^\d{1,15}\.\d{1,9}$/

export function addWorkflowRoutes(app: Hono<HttpEnvironment>, views: WorkflowViews | undefined): void {
  const open = (asked: Asked, right: Right): WorkflowView => {
    const caller = asked.get('caller')
    requireRight(caller, right)
    const view = views?.of(caller.tenant)
    if (view !== undefined) return view
    throw new MissingError('api/no-workflows', `${right}: this server shows none`, {
      next: 'Start it with a Conductor or with its own engine, and ask with a token of the default tenant.',
    })
  }
  app.get('/workflows', async (asked) => {
    const view = open(asked, 'look at workflows')
    const { status: statuses, search, after, limit: most } = readQuery(asked.req.url, LIST)
    const { items, next } = await view.list({
      ...{ statuses, search, after: readPlace(after), limit: most ?? API_PAGE_EVENTS },
      signal: asked.req.raw.signal,
    })
    return asked.json({ workflows: items.map(showWorkflow), ...defined({ next_after: writePlace(next) }) })
  })
  app.get('/workflows/:workflow', async (asked) => {
    const view = open(asked, 'look at workflows')
    readQuery(asked.req.url, {})
    return asked.json(showDetails(await view.read(idIn(asked, 'workflow'), asked.req.raw.signal)))
  })
  app.get('/workflows/:workflow/tasks/:task/log', async (asked) => {
    const view = open(asked, 'look at workflows')
    const { after = 0, limit: most = API_PAGE_EVENTS } = readQuery(asked.req.url, LOG)
    const page = { after, limit: most, signal: asked.req.raw.signal }
    const { lines, next } = await view.readLog(idIn(asked, 'workflow'), idIn(asked, 'task'), page)
    return asked.json({
      lines: lines.map(({ text, atMs }) => ({ text, ...defined({ at: timeOf(atMs) }) })),
      ...defined({ next_after: next }),
    })
  })
  for (const act of ['pause', 'resume', 'retry', 'terminate'] as const) addAct(app, open, act)
  app.get('/pollers', async (asked) => {
    const view = open(asked, 'look at workflows')
    readQuery(asked.req.url, {})
    const { pollers, isWhole } = await view.pollers(asked.req.raw.signal)
    return asked.json({ pollers: pollers.map(showPoller), whole: isWhole })
  })
}

function addAct(
  app: Hono<HttpEnvironment>,
  open: (asked: Asked, right: Right) => WorkflowView,
  act: WorkflowAct,
): void {
  app.post(`/workflows/:workflow/${act}`, async (asked) => {
    const view = open(asked, 'control workflows')
    readQuery(asked.req.url, {})
    const { raw } = asked.req
    const given = act === 'terminate' && hasBody(raw) ? await readJsonBody(raw) : {}
    const { reason } = readFields('the request', TERMINATION, given)
    // Not with the signal of the request: whoever leaves has asked for it all the same.
    return asked.json(showWorkflow(await view.act(act, idIn(asked, 'workflow'), { reason })))
  })
}

/** A server makes a stream of every body, also of none. */
function hasBody({ headers }: Request): boolean {
  return (
    ['content-type', 'transfer-encoding'].some((name) => headers.has(name)) ||
    Number(headers.get('content-length')) > 0
  )
}

function showPoller({ taskType, domain, waiting, polls, isUnpolled }: Poller) {
  return {
    ...{ task_type: taskType, ...defined({ domain }), waiting, nobody_polls: isUnpolled },
    polls: polls.map((poll) => ({
      ...defined({ worker: poll.workerId, domain: poll.domain }),
      last_polled_at: new Date(poll.atMs).toISOString(),
    })),
  }
}

function readPlace(cursor: string | undefined): WorkflowPlace | undefined {
  const [startMs, count] = decodeCursor(cursor, PLACE)?.split('.') ?? []
  return startMs === undefined ? undefined : { startMs: Number(startMs), count: Number(count) }
}

function writePlace(place: WorkflowPlace | undefined): string | undefined {
  return encodeCursor(place && `${place.startMs}.${place.count}`)
}

function idIn(asked: Asked, name: 'workflow' | 'task'): string {
  const id = asked.req.param(name) ?? ''
  if (/^[A-Za-z0-9_-]{1,128}$/.test(id)) return id
  throw new InvalidError('api/bad-parameter', `read the path: ${JSON.stringify(id.slice(0, 80))} is no id`, {
    next: 'Correct the request; see /openapi.yaml.',
  })
}
