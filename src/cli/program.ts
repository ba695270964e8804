/**
 * The commands, their options and their help. What a command does lives in `commands/`, and is loaded when it is run:
 * asking for help or a version must not wait for a server.
 */

import { Command, Option } from 'commander'
import { readFileSync } from 'node:fs'
import { LOG_LEVELS } from '../base/logger.ts'
import { addCoreCommands } from './core-commands.ts'
import { configured, example } from './help.ts'
import { parsePort, type ConfiguredOptions, type DataOptions, type LakefsOptions } from './options.ts'
import { addCacheCommands } from './cache-commands.ts'
import { addStoreCommands } from './store-commands.ts'
import { addTaskCommands } from './task-commands.ts'
import type { Terminal } from './terminal.ts'
import { addWebhookCommands } from './webhook-commands.ts'

export function buildProgram(terminal: Terminal): Command {
  const program = new Command('perago')
    .description('Publishes versioned data from workflow tasks without losing or overwriting anybody’s work.')
    .version(readVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: terminal.answer,
      // Nothing is written twice: run.ts shows every failure in the same way.
      writeErr: () => undefined,
    })
    .addHelpText('after', example('perago lakefs', 'perago doctor'))
  addTaskCommands(program, terminal)
  addCacheCommands(program, terminal)
  addCoreCommands(program, terminal)
  addWebhookCommands(program, terminal)
  addStoreCommands(program, terminal)
  addLakefs(program, terminal)
  addConfig(program, terminal)
  addDoctor(program, terminal)
  return program
}

function addLakefs(program: Command, terminal: Terminal): void {
  const lakefs = program
    .command('lakefs')
    .summary('Serves an embedded lakeFS-compatible server.')
    .description(
      'Serves an embedded lakeFS-compatible server until it is stopped. Prints "ready <address>" once it listens.',
    )
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes a free one', parsePort, 8000)
    .option('--data <dir>', 'where everything is kept (default: .perago/lakefs)')
    .option('--memory', 'keep everything in memory, and nothing after the end')
    .option(
      '--access-key <key>',
      'the access key id to accept (default: kept with the data, generated at first)',
    )
    .option(
      '--secret-key <secret>',
      'the secret to accept; better given as PERAGO_EMBEDDED_SECRET_ACCESS_KEY',
    )
    .option(
      '--repository <name>',
      'make this repository, with a branch main, unless it is there; may be given again',
      (name: string, before: readonly string[] | undefined) => [...(before ?? []), name],
    )
    .option('--presign', 'offer presigned addresses, as lakeFS does over an object store')
    .addOption(
      new Option('--log-level <level>', 'from which level on to log').choices(LOG_LEVELS).default('warn'),
    )
    .addHelpText(
      'after',
      example('perago lakefs --port 8000 --data ./my-lake', 'perago lakefs --memory --port 0'),
    )
    .action(async (options: LakefsOptions) => {
      const { serveLakefs } = await import('./commands/lakefs-serve.ts')
      await serveLakefs(options, terminal)
    })

  lakefs
    .command('gc')
    .description('Removes the objects no commit, branch or upload refers to. The server must not be running.')
    .option('--data <dir>', 'where the server keeps everything (default: .perago/lakefs)')
    .option('--dry-run', 'only say what would be removed')
    .option('--json', 'answer with one JSON document')
    .addHelpText('after', example('perago lakefs gc --dry-run'))
    .action(async (options: DataOptions & { readonly dryRun?: boolean }, command: Command) => {
      const { removeGarbage } = await import('./commands/lakefs-gc.ts')
      await removeGarbage({ ...parentData(command), ...options }, terminal)
    })

  lakefs
    .command('credentials')
    .description('Shows the credentials that are kept with the data, secret included.')
    .option('--data <dir>', 'where the server keeps everything (default: .perago/lakefs)')
    .option('--json', 'answer with one JSON document')
    .addHelpText('after', example('perago lakefs credentials --json'))
    .action(async (options: DataOptions, command: Command) => {
      const { showCredentials } = await import('./commands/lakefs-credentials.ts')
      await showCredentials({ ...parentData(command), ...options }, terminal)
    })

  lakefs
    .command('env')
    .description('Prints, for a shell to evaluate, the variables that perago and lakectl read.')
    .option('--data <dir>', 'where the server keeps everything (default: .perago/lakefs)')
    .option('--endpoint <address>', 'where the server is (default: where the one at work on the data says)')
    .addHelpText('after', example('eval "$(perago lakefs env)"'))
    .action(async (options: DataOptions & { readonly endpoint?: string }, command: Command) => {
      const { printVariables } = await import('./commands/lakefs-credentials.ts')
      await printVariables({ ...parentData(command), ...options }, terminal)
    })
}

function addConfig(program: Command, terminal: Terminal): void {
  configured(program.command('config'))
    .description(
      'Shows the configuration that is in force and where each value comes from; secrets only as such.',
    )
    .addHelpText(
      'after',
      example('perago config', 'LAKEFS_ENDPOINT=http://127.0.0.1:8000 perago config --json'),
    )
    .action(async (options: ConfiguredOptions) => {
      const { showConfiguration } = await import('./commands/config.ts')
      await showConfiguration(options, terminal)
    })
}

function addDoctor(program: Command, terminal: Terminal): void {
  configured(program.command('doctor'))
    .summary('Reaches the configured lakeFS and Conductor, and says what they are and what is wrong.')
    .description(
      'Reaches the configured lakeFS and Conductor, changing nothing there, and says what they are, what they can do, and what is wrong, with what to do about it. With a module it also compares its definitions with those on Conductor.',
    )
    .argument('[module]', 'the .ts or .js file that exports the tasks')
    .addHelpText('after', example('perago doctor', 'perago doctor tasks.ts --json'))
    .action(async (module: string | undefined, options: ConfiguredOptions) => {
      const { examine } = await import('./commands/doctor.ts')
      await examine(module, options, terminal)
    })
}

/** `perago lakefs --data DIR gc` names the directory before the inner command. */
function parentData(command: Command): DataOptions {
  const { data } = command.parent?.opts<DataOptions>() ?? {}
  return data === undefined ? {} : { data }
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
