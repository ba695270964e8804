/** The commands about modules of tasks; see `program.ts`. */

import type { Command } from 'commander'
import { resolve } from 'node:path'
import type { RunOptions } from './commands/run.ts'
import type { StartOptions } from './commands/start.ts'
import type { RunPipelineOptions } from './commands/workflows.ts'
import { configured, configuredServing, example, lazy } from './help.ts'
import { parseCount, parsePort, parseSeconds } from './options.ts'
import type { Terminal } from './terminal.ts'

const INPUT = 'the input of the pipeline; @FILE reads a file of JSON or YAML, - standard input'
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
    .summary('Checks the tasks and workflows of a module, and compares them with Conductor.')
    .description(
      'Checks the tasks and workflows that a module declares: schemas, leases and publish budgets, parallel writers. With a configured Conductor it reports what differs from what is registered there.',
    )
    .argument('<module>', MODULE)
    .option('--offline', 'do not ask Conductor')
    .addHelpText('after', example('perago check tasks.ts', 'perago check tasks.ts --offline --json'))
    .action(lazy(terminal, async () => (await import('./commands/check.ts')).checkModule))
}

function addExtract(program: Command, terminal: Terminal): void {
  program
    .command('extract')
    .summary('Writes the definitions of a module as JSON, for Conductor and other tools.')
    .description(
      'Writes the task definitions, workflow definitions and JSON Schemas of a module: into a directory, or without one as a single JSON document.',
    )
    .argument('<module>', MODULE)
    .option('-o, --out <dir>', 'write one file each into this directory')
    .option('--json', 'print one JSON document')
    .addHelpText('after', example('perago extract tasks.ts', 'perago extract tasks.ts -o definitions'))
    .action(lazy(terminal, async () => (await import('./commands/extract.ts')).extractDefinitions))
}

function addRegister(program: Command, terminal: Terminal): void {
  configured(program.command('register'))
    .summary('Registers the definitions of a module with Conductor, after showing what would change.')
    .description(
      'Creates or replaces the task and workflow definitions of a module on the configured Conductor, after showing what would change. Running workflows keep the definitions they started with.',
    )
    .argument('<module>', MODULE)
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', example('perago register tasks.ts --dry-run', 'perago register tasks.ts --yes'))
    .action(lazy(terminal, async () => (await import('./commands/register.ts')).registerModule))
}

function addRun(program: Command, terminal: Terminal): void {
  configured(program.command('run'))
    .summary('Runs a pipeline and shows its progress; or one task of a module, without any queue.')
    .description(
      'With a name alone: starts this pipeline or workflow on the engine of "perago dev", or on the configured Conductor, and shows its progress until it has ended. With a module: runs one task here without Conductor: checks its files out, runs guardrails and body, and publishes what changed if the publish fence allows it. It never replaces a commit of somebody else.',
    )
    .argument('<name>', 'the pipeline or workflow; or with a module, the task')
    .argument('[module]', MODULE)
    .option('--input <json>', INPUT, '{}')
    .option('--no-wait', 'print the id of the pipeline once it has started')
    .option('--repo <name>', 'the repository, for a task or pipeline with a workspace')
    .option('--branch <name>', 'the branch to publish to; a pipeline gets its head as the input "workspace"')
    .option(
      '--ref <name>',
      'the commit to work on: its id, the first digits of it, a tag or a branch (default: the head of the branch)',
    )
    .option('--params <json>', 'the parameters; @FILE and - as for --input', '{}')
    .option(
      '--dry-run',
      'with a module: run the body and all checks, show what would be published, publish nothing',
    )
    .option('--watch', 'with a module: run again whenever a source file has changed, until it is stopped')
    .option('--root <dir>', 'where its directory is created (default: .perago/run)')
    .option(
      '--revision <text>',
      'the version of the task code, for the commits (default: PERAGO_REVISION, else the commit that git has checked out)',
    )
    .addHelpText(
      'after',
      example(
        `perago run orders.daily --repo lake --branch main --input '{"day": "2026-01-15"}'`,
        `perago run orders.clean tasks.ts --repo lake --branch main --params '{"day": "2026-01-15"}'`,
        `perago run orders.notify tasks.ts --params '{"text": "done"}' --json`,
        'perago run orders.clean tasks.ts --repo lake --branch main --params @day.yaml --dry-run --watch',
      ),
    )
    .action(
      lazy(terminal, async () => {
        const [{ runTaskHere }, { runPipeline }, { watchTask, refuseForPipelines }] = await Promise.all([
          import('./commands/run.ts'),
          import('./commands/workflows.ts'),
          import('./commands/run-watch.ts'),
        ])
        return async (
          name: string,
          module: string | undefined,
          given: RunOptions & RunPipelineOptions,
          where: Terminal,
        ) => {
          if (module !== undefined)
            return given.watch === true
              ? watchTask(module, given, where)
              : runTaskHere(name, module, given, where)
          refuseForPipelines(given)
          return runPipeline(name, given, where)
        }
      }),
    )
}

function addStart(program: Command, terminal: Terminal): void {
  configuredServing(program.command('start'))
    .summary('Runs a worker: takes the tasks of a module from Conductor and runs them until it is stopped.')
    .description(
      'Takes the tasks of a module from Conductor and runs them until it is stopped. Prints "ready …" once every worker process takes tasks, and on stderr one line for each task that has ended. After SIGTERM it takes no more; running tasks may finish until 10 s before a deadline, and are then handed back to Conductor. A second signal ends everything at once.',
    )
    .argument('<module>', MODULE)
    .option('-j, --jobs <count>', 'how many worker processes', parseCount, 1)
    .option('--slots <count>', 'how many tasks each process runs at the same time', parseCount)
    .option('--domain <name>', 'take only tasks of this domain')
    .option('--quiet', 'no line for each task that has ended')
    .option('--allow-drift', 'start even if Conductor has other definitions of the tasks')
    .option(
      '--revision <text>',
      'the version of the task code, for the commits (default: PERAGO_REVISION, else the commit that git has checked out)',
    )
    .option('--root <dir>', 'where workspaces and undelivered results are kept (default: .perago/work)')
    .option(
      '--cache-size <size>',
      'the size of the cache of fetched objects, such as 5GiB or 5g; 0: no cache',
    )
    .option('--no-warm', 'never reuse the directory of an earlier task')
    .option(
      '--health-port <port>',
      'serve /healthz, /readyz and /metrics; further processes use the next ports',
      parsePort,
    )
    .option('--health-host <host>', 'the address for it (default: 127.0.0.1)')
    .option(
      '--stop-deadline <duration>',
      'how long a stop may take in all, such as 1m; at least 10s (default: 25s)',
      parseSeconds,
    )
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
