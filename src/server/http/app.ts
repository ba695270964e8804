/**
 * The HTTP API: parse, call the operation, render. What may be asked and answered stands in `openapi/perago.yaml`; nothing is
 * decided here.
 */

import { Hono, type Context } from 'hono'
import type { Caller, Role } from '../access/callers.ts'
import { EventFeeds } from './event-feed.ts'
import type { ExecutionAccess } from './ports.ts'
import { publishOutsideEvent } from './publish-event.ts'
import { RateLimiter } from '../access/rate-limit.ts'
import { listVariables, openForReading, queryEvents, readEvent, readVariable } from './read-execution.ts'
import type { Tokens } from '../access/tokens.ts'
import type { Webhooks } from '../../webhooks/webhooks.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { InvalidError, MissingError, errorKindOf } from '../../base/errors.ts'
import {
  API_FAILURES_AT_ONCE,
  API_FAILURES_PER_SECOND,
  API_REQUESTS_AT_ONCE,
  API_REQUESTS_PER_SECOND,
} from '../limits.ts'
import { API_TYPES_MAX } from '../../webhooks/limits.ts'
import type { Logger } from '../../base/logger.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import { authenticate } from './authenticate.ts'
import { readContract } from './contract.ts'
import type { HttpEnvironment } from './environment.ts'
import { streamEvents } from './event-stream.ts'
import {
  Parameters,
  readEventFilter,
  readIdempotencyKey,
  readLastEventId,
  takeNoParameters,
} from './query-parameters.ts'
import { readJsonBody } from './read-body.ts'
import { renderFailure } from './render-failure.ts'
import { addWebhookRoutes } from './webhook-routes.ts'

export interface HttpAppParts {
  readonly access: ExecutionAccess
  readonly tokens: Pick<Tokens, 'verify'>
  readonly webhooks: Pick<Webhooks, 'ofTenant'>
  /** What keeps the server from working, one sentence each; nothing when it is well. */
  readonly examine: () => Promise<readonly string[]>
  /** Which types a pattern means. Throws `core/bad-type-pattern`. */
  readonly compilePattern: (pattern: string) => (type: string) => boolean
  /** Aborted when the server closes: followers are let go. */
  readonly closing: AbortSignal
  readonly logger: Logger
  readonly redactor?: Redactor
  readonly clock?: Clock
  /** The role of requests from loopback that bring no token; without it they are refused. */
  readonly openLoopback?: Role
  readonly limits?: Partial<HttpLimits>
}

export interface HttpLimits {
  readonly requestsAtOnce: number
  readonly requestsPerSecond: number
  readonly heartbeatMs: number
}

type Asked = Context<HttpEnvironment>

export type HttpApp = Hono<HttpEnvironment>

