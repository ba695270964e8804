/** Where workflows run for this directory: the engine of `perago dev`, or the Conductor that is configured. */

import { resolve } from 'node:path'
import { InvalidError } from '../base/errors.ts'
import type { Logger } from '../base/logger.ts'
import { readStoredKeyPair } from '../embedded/lakefs/credentials.ts'
import type { PeragoConfiguration } from '../runtime/configuration/configuration.ts'
import { withWorkflows, type Workflows } from '../runtime/workflows.ts'
import { loadForCommand } from './configured.ts'
import { DEV_DATA_DIR, EMBEDDED_DATA_DIR, PATIENCE, type ConfiguredOptions } from './options.ts'
import { readServerAddress } from './server-address.ts'
import type { Terminal } from './terminal.ts'

/**
 * The engine first: whoever develops here must not start something on a cluster because its address is configured as well. The
 * choice is said, unless the answer is JSON.
 */
export async function withRunner<T>(
  options: ConfiguredOptions,
  terminal: Terminal,
  work: (workflows: Workflows, runner: Runner) => Promise<T>,
): Promise<T> {
  const { configuration, logger } = await loadForCommand(options, terminal)
  const dev = await readServerAddress(resolve(terminal.directory, DEV_DATA_DIR))
  const serverUrl = dev === undefined ? configuration.conductor.serverUrl : `${dev}/api`
  if (serverUrl === undefined) {
    throw new InvalidError('cli/no-runner', 'find what runs workflows here: there is nothing', {
      next: 'Start "perago dev MODULE" in this directory, or set conductor.serverUrl.',
    })
  }
  if (options.json !== true)
    terminal.say(terminal.style.faint(`on ${dev === undefined ? 'Conductor' : 'perago dev'}, ${serverUrl}\n`))
  const conductor = dev === undefined ? configuration.conductor : { serverUrl, auth: undefined }
  const own = dev === undefined ? configuration : await withDevLakefs(configuration, terminal)
  return withWorkflows({ ...own, conductor }, { logger, retry: PATIENCE }, (workflows) =>
    work(workflows, { configuration: own, logger, isDev: dev !== undefined }),
  )
}

/** What else belongs to it. */
export interface Runner {
  /** Names the lakeFS that its workers use. */
  readonly configuration: PeragoConfiguration
  readonly logger: Logger
  /** The engine of `perago dev`, not a Conductor. */
  readonly isDev: boolean
}

/** As `perago dev` does: the embedded one, unless another is configured. */
async function withDevLakefs(
  configuration: PeragoConfiguration,
  terminal: Terminal,
): Promise<PeragoConfiguration> {
  if (configuration.lakefs.endpoint !== undefined) return configuration
  const dataDir = resolve(terminal.directory, EMBEDDED_DATA_DIR)
  const [endpoint, credentials] = await Promise.all([readServerAddress(dataDir), readStoredKeyPair(dataDir)])
  if (credentials !== undefined) terminal.keepSecret(credentials.secretAccessKey)
  return { ...configuration, lakefs: { ...configuration.lakefs, endpoint, credentials } }
}
