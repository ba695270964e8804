/** Executions over HTTP: started, listed, read, waited for, controlled. */

import type { Hono } from 'hono'
import { z } from 'zod'
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Engine } from '../../engine/host/open-engine.ts'
import { noSuchExecution } from '../../engine/host/execution-list.ts'
import type { Execution } from '../../engine/protocol/execution.ts'
import { STAGES } from '../../engine/protocol/stages.ts'
import { isWorkflowOpen } from '../../engine/protocol/state.ts'
import type { WorkflowId } from '../../worker/ports.ts'
import type { Engines } from '../../runtime/engines.ts'
import type { Right } from '../access/callers.ts'
import {
  API_PAGE_EVENTS,
  API_PAGE_MAX_EVENTS,
  API_START_MAX_BYTES,
  API_TEXT_MAX_CHARS,
  API_WAIT_MAX_MS,
  API_WAIT_MS,
} from '../limits.ts'
import { decodeCursor, encodeCursor, LISTED_AFTER } from './cursors.ts'
import { EndWaiters } from './end-waiters.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { openCallerEngine } from './open-caller-engine.ts'
import { readJsonBody } from './read-body.ts'
import {
  jsonObject,
  once,
  readFields,
  readIdempotencyKey,
  readQuery,
  several,
  textOf,
  wholeNumber,
} from './read-request.ts'
import { readStart } from './read-start.ts'
import { showExecution, showSummary } from './show-execution.ts'

export interface EngineRoutesParts {
  /** `undefined`: this server runs no executions. */
  readonly engines: Engines | undefined
  readonly clock: Clock
  /** Rejects when the caller's token is not valid any more. */
  readonly identify: (asked: Asked) => Promise<unknown>
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

type App = Hono<HttpEnvironment>

export function addEngineRoutes(app: App, parts: EngineRoutesParts): void {
  addStart(app, parts)
  addReading(app, parts)
  addWaiting(app, parts)
  addControl(app, parts)
}

function addStart(app: App, { engines }: EngineRoutesParts): void {
  app.post('/executions', async (asked) => {
    const engine = await openCallerEngine(engines, asked, 'run executions')
    readQuery(asked.req.url, {})
    const key = readIdempotencyKey(asked.req.header('idempotency-key'))
    const asIt = readStart(await readJsonBody(asked.req.raw, API_START_MAX_BYTES))
    // One that is malformed is ignored, as its standard asks for.
    const request = { ...asIt, ...defined({ traceparent: asked.req.header('traceparent') }) }
    const { control } = engine
    const { workflowId, isNew } = await control.startOnce(key ?? crypto.randomUUID(), request)
    return asked.json(showSummary(await read(engine, workflowId)), isNew ? 201 : 200)
  })
}

function addReading(app: App, { engines, clock }: EngineRoutesParts): void {
  app.get('/executions', async (asked) => {
    const { status, name, after, limit } = readQuery(asked.req.url, {
      status: several(STAGES.length).pipe(
        z.array(z.enum(STAGES, `must be one of ${STAGES.join(', ')}`)).optional(),
      ),
      name: once(textOf({ least: 1, most: 256 })),
      after: once(z.string()),
      limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
    })
    const { reader } = await openCallerEngine(engines, asked, 'read executions and pipelines')
    const page = await reader.list({
      limit: limit ?? API_PAGE_EVENTS,
      ...{ name, stages: status, after: decodeCursor(after, LISTED_AFTER) },
    })
    return asked.json({
      executions: page.executions.map(showSummary),
      ...defined({ next_after: encodeCursor(page.next) }),
    })
  })
  app.get('/executions/:execution', async (asked) => {
    readQuery(asked.req.url, {})
    const engine = await openCallerEngine(engines, asked, 'read executions and pipelines')
    return asked.json(await show(engine, await read(engine, idOf(asked)), clock))
  })
}

function addWaiting(app: App, { engines, clock, identify, closing }: EngineRoutesParts): void {
  const waiters = new EndWaiters({ clock, closing })
  app.get('/executions/:execution/wait', async (asked) => {
    const { timeout_ms: timeoutMs = API_WAIT_MS } = readQuery(asked.req.url, {
      timeout_ms: once(wholeNumber({ least: 0, most: API_WAIT_MAX_MS })),
    })
    const engine = await openCallerEngine(engines, asked, 'read executions and pipelines')
    const { signal } = asked.req.raw
    await waiters.wait(engine.reader, idOf(asked), { timeoutMs, signal })
    // The token may have been revoked meanwhile.
    await identify(asked)
    const execution = await read(engine, idOf(asked))
    const ended = !isWorkflowOpen(execution.status)
    return asked.json({ ended, execution: await show(engine, execution, clock) })
  })
}

function addControl(app: App, { engines }: EngineRoutesParts): void {
  const on = (act: string, doIt: (engine: Engine, asked: Asked, id: WorkflowId) => Promise<void>): void => {
    app.post(`/executions/:execution/${act}`, async (asked) => {
      const engine = await openCallerEngine(engines, asked, CONTROL)
      await doIt(engine, asked, idOf(asked))
      return asked.json(showSummary(await read(engine, idOf(asked))))
    })
  }
  for (const act of ['pause', 'resume', 'retry'] as const) {
    on(act, async ({ control }, asked, id) => {
      readQuery(asked.req.url, {})
      await control[act](id)
    })
  }
  on('cancel', async ({ control }, asked, id) => {
    const { reason } = readQuery(asked.req.url, {
      reason: once(textOf({ least: 1, most: API_TEXT_MAX_CHARS })),
    })
    await control.terminate(id, defined({ reason }))
  })
  on('units/:unit/complete', async ({ control }, asked, id) => {
    readQuery(asked.req.url, {})
    const body = await readJsonBody(asked.req.raw, API_START_MAX_BYTES)
    const { status = 'COMPLETED', output = {}, reason } = readFields('the completion', COMPLETION, body)
    await control.signal(id, { unit: asked.req.param('unit') ?? '', status, output, reason })
  })
}

const CONTROL: Right = 'run executions'

const COMPLETION = z.strictObject({
  status: z.enum(['COMPLETED', 'FAILED']).optional(),
  output: jsonObject().optional(),
  reason: textOf({ least: 1, most: API_TEXT_MAX_CHARS }).optional(),
})

async function show({ reader }: Engine, execution: Execution, clock: Clock) {
  const checkpoints = await reader.listCheckpoints(execution.workflowId)
  return showExecution(execution, { nowMs: clock.now().getTime(), checkpoints })
}

async function read({ reader }: Engine, id: WorkflowId) {
  const execution = await reader.read(id)
  if (execution === undefined) throw noSuchExecution('read', id)
  return execution
}

function idOf(asked: Asked): WorkflowId {
  return (asked.req.param('execution') ?? '') as WorkflowId
}
