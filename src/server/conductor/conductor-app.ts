/**
 * Conductor's own API over a task queue of ours, so that every worker that speaks it can poll from us: this package's, the
 * Python package of the same name, the SDKs. Only what workers and definitions need; nothing is decided here.
 *
 * - CS-1 It is meant for this machine: a request from a web page, through a proxy, or for another host name than a loopback one, is
 *   refused. Not so where callers are identified before they come here.
 */

import { Hono } from 'hono'
import type { Logger } from '../../base/logger.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import type { EngineMetrics } from '../../runtime/telemetry/engine-metrics.ts'
import { isForwarded } from '../access/plain-loopback.ts'
import type { Arrival } from '../http/environment.ts'
import { logFailure } from '../http/log-failure.ts'
import { addDefinitionRoutes } from './definition-routes.ts'
import { refusal, renderRefusal } from './refusals.ts'
import type { ServedQueue } from './served-queue.ts'
import { addTaskRoutes, type Closing } from './task-routes.ts'
import { addWorkflowRoutes } from './workflow-routes.ts'

/** The one whose behaviour it has. */
const SPOKEN_VERSION = '3.32.3'

export interface ConductorAppParts extends ServedQueue, Closing {
  readonly logger: Logger
  readonly redactor?: Redactor
  readonly callersAreKnown?: boolean
  /** Served at `/metrics`. */
  readonly metrics?: Pick<EngineMetrics, 'render' | 'contentType'> | undefined
}

export function buildConductorApp(parts: ConductorAppParts): Hono {
  const { logger, redactor = plainRedactor, callersAreKnown = false } = parts
  const app = new Hono()
  app.onError((error, { req }) => {
    logFailure(logger, error, req.raw)
    return renderRefusal(error, redactor)
  })
  app.use(async ({ req, env }, next) => {
    if (callersAreKnown) return next()
    const host = new URL(req.url).hostname
    const { isProxied = false } = (env ?? {}) as Partial<Arrival>
    if (isProxied || isForwarded(req.raw.headers) || !LOOPBACK.has(host))
      return refusal(
        403,
        `this server is for programs of this machine, not for pages or proxies, nor as ${host}`,
      )
    return next()
  })
  for (const path of ['/health', '/api/health'])
    app.get(path, (asked) => asked.json({ healthResults: [], suppressedHealthResults: [], healthy: true }))
  app.get('/api/version', (asked) => asked.text(SPOKEN_VERSION))
  const { metrics } = parts
  if (metrics !== undefined)
    app.get('/metrics', async (asked) =>
      asked.text(await metrics.render(), 200, { 'content-type': metrics.contentType }),
    )
  addTaskRoutes(app, parts)
  addWorkflowRoutes(app, parts)
  addDefinitionRoutes(app, parts)
  app.notFound(({ req }) => refusal(404, `No static resource ${req.path.slice(1)}.`))
  return app
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])
