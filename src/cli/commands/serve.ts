import { resolve } from 'node:path'
import type { Role } from '../../server/access/callers.ts'
import { createTokens, type TokenRecord } from '../../server/access/tokens.ts'
import { aborted } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import { SECRET_FILE_MAX_BYTES } from '../../runtime/limits.ts'
import { openExecutionAccess } from '../../runtime/execution-access.ts'
import { maintainStore } from '../../runtime/stores/maintain-store.ts'
import { examineStore } from '../../runtime/stores/open-store.ts'
import { openRecordStore } from '../../core/records/record-store.ts'
import { readBoundedText } from '../../runtime/configuration/text-files.ts'
import { serveHttp } from '../../server/http/serve.ts'
import { loggerForCommand } from '../configured.ts'
import { loadCore, openCoreStores, type CoreOptions } from '../core-stores.ts'
import { retentionFlags, type RetentionOptions } from '../retention-options.ts'
import type { Terminal } from '../terminal.ts'
import { openWebhooks } from '../../webhooks/webhooks.ts'

export interface ServeOptions extends CoreOptions, RetentionOptions {
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
  const { redactor } = terminal
  const loaded = await loadCore(options, terminal, retentionFlags(options))
  const logger = loggerForCommand(loaded, terminal)
  const stores = await openCoreStores(loaded, terminal)
  const { store, archive } = stores
  try {
    const access = openExecutionAccess({ store, archive, logger, outbox: true })
    const allowPrivate = options.allowPrivateWebhooks ?? false
    const webhooks = openWebhooks({ store, logger, allowPrivate })
    const door = await serveHttp({
      host: options.host,
      port: options.port,
      access,
      compilePattern: access.compilePattern,
      tokens: createTokens({ records: openRecordStore<TokenRecord>(store, 'tokens') }),
      webhooks,
      examine: () => examineStore(store),
      logger,
      redactor,
      ...(tls === undefined ? {} : { tls }),
      ...(options.allowPlainText === undefined ? {} : { allowPlainText: options.allowPlainText }),
      ...(options.openLoopback === undefined ? {} : { openLoopback: options.openLoopback }),
    })
    const dispatcher = webhooks.startDelivering()
    const { retention } = loaded.core
    const maintained = maintainStore({ store, archive, retention, logger }, stop)
    try {
      terminal.answer(`ready ${door.url}\n`)
      await aborted(stop)
    } finally {
      await Promise.all([door.close(), dispatcher.close(), maintained])
    }
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
