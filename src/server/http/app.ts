/**
 * The HTTP API: reads requests, calls the host, writes responses. `openapi/perago.yaml` says which requests and responses there
 * are; nothing is decided here.
 */

import { Hono } from 'hono'
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { systemClock, type Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError, MissingError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import type { Host } from '../../runtime/host.ts'
import type { ExaminationView } from '../../runtime/views/examination-view.ts'
import type { RecoveryView } from '../../runtime/views/recovery-view.ts'
import type { RepositoryView } from '../../runtime/views/repository-view.ts'
import type { WorkersView } from '../../runtime/views/workers-view.ts'
import type { WorkflowViews } from '../../runtime/views/workflow-view.ts'
import type { Caller, Role } from '../access/callers.ts'
import { RateLimiter } from '../access/rate-limit.ts'
import type { Tokens } from '../access/tokens.ts'
import {
  API_FAILURES_AT_ONCE,
  API_FAILURES_PER_SECOND,
  API_REQUESTS_AT_ONCE,
  API_REQUESTS_PER_SECOND,
} from '../limits.ts'
import { readSessionCookie, requireOwnPage } from '../access/session-cookie.ts'
import { Sessions } from '../access/sessions.ts'
import { authenticate } from './authenticate.ts'
import { addEngineRoutes } from './engine-routes.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { addExaminationRoute } from './examination-routes.ts'
import { addExecutionRoutes } from './execution-routes.ts'
import { logFailure } from './log-failure.ts'
import { addMachineRoutes } from './machine-routes.ts'
import { addPageRoutes } from './page-routes.ts'
import { addPipelineRoutes } from './pipeline-routes.ts'
import { addPictureRoutes, addRollbackRoutes } from './rollback-routes.ts'
import { addSharedRoute } from './shared-route.ts'
import { addScheduleRoutes } from './schedule-routes.ts'
import { renderFailure } from './render-failure.ts'
import { addRecoveryRoutes } from './recovery-routes.ts'
import { addRepositoryRoutes } from './repository-routes.ts'
import { addLogInRoute, addSessionRoutes, type PageKeys, type SessionRoutesParts } from './session-routes.ts'
import { addWorkflowRoutes } from './workflow-routes.ts'
import { addWebhookRoutes } from './webhook-routes.ts'

export interface HttpAppParts {
  /** Without it there are no executions: only a page, and what it shows of elsewhere. */
  readonly host?: HttpHost | undefined
  readonly tokens: Pick<Tokens, 'verify'>
  /** Aborted when the server closes: event streams are closed. */
  readonly closing: AbortSignal
  readonly logger: Logger
  readonly redactor?: Redactor | undefined
  readonly clock?: Clock
  /** The role of requests from this machine without a token; without it they are refused. */
  readonly openLoopback?: Role | undefined
  readonly limits?: Partial<HttpLimits>
  /** What a page in a browser needs. */
  readonly page?: PageParts
}

export type HttpHost = Pick<
  Host,
  'executions' | 'webhooks' | 'engines' | 'examine' | 'describeStore' | 'store'
>

export interface PageParts {
  /** The directory with its files; without it there is only what it asks for. */
  readonly files?: string | undefined
  readonly keys?: PageKeys
  readonly repositories?: RepositoryView | undefined
  readonly workflows?: WorkflowViews | undefined
  readonly examination?: ExaminationView | undefined
  readonly recoveries?: RecoveryView | undefined
  readonly workers?: WorkersView | undefined
}

export interface HttpLimits {
  readonly requestsAtOnce: number
  readonly requestsPerSecond: number
  readonly heartbeatMs: number
}

export type HttpApp = Hono<HttpEnvironment>

export function buildHttpApp(parts: HttpAppParts): HttpApp {
  const { host, redactor = plainRedactor, clock = systemClock, logger, limits } = parts
  const contract = readFileSync(new URL('../../../openapi/perago.yaml', import.meta.url), 'utf8')
  // Reading it takes longer than the rest of a start.
  const contractAsJson = once(() => JSON.stringify(parse(contract)))
  const requests = new RateLimiter(
    {
      atOnce: limits?.requestsAtOnce ?? API_REQUESTS_AT_ONCE,
      perSecond: limits?.requestsPerSecond ?? API_REQUESTS_PER_SECOND,
    },
    clock,
  )
  const failures = new RateLimiter(
    { atOnce: API_FAILURES_AT_ONCE, perSecond: API_FAILURES_PER_SECOND },
    clock,
  )
  const sessions = new Sessions(clock)
  const identify = async (asked: Asked): Promise<Caller> => {
    const { raw } = asked.req
    const session = raw.headers.has('authorization') ? undefined : readSessionCookie(raw)
    if (session === undefined) {
      return authenticate(
        { tokens: parts.tokens, openLoopback: parts.openLoopback, failures },
        { headers: raw.headers, address: asked.env.address, isProxied: asked.env.isProxied },
      )
    }
    requireOwnPage(raw)
    return sessions.find(session)
  }

  const app: HttpApp = new Hono<HttpEnvironment>()
  app.onError((error, asked) => {
    logFailure(logger, error, asked.req.raw)
    return renderFailure(error, redactor)
  })

  app.get('/healthz', async (asked) => {
    asked.env.visit?.enter('health')
    const problems = (await host?.examine()) ?? []
    return asked.json({ ok: problems.length === 0, problems }, problems.length === 0 ? 200 : 503)
  })
  app.use('/openapi.*', async ({ env }, next) => {
    env.visit?.enter('anybody')
    await next()
  })
  app.get('/openapi.json', () => respond(contractAsJson(), 'application/json'))
  app.get('/openapi.yaml', () => respond(contract, 'application/yaml'))

  const { page = {} } = parts
  if (page.files !== undefined) addPageRoutes(app, { files: page.files, logger, redactor })
  const session: SessionRoutesParts = {
    ...{ tokens: parts.tokens, keys: page.keys ?? {}, sessions },
    showsOf: ({ tenant }) => [
      // What is configured is the default tenant's.
      ...(['repositories', 'examination', 'recoveries', 'workers'] as const).filter(
        (part) => page[part] !== undefined && tenant === undefined,
      ),
      ...(page.workflows?.of(tenant) === undefined ? [] : ['workflows']),
      ...(host === undefined || tenant !== undefined ? [] : ['store']),
      ...(host === undefined ? [] : ['executions']),
    ],
    noteFailure: (address) => failures.take(address ?? 'unknown'),
  }
  addLogInRoute(app, session)

  // Everything below needs a known caller, also what does not exist.
  app.use(async (asked, next) => {
    const caller = await identify(asked)
    asked.env.visit?.enter(caller)
    requests.take(caller.name)
    asked.set('caller', caller)
    await next()
    asked.res.headers.set('cache-control', 'no-store')
  })
  addSessionRoutes(app, session)
  addRepositoryRoutes(app, page.repositories)
  addWorkflowRoutes(app, page.workflows)
  addExaminationRoute(app, page.examination)
  addMachineRoutes(app, { workers: page.workers, host })
  addRecoveryRoutes(app, page.recoveries)
  if (host === undefined) refuseExecutions(app)
  else addHostRoutes(app, host, { identify, logger, clock, ...defined({ limits }), closing: parts.closing })
  app.notFound(({ req }) => refuseRoute(methodsOf(app, req.path), redactor))
  return app
}

type HostRoutesParts = Pick<HttpAppParts, 'closing' | 'logger' | 'limits'> & {
  readonly identify: (asked: Asked) => Promise<Caller>
  readonly clock: Clock
}

function addHostRoutes(app: HttpApp, host: HttpHost, parts: HostRoutesParts): void {
  const { identify, closing, logger, clock, limits } = parts
  addExecutionRoutes(app, {
    ...{ executions: host.executions, identify, closing, logger, clock },
    heartbeatMs: limits?.heartbeatMs,
  })
  const engines = { engines: host.engines, clock, identify, closing }
  addSharedRoute(app, host)
  addEngineRoutes(app, engines)
  addPipelineRoutes(app, engines)
  addRollbackRoutes(app, engines)
  addPictureRoutes(app, engines)
  addScheduleRoutes(app, engines)
  addWebhookRoutes(app, host.webhooks)
}

/** The first part of the paths of `addHostRoutes`. */
export const HOST_PATHS = ['events', 'executions', 'pipelines', 'schedules', 'webhooks'] as const

function refuseExecutions(app: HttpApp): void {
  for (const path of HOST_PATHS) {
    app.all(`/${path}/*`, () => {
      throw new MissingError('api/no-executions', `ask for ${path}: this server has no executions`, {
        next: 'Ask a "perago serve" or a "perago dev".',
      })
    })
  }
}

/** The methods that a path takes. */
function methodsOf({ routes }: HttpApp, path: string): readonly string[] {
  const methods = routes
    .filter((route) => route.method !== 'ALL')
    .filter((route) => new RegExp(`^${route.path.replaceAll(/:[^/]+/g, '[^/]+')}$`).test(path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return methods.sort()
}

function refuseRoute(methods: readonly string[], redactor: Redactor): Response {
  const next = 'See /openapi.yaml.'
  if (methods.length === 0) {
    const missing = new MissingError('api/no-such-route', 'answer a request: there is no such route', {
      next,
    })
    return renderFailure(missing, redactor)
  }
  const allowed = methods.join(', ')
  const problem = `answer a request: this route takes ${allowed}`
  const response = renderFailure(new InvalidError('api/wrong-method', problem, { next }), redactor)
  response.headers.set('allow', allowed)
  return response
}

function respond(text: string, type: string): Response {
  return new Response(text, { headers: { 'content-type': type } })
}
