import type { Logger } from '../base/logger.ts'
import {
  loadConfiguration,
  type LoadConfigurationRequest,
  type LoadedConfiguration,
} from '../runtime/configuration/configuration.ts'
import { openLogger } from '../runtime/telemetry/logging.ts'
import type { ConfiguredOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

export type LoadedForCommand = LoadedConfiguration & { readonly logger: Logger }

/** What the command line says about settings; a flag that was not given has no value. */
export type Flags = NonNullable<LoadConfigurationRequest['flags']>

/**
 * The configuration for this command, and a logger as it says, which writes to standard error. From here on the terminal does
 * not show its secrets.
 */
export async function loadForCommand(
  options: ConfiguredOptions,
  terminal: Terminal,
  flags: Flags = {},
): Promise<LoadedForCommand> {
  const loaded = await loadConfiguration({
    directory: terminal.directory,
    environment: terminal.environment,
    path: options.config,
    flags: withValues({ 'log.level': { flag: '--log-level', value: options.logLevel }, ...flags }),
  })
  for (const secret of loaded.secrets) terminal.keepSecret(secret)
  const logger = openLogger({
    ...loaded.configuration.log,
    redactor: terminal.redactor,
    write: terminal.say,
    isTerminal: process.stderr.isTTY,
  })
  return { ...loaded, logger }
}

function withValues(flags: Flags): Flags {
  return Object.fromEntries(Object.entries(flags).filter(([, { value }]) => value !== undefined))
}
