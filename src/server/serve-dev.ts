/** What `perago dev` serves on one port of this machine: Conductor's API for workers and commands, our own without tokens, and the page. */

import type { Logger } from '../base/logger.ts'
import { plainRedactor } from '../base/redaction.ts'
import type { Host } from '../runtime/host.ts'
import { openExaminationView } from '../runtime/views/examination-view.ts'
import type { PeragoConfiguration } from '../runtime/configuration/configuration.ts'
import { openRecoveryView } from '../runtime/views/recovery-view.ts'
import type { WorkflowViews } from '../runtime/views/workflow-view.ts'
import { openTokens } from './access/tokens.ts'
import { buildConductorApp, type ConductorAppParts } from './conductor/conductor-app.ts'
import type { ServedQueue } from './conductor/served-queue.ts'
import { buildHttpApp, type PageParts } from './http/app.ts'
import { openEngineWorkflows } from './http/engine-workflows.ts'
import { listenHttp, type HttpDoor } from './http/listen-http.ts'

export interface ServeDevOptions extends ServedQueue {
  readonly host: Host
  /** Served at `/metrics`. */
  readonly metrics: ConductorAppParts['metrics']
  readonly page: PageParts
  /** Recoveries on it are offered, of what the engine ran. */
  readonly lakefs: PeragoConfiguration['lakefs']
  readonly logger: Logger
  /** 0 takes a free one. */
  readonly port: number
}

export async function serveDev({
  host,
  page,
  lakefs,
  logger,
  port,
  ...served
}: ServeDevOptions): Promise<HttpDoor> {
  const closing = new AbortController()
  const conductor = buildConductorApp({ ...served, logger, closing: closing.signal })
  const { engines } = host
  const workflows =
    engines && onlyDefault(openEngineWorkflows({ appOf: () => Promise.resolve(conductor), engines }))
  const shown = workflows?.of(undefined)
  const examination = openExaminationView({
    ...{ examineHost: () => host.examine(), configuration: {}, logger },
    readPollers: shown && ((signal) => shown.pollers(signal)),
  })
  const recoveries = openRecoveryView({
    configuration: { lakefs, conductor: { serverUrl: undefined, auth: undefined } },
    ...{ conductor: (request) => conductor.fetch(request), logger },
  })
  const own = buildHttpApp({
    page: { workflows, examination, recoveries, ...page },
    ...{ host, logger, closing: closing.signal, tokens: openTokens(host.store) },
    openLoopback: 'admin',
  })
  const door = await listenHttp({
    fetch: (request, arrival) =>
      isConductors(new URL(request.url).pathname)
        ? conductor.fetch(request, arrival)
        : own.fetch(request, arrival),
    onClose: () => closing.abort(),
    ...{ address: '127.0.0.1', port, redactor: plainRedactor },
  })
  return {
    ...door,
    close: async () => {
      await door.close()
      await recoveries.close()
    },
  }
}

/** There are no other tenants here. */
function onlyDefault({ of }: WorkflowViews): WorkflowViews {
  return { of: (tenant) => (tenant === undefined ? of(tenant) : undefined) }
}

function isConductors(path: string): boolean {
  return path.startsWith('/api/') || path === '/health' || path === '/metrics'
}
