/** What commands have in common in their help. */

import { Option, type Command } from 'commander'
import { LOG_LEVELS } from '../base/logger.ts'

/** For a command that reads the configuration and answers. */
export function configured(command: Command): Command {
  return configuredServing(command).option('--json', 'answer with one JSON document')
}

/** For a command that reads the configuration and goes on until it is stopped. */
export function configuredServing(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'the configuration file (default: perago.yaml, perago.yml or perago.json here)',
    )
    .addOption(new Option('--log-level <level>', 'from which level on to log').choices(LOG_LEVELS))
}

export function example(...lines: readonly string[]): string {
  return `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ ${line}\n`).join('')}`
}
