/** What `perago dev` serves on one port of this machine: Conductor's API for workers and commands, our own without tokens, and the page. */

import type { Logger } from '../base/logger.ts'
import { plainRedactor } from '../base/redaction.ts'
import type { Host } from '../runtime/host.ts'
import { openTokens } from './access/tokens.ts'
import { buildConductorApp, type ConductorAppParts } from './conductor/conductor-app.ts'
import type { ServedQueue } from './conductor/served-queue.ts'
import { buildHttpApp, type PageParts } from './http/app.ts'
import { listenHttp, type HttpDoor } from './http/listen-http.ts'

export interface ServeDevOptions extends ServedQueue {
  readonly host: Host
  /** Served at `/metrics`. */
  readonly metrics: ConductorAppParts['metrics']
  readonly page: PageParts
  readonly logger: Logger
  /** 0 takes a free one. */
  readonly port: number
}

export function serveDev({ host, page, logger, port, ...served }: ServeDevOptions): Promise<HttpDoor> {
  const closing = new AbortController()
  const conductor = buildConductorApp({ ...served, logger, closing: closing.signal })
  const own = buildHttpApp({
    ...{ host, page, logger, closing: closing.signal, tokens: openTokens(host.store) },
    openLoopback: 'admin',
  })
  return listenHttp({
    fetch: (request, arrival) =>
      isConductors(new URL(request.url).pathname)
        ? conductor.fetch(request, arrival)
        : own.fetch(request, arrival),
    onClose: () => closing.abort(),
    ...{ address: '127.0.0.1', port, redactor: plainRedactor },
  })
}

function isConductors(path: string): boolean {
  return path.startsWith('/api/') || path === '/health' || path === '/metrics'
}
