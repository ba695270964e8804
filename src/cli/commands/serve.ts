import { resolve } from 'node:path'
import { aborted } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import { readBoundedText } from '../../runtime/configuration/text-files.ts'
import { SECRET_FILE_MAX_BYTES } from '../../runtime/limits.ts'
import type { Role } from '../../server/access/callers.ts'
import { startServer } from '../../server/start-server.ts'
import { loadCore, openCoreStores, type CoreOptions } from '../core-stores.ts'
import type { Terminal } from '../terminal.ts'

export interface ServeOptions extends CoreOptions {
  readonly host: string
  readonly port: number
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly allowPlainText?: boolean
  readonly allowPrivateWebhooks?: boolean
  readonly openLoopback?: Role
}

/** Serves until the terminal says to stop. Standard output gets one line, when the server listens. */
export async function serveExecutions(options: ServeOptions, terminal: Terminal): Promise<void> {
  const tls = await readTls(options, terminal)
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const loaded = await loadCore(options, terminal)
  const stores = await openCoreStores(loaded, terminal)
  try {
    const { host, port, allowPlainText, allowPrivateWebhooks, openLoopback } = options
    const server = await startServer({
      ...stores,
      ...{ host, port, tls, allowPlainText, allowPrivateWebhooks, openLoopback },
      retention: loaded.core.retention,
      logger: loaded.logger,
      redactor: terminal.redactor,
    })
    terminal.answer(`ready ${server.url}\n`)
    await aborted(stop)
    await server.close()
  } finally {
    await stores.close()
  }
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
