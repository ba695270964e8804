/** The commands about modules of tasks; see `program.ts`. */

import type { Command } from 'commander'
import { resolve } from 'node:path'
import type { CheckOptions } from './commands/check.ts'
import type { ExtractOptions } from './commands/extract.ts'
import type { RegisterOptions } from './commands/register.ts'
import type { RunOptions } from './commands/run.ts'
import type { StartOptions } from './commands/start.ts'
import { configured, configuredServing, example } from './help.ts'
import { parseCount, parsePort } from './options.ts'
import type { Terminal } from './terminal.ts'

const MODULE = 'the .ts or .js file that exports the tasks'

export function addTaskCommands(program: Command, terminal: Terminal): void {
  addCheck(program, terminal)
  addExtract(program, terminal)
  addRegister(program, terminal)
  addRun(program, terminal)
  addStart(program, terminal)
}

function addCheck(program: Command, terminal: Terminal): void {
  configured(program.command('check'))
    .summary('Looks at the tasks and workflows of a module, and compares them with Conductor.')
    .description(
      'Looks at the tasks and workflows that a module declares: schemas, leases and publish budgets, parallel writers. With a configured Conductor it says what differs from what is registered there.',
    )
    .argument('<module>', MODULE)
    .option('--offline', 'do not ask Conductor')
    .addHelpText('after', example('perago check tasks.ts', 'perago check tasks.ts --offline --json'))
    .action(async (module: string, options: CheckOptions) => {
      const { checkModule } = await import('./commands/check.ts')
      await checkModule(module, options, terminal)
    })
}

function addExtract(program: Command, terminal: Terminal): void {
  program
    .command('extract')
    .summary('Writes the definitions of a module as JSON, for Conductor and for others.')
    .description(
      'Writes the task definitions, workflow definitions and JSON Schemas of a module: into a directory, or without one as a single JSON document.',
    )
    .argument('<module>', MODULE)
    .option('-o, --out <dir>', 'write one file each into this directory')
    .option('--json', 'answer with one JSON document')
    .addHelpText('after', example('perago extract tasks.ts', 'perago extract tasks.ts -o definitions'))
    .action(async (module: string, options: ExtractOptions) => {
      const { extractDefinitions } = await import('./commands/extract.ts')
      await extractDefinitions(module, options, terminal)
    })
}

function addRegister(program: Command, terminal: Terminal): void {
  configured(program.command('register'))
    .summary('Registers the definitions of a module with Conductor, after showing what would change.')
    .description(
      'Creates or replaces the task and workflow definitions of a module on the configured Conductor, after showing what would change. Workflows that run already keep the definitions they started with.',
    )
    .argument('<module>', MODULE)
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('perago register tasks.ts --dry-run', 'perago register tasks.ts --yes'))
    .action(async (module: string, options: RegisterOptions) => {
      const { registerModule } = await import('./commands/register.ts')
      await registerModule(module, options, terminal)
    })
}

function addRun(program: Command, terminal: Terminal): void {
  configured(program.command('run'))
    .summary('Runs one task here, without Conductor, and publishes what it changed.')
    .description(
      'Runs one task here and now, without Conductor: lays out its workspace, checks the guardrails, runs the body and publishes what it changed, behind the publish fence. Nothing that somebody else committed is ever replaced.',
    )
    .argument('<task>', 'the name of the task')
    .argument('<module>', MODULE)
    .option('--repo <name>', 'the repository, for a task with a workspace')
    .option('--branch <name>', 'the branch to publish to')
    .option('--ref <commit>', 'the commit to work on (default: the head of the branch)')
    .option('--params <json>', 'the parameters', '{}')
    .option('--root <dir>', 'where its directory is made (default: .perago/run)')
    .addHelpText(
      'after',
      example(
        `perago run orders.clean tasks.ts --repo lake --branch main --params '{"day": "2026-01-15"}'`,
        `perago run orders.notify tasks.ts --params '{"text": "done"}' --json`,
      ),
    )
    .action(async (task: string, module: string, options: RunOptions) => {
      const { runTaskHere } = await import('./commands/run.ts')
      await runTaskHere(task, module, options, terminal)
    })
}

function addStart(program: Command, terminal: Terminal): void {
  configuredServing(program.command('start'))
    .summary('Takes the tasks of a module from Conductor and works on them until it is stopped.')
    .description(
      'Takes the tasks of a module from Conductor and works on them until it is stopped. Prints "ready …" once every worker process takes work. On SIGTERM no more is taken, what runs may finish, and at the deadline it is handed back.',
    )
    .argument('<module>', MODULE)
    .option('-j, --jobs <count>', 'how many worker processes', parseCount, 1)
    .option('--slots <count>', 'how many tasks each process runs at the same time', parseCount)
    .option('--domain <name>', 'take only tasks of this domain')
    .option('--allow-drift', 'start even if Conductor has other definitions of the tasks')
    .option('--root <dir>', 'where workspaces and undelivered results are kept (default: .perago/work)')
    .option('--cache-size <size>', 'how much to keep of what was fetched, such as 5GiB; 0: nothing')
    .option('--no-warm', 'lay out every directory anew')
    .option(
      '--health-port <port>',
      'serve /healthz, /readyz and /metrics; further processes on the ports that follow',
      parsePort,
    )
    .option('--health-host <host>', 'the address for it (default: 127.0.0.1)')
    .addHelpText('after', example('perago start tasks.ts', 'perago start tasks.ts -j 4 --health-port 9100'))
    .action(async (module: string, given: StartOptions) => {
      const { prestartWorker } = await import('../runtime/processes/prestarted-worker.ts')
      const prestarted = prestartWorker(resolve(terminal.directory, module))
      try {
        const { startTasks } = await import('./commands/start.ts')
        await startTasks(module, given, { terminal, prestarted })
      } finally {
        prestarted.discard()
      }
    })
}
