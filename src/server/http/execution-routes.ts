/** Events and variables of executions over HTTP. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { followSignals } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import { SOURCE_KINDS } from '../../core/events/event-types.ts'
import type { NewEvent } from '../../core/events/event.ts'
import { compileTypePattern } from '../../core/events/type-pattern.ts'
import type { Executions } from '../../runtime/host.ts'
import { API_TYPES_MAX } from '../../webhooks/limits.ts'
import { requireRight } from '../access/callers.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS, EVENT_OUTSIDE_PAYLOAD_MAX_BYTES } from '../limits.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { EventFeeds } from './event-feed.ts'
import { streamEvents } from './event-stream.ts'
import { Heartbeat } from './heartbeat.ts'
import { readJsonBody } from './read-body.ts'
import { listVariables, queryEvents, readEvent, readVariable, readVariableHistory } from './read-execution.ts'
import {
  jsonObject,
  once,
  readFields,
  readIdempotencyKey,
  readLastEventId,
  readQuery,
  several,
  wholeNumber,
} from './read-request.ts'

export interface ExecutionRoutesParts {
  readonly executions: Executions
  /** Rejects when the caller's token is not valid any more. */
  readonly identify: (asked: Asked) => Promise<unknown>
  /** Aborted when the server closes: event streams are closed. */
  readonly closing: AbortSignal
  readonly logger: Logger
  readonly clock: Clock
  readonly heartbeatMs?: number | undefined
}

export function addExecutionRoutes(app: Hono<HttpEnvironment>, parts: ExecutionRoutesParts): void {
  const { executions, closing, logger, clock, heartbeatMs } = parts
  const feeds = new EventFeeds()
  const open = (asked: Asked) => {
    const caller = asked.get('caller')
    requireRight(caller, 'read events and variables')
    return executions.open({ tenant: caller.tenant, execution: asked.req.param('execution') ?? '' })
  }

  app.post('/events', async (asked) => {
    const caller = asked.get('caller')
    requireRight(caller, 'publish events')
    readQuery(asked.req.url, {})
    const { execution, event } = readOutsideEvent(await readJsonBody(asked.req.raw))
    const idempotencyKey = readIdempotencyKey(asked.req.header('idempotency-key'))
    const { events } = await executions.open({ tenant: caller.tenant, execution })
    const id = await events.publish(event, defined({ idempotencyKey }))
    return asked.json({ event_id: id, execution_id: execution, event_type: event.type }, 201)
  })
  app.get('/executions/:execution/events', async (asked) => {
    const filter = readEventFilter(asked.req.url)
    return asked.json(await queryEvents(await open(asked), filter))
  })
  app.get('/executions/:execution/events/:type', async (asked) => {
    readQuery(asked.req.url, {})
    return asked.json(await readEvent(await open(asked), asked.req.param('type')))
  })
  app.get('/executions/:execution/variables', async (asked) => {
    const { limit = API_PAGE_EVENTS, ...place } = readQuery(asked.req.url, {
      prefix: once(z.string()),
      after: once(z.string()),
      limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
    })
    return asked.json(await listVariables(await open(asked), { limit, ...defined(place) }))
  })
  app.get('/executions/:execution/variables/:name', async (asked) => {
    readQuery(asked.req.url, {})
    return asked.json(await readVariable(await open(asked), asked.req.param('name')))
  })
  app.get('/executions/:execution/variables/:name/history', async (asked) => {
    readQuery(asked.req.url, {})
    return asked.json(await readVariableHistory(await open(asked), asked.req.param('name')))
  })
  app.get('/executions/:execution/follow', async (asked) => {
    const { type, after = 0 } = readQuery(asked.req.url, { type: several(API_TYPES_MAX), after: once(AFTER) })
    const start = readLastEventId(asked.req.header('last-event-id')) ?? after
    const patterns = type?.map(compileTypePattern)
    const execution = await open(asked)
    asked.env.visit?.follow(asked.get('caller'))
    const key = JSON.stringify([asked.get('caller').tenant, execution.id])
    const following = followSignals(closing)
    const { signal } = following
    const heartbeat = new Heartbeat()
    const stream = streamEvents({
      groups: feeds.follow({ key, execution, after: start, heartbeat, signal }),
      isWanted: (found) => patterns === undefined || patterns.some((matches) => matches(found)),
      isStillAllowed: () => parts.identify(asked),
      stop: () => {
        following.abort()
        following.release()
      },
      onFailure: (error) => {
        if (!closing.aborted) logger.info('event stream closed', { error, path: asked.req.path })
      },
      ...{ heartbeat, signal, clock, ...defined({ heartbeatMs }) },
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  })
}

const OUTSIDE_EVENT = z.strictObject({
  execution_id: z.string(),
  event_type: z.string(),
  payload: jsonObject().optional(),
  source: z.string().optional(),
})

function readOutsideEvent(body: unknown): { readonly execution: string; readonly event: NewEvent } {
  const fields = readFields('the event', OUTSIDE_EVENT, body)
  const { execution_id: execution, event_type: type, payload = {} } = fields
  if (!type.startsWith('external.')) {
    throw new InvalidError(
      'api/not-external',
      `read the event: "event_type" must begin with "external.", "${type.slice(0, 80)}" does not`,
      { next: 'Correct the request; see /openapi.yaml. Only the engine records other events.' },
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(payload))
  if (bytes > EVENT_OUTSIDE_PAYLOAD_MAX_BYTES) {
    throw new InvalidError(
      'api/payload-too-large',
      `read the event: "payload" has ${bytes} bytes, the most is ${EVENT_OUTSIDE_PAYLOAD_MAX_BYTES}`,
      { next: 'Store the data elsewhere, and send its address.' },
    )
  }
  const entityId = fields.source ?? type.split('.')[1] ?? ''
  return { execution, event: { type, source: { entityType: 'external', entityId }, payload } }
}

const AFTER = wholeNumber({ least: 0, most: Number.MAX_SAFE_INTEGER })

/** The values themselves are checked by the core. */
function readEventFilter(url: string): EventFilter & { readonly limit: number } {
  const { type, source_type, source_id, from, to, order, after, limit } = readQuery(url, {
    type: several(API_TYPES_MAX),
    source_type: once(z.enum(SOURCE_KINDS, `must be one of ${SOURCE_KINDS.join(', ')}`)),
    source_id: once(z.string().min(1, 'must not be empty')),
    from: once(z.string()),
    to: once(z.string()),
    order: once(z.enum(['ascending', 'descending'], 'must be ascending or descending')),
    after: once(AFTER),
    limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
  })
  return {
    ...defined({ types: type, order, after }),
    source: defined({ entityType: source_type, entityId: source_id }),
    timeRange: defined({ start: from, end: to }),
    limit: limit ?? API_PAGE_EVENTS,
  }
}
