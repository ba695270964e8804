// Conductor's API on a port of this machine.

import { plainRedactor } from '../../../src/base/redaction.ts'
import { listenHttp, type HttpDoor } from '../../../src/server/http/listen-http.ts'
import { buildConductorApp, type ConductorAppParts } from '../../../src/server/conductor/conductor-app.ts'

export interface ServeConductorOptions extends ConductorAppParts {
  /** 0 takes a free one. */
  readonly port: number
}

export function serveConductor(options: ServeConductorOptions): Promise<HttpDoor> {
  const { port, redactor = plainRedactor } = options
  const app = buildConductorApp(options)
  return listenHttp({
    fetch: (request) => app.fetch(request),
    ...{ address: '127.0.0.1', port, redactor },
  })
}