export function buildHttpApp(parts: HttpAppParts): HttpApp {
  const { access, redactor = plainRedactor, clock = systemClock, logger } = parts
  const contract = readContract()
  const feeds = new EventFeeds()
  const requests = new RateLimiter(
    {
      atOnce: parts.limits?.requestsAtOnce ?? API_REQUESTS_AT_ONCE,
      perSecond: parts.limits?.requestsPerSecond ?? API_REQUESTS_PER_SECOND,
    },
    clock,
  )
  const failures = new RateLimiter(
    { atOnce: API_FAILURES_AT_ONCE, perSecond: API_FAILURES_PER_SECOND },
    clock,
  )
  const identify = (asked: Asked): Promise<Caller> =>
    authenticate(
      { tokens: parts.tokens, openLoopback: parts.openLoopback, failures },
      { headers: asked.req.raw.headers, address: asked.env.address },
    )

  const app: HttpApp = new Hono<HttpEnvironment>()
  app.onError((error, asked) => {
    if (errorKindOf(error) === 'defect')
      logger.error('a request failed by our own mistake', { error, path: asked.req.path })
    return renderFailure(error, redactor)
  })

  app.get('/healthz', async (asked) => {
    const problems = await parts.examine()
    return asked.json({ ok: problems.length === 0, problems }, problems.length === 0 ? 200 : 503)
  })
  app.get('/openapi.json', () => answer(contract.json, 'application/json'))
  app.get('/openapi.yaml', () => answer(contract.yaml, 'application/yaml'))

  // Everything below is for callers who are known, what is not there included.
  app.use(async (asked, next) => {
    const caller = await identify(asked)
    requests.take(caller.name)
    asked.set('caller', caller)
    await next()
    asked.res.headers.set('cache-control', 'no-store')
  })

  app.post('/events', async (asked) => {
    takeNoParameters(asked)
    const body = await readJsonBody(asked.req.raw)
    const idempotencyKey = readIdempotencyKey(asked)
    return asked.json(await publishOutsideEvent(access, asked.get('caller'), { body, idempotencyKey }), 201)
  })

  const open = (asked: Asked) =>
    openForReading(access, asked.get('caller'), asked.req.param('execution') ?? '')

  app.get('/executions/:execution/events', async (asked) => {
    const filter = readEventFilter(asked.req.url)
    return asked.json(await queryEvents(await open(asked), filter))
  })
  app.get('/executions/:execution/events/:type', async (asked) => {
    takeNoParameters(asked)
    const door = await open(asked)
    return asked.json(await readEvent(door, asked.req.param('type')))
  })
  app.get('/executions/:execution/variables', async (asked) => {
    const prefix = new Parameters(asked.req.url, ['prefix']).text('prefix') ?? ''
    return asked.json(await listVariables(await open(asked), prefix))
  })
  app.get('/executions/:execution/variables/:name', async (asked) => {
    takeNoParameters(asked)
    const door = await open(asked)
    return asked.json(await readVariable(door, asked.req.param('name')))
  })
  app.get('/executions/:execution/follow', (asked) => follow(asked))
  addWebhookRoutes(app, parts.webhooks)

  const follow = async (asked: Asked): Promise<Response> => {
    const { types, after } = readFollowed(asked)
    const wanted = types?.map(parts.compilePattern)
    const caller = asked.get('caller')
    const door = await open(asked)
    const stop = new AbortController()
    const key = JSON.stringify([caller.tenant, asked.req.param('execution')])
    const signal = AbortSignal.any([stop.signal, parts.closing])
    const stream = streamEvents({
      bunches: feeds.follow({ key, door, after, signal }),
      isWanted: (type) => wanted === undefined || wanted.some((isMeant) => isMeant(type)),
      isStillAllowed: () => identify(asked),
      stop: () => stop.abort(),
      onFailure: (error) => {
        if (!parts.closing.aborted) logger.info('a follower was let go', { error, path: asked.req.path })
      },
      ...(parts.limits?.heartbeatMs === undefined ? {} : { heartbeatMs: parts.limits.heartbeatMs }),
    })
    return new Response(stream, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
  }

  app.notFound((asked) => answerMiss(asked, redactor))
  return app
}

function readFollowed(asked: Asked): {
  readonly types: readonly string[] | undefined
  readonly after: number
} {
  const range = { least: 0, most: Number.MAX_SAFE_INTEGER }
  const given = new Parameters(asked.req.url, ['type', 'after'])
  const types = given.list('type', API_TYPES_MAX)
  const after = given.whole('after', range) ?? 0
  return { types, after: readLastEventId(asked) ?? after }
}

/** What each route takes, for those who ask in another way. */
const METHODS: readonly (readonly [RegExp, string])[] = [
  [/^\/events$/, 'POST'],
  [/^\/(?:healthz|openapi\.json|openapi\.yaml)$/, 'GET, HEAD'],
  [/^\/executions\/[^/]+\/(?:events|variables)(?:\/[^/]+)?$/, 'GET, HEAD'],
  [/^\/executions\/[^/]+\/follow$/, 'GET, HEAD'],
  [/^\/webhooks$/, 'GET, HEAD, POST'],
  [/^\/webhooks\/[^/]+$/, 'DELETE, GET, HEAD'],
  [/^\/webhooks\/[^/]+\/dead-deliveries$/, 'GET, HEAD'],
  [/^\/webhooks\/[^/]+\/(?:dead-deliveries\/[^/]+\/)?redeliver$/, 'POST'],
]

function answerMiss({ req }: Asked, redactor: Redactor): Response {
  const methods = METHODS.find(([path]) => path.test(req.path))?.[1]
  const next = 'See /openapi.yaml.'
  if (methods === undefined) {
    const miss = new MissingError('api/no-such-route', 'answer a request: there is no such route', { next })
    return renderFailure(miss, redactor)
  }
  const problem = `answer a request: this route takes ${methods}`
  const response = renderFailure(new InvalidError('api/wrong-method', problem, { next }), redactor)
  response.headers.set('allow', methods)
  return response
}

function answer(text: string, type: string): Response {
  return new Response(text, { headers: { 'content-type': type } })
}
