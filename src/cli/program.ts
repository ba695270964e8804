/** The commands, their options and their help. What a command does is in `commands/`. */

import { Argument, Command, Option } from 'commander'
import { readFileSync } from 'node:fs'
import { LOG_LEVELS } from '../base/logger.ts'
import { addCoreCommands } from './core-commands.ts'
import { addHelpCommand } from './help-command.ts'
import { configured, example, lazy } from './help.ts'
import { parsePort, SHELLS, type Shell } from './options.ts'
import { addCacheCommands } from './cache-commands.ts'
import { addFenceCommands } from './fence-commands.ts'
import { addPipelineCommands } from './pipeline-commands.ts'
import { addRecoveryCommands } from './recovery-commands.ts'
import { addStoreCommands } from './store-commands.ts'
import { addTaskCommands } from './task-commands.ts'
import { addWorkflowCommands } from './workflow-commands.ts'
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
      // The help of a group that was called without a command.
      writeErr: terminal.answer,
      // Nothing is written twice: run.ts shows every failure in the same way.
      outputError: () => undefined,
    })
    .addHelpText('after', example('perago lakefs', 'perago doctor'))
  addTaskCommands(program, terminal)
  addPipelineCommands(program, terminal)
  addWorkflowCommands(program, terminal)
  addCacheCommands(program, terminal)
  addCoreCommands(program, terminal)
  addWebhookCommands(program, terminal)
  addStoreCommands(program, terminal)
  addFenceCommands(program, terminal)
  addRecoveryCommands(program, terminal)
  addLakefs(program, terminal)
  addConfig(program, terminal)
  addDoctor(program, terminal)
  addInit(program, terminal)
  addCompletion(program, terminal)
  addHelpCommand(program)
  return program
}

function addLakefs(program: Command, terminal: Terminal): void {
  const lakefs = program
    .command('lakefs')
    .summary('Serves an embedded lakeFS-compatible server.')
    .description(
      'Serves an embedded lakeFS-compatible server until it is stopped. Prints "ready <address>" once it listens, and on standard error the address of a page that shows it in a browser.',
    )
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes a free one', parsePort, 8000)
    .option('--data <dir>', 'the data directory (default: .perago/lakefs)')
    .option('--memory', 'keep everything in memory; nothing is left after the end')
    .option(
      '--access-key <key>',
      'the access key id to accept (default: stored with the data, generated at the first start)',
    )
    .option(
      '--secret-key <secret>',
      'the secret to accept; better given as PERAGO_EMBEDDED_SECRET_ACCESS_KEY',
    )
    .option(
      '--repository <name>',
      'create this repository, with a branch main, unless it exists; may be repeated',
      (name: string, before: readonly string[] | undefined) => [...(before ?? []), name],
    )
    .option('--presign', 'offer presigned URLs, as lakeFS does over an object store')
    .addOption(
      new Option('--log-level <level>', 'the lowest level that is logged')
        .choices(LOG_LEVELS)
        .default('warn'),
    )
    .addHelpText(
      'after',
      example('perago lakefs --port 8000 --data ./my-lake', 'perago lakefs --memory --port 0'),
    )
    .action(lazy(terminal, async () => (await import('./commands/lakefs-serve.ts')).serveLakefs))

  lakefs
    .command('gc')
    .description('Removes the objects no commit, branch or upload refers to. The server must not be running.')
    .option('--data <dir>', 'the data directory of the server (default: .perago/lakefs)')
    .option('--dry-run', 'only report what would be removed')
    .option('--json', 'print one JSON document')
    .addHelpText('after', example('perago lakefs gc --dry-run'))
    .action(lazy(terminal, async () => (await import('./commands/lakefs-gc.ts')).removeGarbage))

  lakefs
    .command('fsck')
    .summary('Reads everything in a data directory and names what is damaged or missing.')
    .description(
      'Reads everything in a data directory and names what is damaged or missing, with the branches, commits and paths that need it, and what to do. Works beside a running server. Ends with exit code 3 if something is damaged.',
    )
    .option('--data <dir>', 'the data directory of the server (default: .perago/lakefs)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', example('perago lakefs fsck --json'))
    .action(lazy(terminal, async () => (await import('./commands/lakefs-fsck.ts')).checkData))

  lakefs
    .command('credentials')
    .description(
      'Shows the credentials of the embedded lakeFS of perago lakefs and perago dev again, with the secret, to the owner of the data.',
    )
    .option('--data <dir>', 'the data directory of the server (default: .perago/lakefs)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', example('perago lakefs credentials --json'))
    .action(lazy(terminal, async () => (await import('./commands/lakefs-credentials.ts')).showCredentials))

  lakefs
    .command('env')
    .description('Prints the variables that perago and lakectl read, for eval in a shell.')
    .option('--data <dir>', 'the data directory of the server (default: .perago/lakefs)')
    .option(
      '--endpoint <address>',
      'the address of the server (default: that of the server running on the data)',
    )
    .addHelpText('after', example('eval "$(perago lakefs env)"'))
    .action(lazy(terminal, async () => (await import('./commands/lakefs-credentials.ts')).printVariables))
}

