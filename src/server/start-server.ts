/**
 * Starts a server from code, as `perago serve` does:
 *
 * ```ts
 * const server = await startServer({ store: 'sqlite:executions.db', port: 0 })
 * const { token } = await server.tokens.create({ name: 'ci', role: 'operator' })
 * await fetch(`${server.url}/executions/exec_1/events`, { headers: { authorization: `Bearer ${token}` } })
 * await server.close()
 * ```
 */

import { resolve } from 'node:path'
import { defined } from '../base/defined.ts'
import { InvalidError } from '../base/errors.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import { createRedactor, type Redactor } from '../base/redaction.ts'
import type { EventArchive } from '../core/events/archive-port.ts'
import type { Retention } from '../core/life-cycle/sweep-execution.ts'
import type { Store } from '../core/ports.ts'
import type { EngineSetup, Engines } from '../runtime/engines.ts'
import type { Role } from './access/callers.ts'
import type { Tokens } from './access/tokens.ts'
import { openPage, type PagedConductor, type PagedLakefs } from './open-page.ts'

export interface StartServerOptions {
  /**
   * An open store, or the address of one as `perago serve --store` takes it, such as `sqlite:FILE` or `env:STORE_URL`. The
   * server closes what it opened; a store that it was given stays open.
   */
  readonly store: Store | string
  /** Where events of ended executions are moved to: an open archive, or an address as `--archive` takes it. */
  readonly archive?: EventArchive | string | undefined
  /** How long ended executions are kept. */
  readonly retention?: Partial<Retention>
  /** Runs executions of pipelines as well, as this says. Over one store one server at a time runs those of a tenant. */
  readonly engine?: boolean | EngineSetup | undefined
  /** Its repositories are shown to callers of the default tenant, who read them with these credentials. */
  readonly lakefs?: PagedLakefs | undefined
  /** Its workflows are shown to callers of the default tenant, and controlled by operators, unless the server has an engine. */
  readonly conductor?: PagedConductor | undefined
  /** The root of workers on this machine, such as `.perago/work`: they are shown to callers of the default tenant. */
  readonly workersRoot?: string | undefined
  /** A port for the metrics of the engine, for Prometheus. It speaks TLS where the server does. */
  readonly metrics?: MetricsPlace | undefined
  /** The address to listen on; 127.0.0.1 unless given. */
  readonly host?: string
  /** 8090 unless given; 0 takes a free one. */
  readonly port?: number
  /** In PEM. Then only TLS is spoken. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  /** Allows other addresses than loopback without TLS, for a server behind a proxy that speaks it. */
  readonly allowPlainText?: boolean | undefined
  /** Addresses and ranges of proxies, such as `10.0.0.0/8`, whose `X-Forwarded-For` names the client. */
  readonly trustedProxies?: readonly string[] | undefined
  /** The role of requests from this machine without a token; without it they are refused. */
  readonly openLoopback?: Role | undefined
  /** Whether webhooks may call private addresses. */
  readonly allowPrivateWebhooks?: boolean | undefined
  /** How long running requests may take when the server closes; then their connections are cut. */
  readonly closeDeadlineMs?: number
  /** Logs nothing unless given. */
  readonly logger?: Logger
  /** Removes secrets from error responses. */
  readonly redactor?: Redactor
}

export interface MetricsPlace {
  /** 0 takes a free one. */
  readonly port: number
  /** 127.0.0.1 unless given. */
  readonly host?: string | undefined
}

export interface RunningServer {
  readonly url: string
  /** Where the metrics are, if they have a port. */
  readonly metricsUrl: string | undefined
  /** Makes, lists and revokes the tokens that callers need. */
  readonly tokens: Tokens
  /** Ends requests, deliveries, archiving and sweeping, and closes what the server opened. May be called twice. */
  close(): Promise<void>
}

/** Serves executions, their events and variables over HTTP, runs them where `engine` says so, delivers webhooks, archives and sweeps, until it is closed. */
export async function startServer(options: StartServerOptions): Promise<RunningServer> {
  // Loaded here, because most programs that import the package start no server.
  const [
    { openHost },
    { openStores },
    addresses,
    { openTokens },
    { checkCertificate, serveHttp },
    { BUILT_PAGE },
    { openWorkersView },
  ] = await Promise.all([
    import('../runtime/host.ts'),
    import('../runtime/stores/open-store.ts'),
    import('../runtime/stores/store-address.ts'),
    import('./access/tokens.ts'),
    import('./http/serve.ts'),
    import('./http/page-routes.ts'),
    import('../runtime/views/workers-view.ts'),
  ])
  checkCertificate(options.tls)
  const { logger = silentLogger, retention, allowPrivateWebhooks, host: address, ...http } = options
  const { workersRoot } = options
  const workers = workersRoot === undefined ? undefined : openWorkersView({ root: resolve(workersRoot) })
  const place = { directory: process.cwd(), environment: process.env }
  const stores = await openStores(options, place)
  const { store, archive } = stores
  const secrets = [options.store, options.archive].flatMap((given) =>
    typeof given === 'string' ? addresses.passwordsIn(addresses.resolveAddress(given, place)) : [],
  )
  const closing: (() => Promise<void>)[] = []
  try {
    const metered = options.metrics === undefined ? undefined : await openMetered(options.engine)
    const host = openHost({
      ...{ store, archive, logger },
      ...defined({ retention, allowPrivateWebhooks, engine: metered?.engine ?? options.engine }),
    })
    closing.push(() => host.close())
    const metrics = await metered?.serve(host.engines, options)
    if (metrics !== undefined) closing.push(() => metrics.close())
    const tokens = openTokens(store)
    const redactor = options.redactor ?? createRedactor(secrets)
    const { pageOf, closePage } = await openPage({
      ...{ lakefs: options.lakefs, conductor: options.conductor, logger, redactor },
      examineHost: () => host.examine(),
    })
    closing.push(closePage)
    const door = await serveHttp({
      ...http,
      address,
      host,
      tokens,
      logger,
      redactor,
      pageOf,
      page: { files: BUILT_PAGE, workers },
    })
    closing.push(() => door.close())
    host.startWork()
    const close = once(async () => {
      // First, so that running requests can end.
      await door.close()
      await Promise.all(closing.map((part) => part()))
      await stores.close()
    })
    return { url: door.url, metricsUrl: metrics && `${metrics.url}/metrics`, tokens, close }
  } catch (error) {
    await Promise.all(closing.map((part) => part()))
    await stores.close()
    throw error
  }
}

/** The engine with metrics as one of its observers, and the port that shows them. */
async function openMetered(engine: StartServerOptions['engine']) {
  const [{ openEngineMetrics }, { serveMetrics }] = await Promise.all([
    import('../runtime/telemetry/engine-metrics.ts'),
    import('../runtime/telemetry/serve-metrics.ts'),
  ])
  if (engine === undefined || engine === false) {
    throw new InvalidError(
      'server/no-engine',
      'serve metrics of the engine: this server runs no executions',
      {
        next: 'Start it with its engine, or without a port for metrics.',
      },
    )
  }
  let engines: Engines | undefined
  const setup = engine === true ? {} : engine
  const metrics = openEngineMetrics({ stages: () => engines?.stages() ?? [] })
  return {
    engine: { ...setup, observers: [...(setup.observers ?? []), metrics.observe] },
    serve: (opened: Engines | undefined, { metrics: at, tls, allowPlainText }: StartServerOptions) => {
      engines = opened
      return serveMetrics({ metrics, tls, allowPlainText, ...defined({ port: at?.port, host: at?.host }) })
    },
  }
}
