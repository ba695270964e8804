import { resolve } from 'node:path'
import { aborted } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import { readBoundedText } from '../../runtime/configuration/text-files.ts'
import { SECRET_FILE_MAX_BYTES } from '../../runtime/limits.ts'
import type { Role } from '../../server/access/callers.ts'
import type { PeragoConfiguration } from '../../runtime/configuration/configuration.ts'
import { startServer, type MetricsPlace, type StartServerOptions } from '../../server/start-server.ts'
import { openTenantRollbacks } from '../../runtime/lakefs-rollback.ts'
import { loadCore, openCoreStores } from '../core-stores.ts'
import type { CoreOptions } from '../store-options.ts'
import { openSpans } from '../engine-spans.ts'
import { workRootOf } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export interface ServeOptions extends CoreOptions {
  readonly host: string
  readonly port: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly allowPlainText?: boolean
  readonly allowPrivateWebhooks?: boolean
  readonly openLoopback?: Role
  readonly trustedProxies?: readonly string[]
  readonly engine?: boolean
  readonly metricsPort?: number
  readonly metricsHost?: string
  readonly root?: string
}

/** Serves until the terminal says to stop. Standard output gets one line, when the server listens. */
export async function serveExecutions(options: ServeOptions, terminal: Terminal): Promise<void> {
  const tls = await readTls(options, terminal)
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const loaded = await loadCore(options, terminal)
  const stores = await openCoreStores(loaded, terminal)
  const rollbacks = openTenantRollbacks(loaded, loaded)
  const spans = openSpans(terminal.environment, loaded)
  try {
    const { host, port, allowPlainText, allowPrivateWebhooks, openLoopback, trustedProxies } = options
    const engine = options.engine === true && { ...loaded.engine, ...spans.seen, dataOf: rollbacks.dataOf }
    const server = await startServer({
      ...stores,
      ...{ host, port, tls, allowPlainText, allowPrivateWebhooks, openLoopback, trustedProxies, engine },
      ...lakefsOf(loaded.configuration),
      ...conductorOf(loaded.configuration),
      metrics: metricsPlaceOf(options),
      workersRoot: workRootOf(options, terminal),
      retention: loaded.core.retention,
      logger: loaded.logger,
      redactor: terminal.redactor,
    })
    terminal.answer(`ready ${server.url}\n`)
    if (server.metricsUrl !== undefined) terminal.say(`metrics of the engine at ${server.metricsUrl}\n`)
    await aborted(stop)
    await server.close()
  } finally {
    await Promise.all([rollbacks.close(), spans.close()])
    await stores.close()
  }
}

/** Where one is configured, its repositories are shown. */
function lakefsOf({ lakefs, ledger }: PeragoConfiguration): Pick<StartServerOptions, 'lakefs'> {
  const { endpoint, credentials, fence } = lakefs
  if (endpoint === undefined || credentials === undefined) return {}
  return { lakefs: { endpoint, ...credentials, fence, ledgerKeys: ledger?.keys } }
}

/** Where one is configured, its workflows are shown. */
function conductorOf({ conductor }: PeragoConfiguration): Pick<StartServerOptions, 'conductor'> {
  const { serverUrl: endpoint, auth } = conductor
  if (endpoint === undefined) return {}
  return { conductor: { endpoint, key: auth && { keyId: auth.key, keySecret: auth.secret } } }
}

function metricsPlaceOf({ metricsPort: port, metricsHost: host }: ServeOptions): MetricsPlace | undefined {
  if (port !== undefined) return { port, host }
  if (host === undefined) return undefined
  throw badUsage('--metrics-host belongs to --metrics-port', 'Give both.')
}

async function readTls(
  { tlsCert, tlsKey }: ServeOptions,
  terminal: Terminal,
): Promise<{ readonly certificate: string; readonly key: string } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert === undefined || tlsKey === undefined) {
    throw badUsage('--tls-cert and --tls-key belong together', 'Give both.')
  }
  const key = await readPem(tlsKey, '--tls-key', terminal)
  terminal.keepSecret(key)
  return { certificate: await readPem(tlsCert, '--tls-cert', terminal), key }
}

async function readPem(path: string, option: string, terminal: Terminal): Promise<string> {
  const text = await readBoundedText(resolve(terminal.directory, path), SECRET_FILE_MAX_BYTES)
  if ('content' in text) return text.content
  throw badUsage(`${option} names ${path}: ${text.problem}`, 'Name a file in PEM.')
}

function badUsage(problem: string, next: string): InvalidError {
  return new InvalidError('cli/bad-usage', `read the command line: ${problem}`, { next })
}
