/** What commands have in common. */

import { Option, type Command } from 'commander'
import { LOG_LEVELS } from '../base/logger.ts'
import type { Terminal } from './terminal.ts'

/** For a command that reads the configuration and answers. */
export function configured(command: Command): Command {
  return configuredServing(command).option('--json', 'print one JSON document')
}

/** For a command that reads the configuration and goes on until it is stopped. */
export function configuredServing(command: Command): Command {
  return command
    .option(
      '--config <file>',
      'the configuration file (default: perago.yaml, perago.yml or perago.json here)',
    )
    .addOption(new Option('--log-level <level>', 'the lowest level that is logged').choices(LOG_LEVELS))
}

/** For a command that needs an engine of perago, not a Conductor. */
export function onEngine(command: Command): Command {
  return configured(command)
    .option(
      '--server <address>',
      'the address of a perago serve --engine (default: the perago dev of this directory, then conductor.serverUrl)',
    )
    .option('--token <variable>', 'with --server: env:NAME, the variable that has its token')
}

export function example(...lines: readonly string[]): string {
  return `\nExample${lines.length === 1 ? '' : 's'}:\n${lines.map((line) => `  $ ${line}\n`).join('')}`
}

/**
 * What a command does, loaded when it is run: asking for help must not wait for it. It is called with the arguments, the options
 * (those of the parent command too) and the terminal.
 */
export function lazy(
  terminal: Terminal,
  load: () => Promise<(...args: never[]) => Promise<void>>,
): (...args: unknown[]) => Promise<void> {
  return async (...args) => {
    const command = args.pop() as Command
    const options = { ...command.parent?.opts(), ...(args.pop() as object) }
    const handler = (await load()) as (...args: unknown[]) => Promise<void>
    await handler(...args, options, terminal)
  }
}
