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

import { defined } from '../base/defined.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import { createRedactor, type Redactor } from '../base/redaction.ts'
import type { EventArchive } from '../core/events/archive-port.ts'
import type { Retention } from '../core/life-cycle/sweep-execution.ts'
import type { Store } from '../core/ports.ts'
import type { Role } from './access/callers.ts'
import type { Tokens } from './access/tokens.ts'

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
  /** The address to listen on; 127.0.0.1 unless given. */
  readonly host?: string
  /** 8080 unless given; 0 takes a free one. */
  readonly port?: number
  /** In PEM. Then only TLS is spoken. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  /** Allows other addresses than loopback without TLS, for a server behind a proxy that speaks it. */
  readonly allowPlainText?: boolean | undefined
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

export interface RunningServer {
  readonly url: string
  /** Makes, lists and revokes the tokens that callers need. */
  readonly tokens: Tokens
  /** Ends requests, deliveries, archiving and sweeping, and closes what the server opened. May be called twice. */
  close(): Promise<void>
}

/** Serves events and variables of executions over HTTP, delivers webhooks, archives and sweeps, until it is closed. */
export async function startServer(options: StartServerOptions): Promise<RunningServer> {
  // Loaded here, because most programs that import the package start no server.
  const [{ openHost }, { openStores }, addresses, { openTokens }, { serveHttp }] = await Promise.all([
    import('../runtime/host.ts'),
    import('../runtime/stores/open-store.ts'),
    import('../runtime/stores/store-address.ts'),
    import('./access/tokens.ts'),
    import('./http/serve.ts'),
  ])
  const { logger = silentLogger, retention, allowPrivateWebhooks, host: address, ...http } = options
  const place = { directory: process.cwd(), environment: process.env }
  const stores = await openStores(options, place)
  const { store, archive } = stores
  const secrets = [options.store, options.archive].flatMap((given) =>
    typeof given === 'string' ? addresses.passwordsIn(addresses.resolveAddress(given, place)) : [],
  )
  try {
    const host = openHost({ store, archive, logger, ...defined({ retention, allowPrivateWebhooks }) })
    const tokens = openTokens(store)
    const door = await serveHttp({
      ...http,
      address,
      host,
      tokens,
      logger,
      redactor: options.redactor ?? createRedactor(secrets),
    })
    host.startWork()
    const close = once(async () => {
      await Promise.all([door.close(), host.close()])
      await stores.close()
    })
    return { url: door.url, tokens, close }
  } catch (error) {
    await stores.close()
    throw error
  }
}
