import { resolve } from 'node:path'
import { aborted } from '../../base/abort-signals.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import { createPrettyLogger } from '../../base/pretty-logger.ts'
import {
  startEmbeddedLakefs,
  type EmbeddedLakefs,
  type EmbeddedLakefsOptions,
} from '../../embedded/lakefs/server.ts'
import { EMBEDDED_DATA_DIR, type LakefsOptions } from '../options.ts'
import { openLakefsPage } from '../lakefs-page.ts'
import { forgetServerAddress, recordServerAddress } from '../server-address.ts'
import type { Terminal } from '../terminal.ts'

/** Serves until the terminal says to stop. Standard output gets one line, when the server listens. */
export async function serveLakefs(options: LakefsOptions, terminal: Terminal): Promise<void> {
  const credentials = givenCredentials(options, terminal)
  const dataDir =
    options.memory === true ? undefined : resolve(terminal.directory, options.data ?? EMBEDDED_DATA_DIR)
  if (options.memory === true && options.data !== undefined) {
    throw new InvalidError('cli/bad-usage', 'read the command line: --memory and --data exclude each other', {
      next: 'Leave one of them out.',
    })
  }
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const logger = createPrettyLogger({
    level: options.logLevel,
    redactor: terminal.redactor,
    write: terminal.say,
  })
  const page = openLakefsPage({ terminal, logger })
  const server = await startEmbeddedLakefs({
    host: options.host,
    port: options.port,
    presign: options.presign ?? false,
    repositories: options.repository ?? [],
    ...defined({ dataDir }),
    ...credentials,
    fallback: page.fallback,
    logger,
  })
  try {
    if (dataDir !== undefined) await recordServerAddress(dataDir, server.url)
    introduce(server, options, { terminal, pageUrl: page.open(server) })
    await aborted(stop)
  } finally {
    // First, so that from the signal on no request is begun.
    const closed = server.close()
    if (dataDir !== undefined) await forgetServerAddress(dataDir)
    await closed
    await page.close()
  }
}

const SECRET_VARIABLE = 'PERAGO_EMBEDDED_SECRET_ACCESS_KEY'

/** Also from variables, so that no secret shows in the list of processes. `LAKEFS_…` are those of the configured server. */
function givenCredentials(
  options: LakefsOptions,
  terminal: Terminal,
): Pick<EmbeddedLakefsOptions, 'accessKeyId' | 'secretAccessKey'> {
  const accessKeyId = options.accessKey ?? filled(terminal, 'PERAGO_EMBEDDED_ACCESS_KEY_ID')
  const secretAccessKey = options.secretKey ?? filled(terminal, SECRET_VARIABLE)
  if (secretAccessKey !== undefined) terminal.keepSecret(secretAccessKey)
  return defined({ accessKeyId, secretAccessKey })
}

function filled(terminal: Terminal, variable: string): string | undefined {
  const value = terminal.environment[variable]
  return value === '' ? undefined : value
}

function introduce(
  server: EmbeddedLakefs,
  options: LakefsOptions,
  { terminal, pageUrl }: { readonly terminal: Terminal; readonly pageUrl: string },
): void {
  const shown =
    options.secretKey === undefined
      ? []
      : [`--secret-key shows the secret to everybody who can list processes: set ${SECRET_VARIABLE} instead`]
  for (const warning of [...shown, ...server.warnings])
    terminal.say(`${terminal.style.bad('warning:')} ${warning}\n`)
  if (server.generated) {
    const kept = options.memory === true ? '' : '; "perago lakefs credentials" shows them again'
    terminal.say(`credentials, shown this once${kept}:\n`)
    terminal.say(
      `  access key id      ${server.accessKeyId}\n  secret access key  ${server.secretAccessKey}\n`,
    )
  }
  terminal.keepSecret(server.secretAccessKey)
  terminal.say(`page ${pageUrl}\n`)
  terminal.answer(`ready ${server.url}\n`)
}
