/**
 * A page over what is elsewhere, without a store: no executions, no tokens. `perago ui` serves it alone, and `perago lakefs` beside
 * its own API.
 */

import { getRequestListener } from '@hono/node-server'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../base/logger.ts'
import { plainRedactor, type Redactor } from '../base/redaction.ts'
import { badToken } from './access/tokens.ts'
import { buildHttpApp, HOST_PATHS, type HttpApp, type PageParts } from './http/app.ts'
import { listenHttp, type HttpDoor } from './http/listen-http.ts'
import { isForPage } from './http/page-routes.ts'

export interface PageServerParts {
  readonly page: PageParts
  readonly logger: Logger
  readonly redactor?: Redactor
}

/** On loopback. */
export function servePage(parts: PageServerParts & { readonly port: number }): Promise<HttpDoor> {
  const { redactor = plainRedactor, port } = parts
  const closing = new AbortController()
  const app = buildPageApp(parts, closing.signal)
  return listenHttp({
    fetch: (request, arrival) => app.fetch(request, arrival),
    onClose: () => closing.abort(),
    ...{ address: '127.0.0.1', port, redactor },
  })
}

/** For a server of another API: resolves with false, and does nothing, for what is not of the page. */
export function buildPageListener(
  parts: PageServerParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const app = buildPageApp(parts, new AbortController().signal)
  const listener = getRequestListener((request, { incoming }) => {
    const { socket, httpVersion } = incoming as IncomingMessage
    return app.fetch(request, { address: socket.remoteAddress, isProxied: httpVersion === '1.0' })
  })
  return async (request, response) => {
    if (!isOfPage(request)) return false
    await listener(request, response)
    return true
  }
}

function buildPageApp({ page, logger, redactor }: PageServerParts, closing: AbortSignal): HttpApp {
  const tokens = { verify: () => Promise.reject(badToken()) }
  return buildHttpApp({ page, logger, redactor, tokens, closing })
}

const ASKED_BY_PAGE: ReadonlySet<string> = new Set(['session', 'repositories', 'workflows', ...HOST_PATHS])

function isOfPage({ method = '', url = '', headers }: IncomingMessage): boolean {
  const [path = ''] = url.split('?', 1)
  return (
    isForPage({ method, path, accept: headers.accept ?? null }) ||
    ASKED_BY_PAGE.has(path.split('/', 2)[1] ?? '')
  )
}