function addConfig(program: Command, terminal: Terminal): void {
  configured(program.command('config'))
    .description('Shows the current configuration and where each value comes from, without secrets.')
    .addHelpText(
      'after',
      example('perago config', 'LAKEFS_ENDPOINT=http://127.0.0.1:8000 perago config --json'),
    )
    .action(lazy(terminal, async () => (await import('./commands/config.ts')).showConfiguration))
}

function addDoctor(program: Command, terminal: Terminal): void {
  configured(program.command('doctor'))
    .summary('Checks the root of workers, lakeFS and Conductor, and reports what is wrong.')
    .description(
      'Checks the root of workers and the configured lakeFS and Conductor: the file system, versions, what they can do, what is wrong and what to do about it. Of branches that are named, and of those of open workflows, it says which fence holds and who has published without one. With a module it also compares the definitions with those on Conductor. Changes nothing; a scratch branch shows whether lakeFS evaluates a fence.',
    )
    .argument('[module]', 'the .ts or .js file that exports the tasks')
    .option(
      '--branch <place>',
      'a branch to look at, as repository/branch; may be repeated',
      (place: string, before: readonly string[] | undefined) => [...(before ?? []), place],
    )
    .option('--root <dir>', 'the root of the worker (default: .perago/work)')
    .addHelpText(
      'after',
      example('perago doctor', 'perago doctor --branch my-data/main', 'perago doctor tasks.ts --json'),
    )
    .action(lazy(terminal, async () => (await import('./commands/doctor.ts')).examine))
}

function addInit(program: Command, terminal: Terminal): void {
  program
    .command('init')
    .summary('Writes a small project: a task, a workflow, a test and a README.')
    .description(
      'Writes a small project into a directory: one workspace task, a workflow, a test that kills the task at every point, and a README with the commands that run them. Asks nothing, and overwrites nothing: if one of its files is there already, nothing is written.',
    )
    .argument('[directory]', 'where; made if it is not there', '.')
    .option('--name <name>', 'the name of the project (default: that of the directory)')
    .option('--json', 'print one JSON document')
    .addHelpText('after', example('perago init my-pipeline', 'perago init my-pipeline --json'))
    .action(lazy(terminal, async () => (await import('./commands/init.ts')).initProject))
}

function addCompletion(program: Command, terminal: Terminal): void {
  program
    .command('completion')
    .summary('Prints a script with which a shell completes commands, options and files.')
    .description(
      'Prints a script with which bash, zsh or fish completes the commands of perago, their options, choices and files. Print it anew after an update.',
    )
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      example(
        'eval "$(perago completion bash)"',
        'perago completion zsh > "${fpath[1]}/_perago"',
        'perago completion fish > ~/.config/fish/completions/perago.fish',
      ),
    )
    .action(async (shell: Shell) => {
      const { renderCompletion } = await import('./completion/render-completion.ts')
      terminal.answer(renderCompletion(shell, program))
    })
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
