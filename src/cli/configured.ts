import type { Logger } from '../base/logger.ts'
import {
  loadConfiguration,
  type LoadConfigurationRequest,
  type LoadedConfiguration,
} from '../runtime/configuration/configuration.ts'
import { openLogger } from '../runtime/telemetry/logging.ts'
import type { ConfiguredOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

/** The configuration as this command was told to read it; its secrets are kept from here on. */
export async function loadForCommand(
  options: ConfiguredOptions,
  terminal: Terminal,
  flags: LoadConfigurationRequest['flags'] = {},
): Promise<LoadedConfiguration> {
  const loaded = await loadConfiguration({
    directory: terminal.directory,
    environment: terminal.environment,
    path: options.config,
    flags: {
      ...(options.logLevel === undefined
        ? {}
        : { 'log.level': { flag: '--log-level', value: options.logLevel } }),
      ...flags,
    },
  })
  for (const secret of loaded.secrets) terminal.keepSecret(secret)
  return loaded
}

/** A logger as the configuration wants it, writing to where the command speaks. */
export function loggerForCommand({ configuration }: LoadedConfiguration, terminal: Terminal): Logger {
  return openLogger({
    ...configuration.log,
    redactor: terminal.redactor,
    write: terminal.say,
    isTerminal: process.stderr.isTTY,
  })
}
