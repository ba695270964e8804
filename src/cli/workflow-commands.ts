/** The commands about pipelines and workflows; see `program.ts`. */

import type { Command } from 'commander'
import { configured, configuredServing, example, lazy, onEngine } from './help.ts'
import { parseCount, parsePort } from './options.ts'
import type { Terminal } from './terminal.ts'
import { addWorkflowList, addWorkflowStart, addWorkflowWatch } from './workflow-group.ts'

const ID = 'the id of the workflow'
const SOME_ID = '6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d'

export function addWorkflowCommands(program: Command, terminal: Terminal): void {
  addDev(program, terminal)
  addPs(program, terminal)
  addShow(program, terminal)
  addLogs(program, terminal)
  addActs(program, terminal)
  addCancel(program, terminal)
  addRollback(program, terminal)
  addWorkflowGroup(program, terminal)
}

function addDev(program: Command, terminal: Terminal): void {
  configuredServing(program.command('dev'))
    .summary('Runs pipelines on this machine: an engine, a lakeFS and a worker, with nothing installed.')
    .description(
      'Runs the tasks and pipelines of a module on this machine: an engine with the rules and the API of Conductor, an embedded lakeFS (unless one is configured) and a worker, which is replaced when a source file changes. Everything is kept under .perago, and goes on after a restart.',
    )
    .argument(
      '<files...>',
      'the .ts or .js file that exports the tasks, and any YAML or JSON files with pipelines',
    )
    .option(
      '--repository <name>',
      'create this repository, with a branch main, unless it exists; may be repeated',
      (name: string, before: readonly string[] | undefined) => [...(before ?? []), name],
    )
    .option('--port <port>', "the engine's port; 0: a free one", parsePort, 0)
    .option('--lakefs-port <port>', "the embedded lakeFS' port; 0: a free one", parsePort, 0)
    .option('--slots <count>', 'how many tasks run at the same time', parseCount)
    .option(
      '--metrics-port <port>',
      'serve metrics on a port of their own as well, such as 9090; 0: a free one',
      parsePort,
    )
    .option('--no-reload', 'do not look for changes of source files')
    .addHelpText('after', example('perago dev tasks.ts --repository lake', 'perago dev tasks.ts daily.yaml'))
    .action(lazy(terminal, async () => (await import('./dev/begin-dev.ts')).beginDev))
}

function addPs(program: Command, terminal: Terminal): void {
  onEngine(program.command('ps'))
    .summary('Lists the workflows that have not ended, the newest first; or the schedules.')
    .description(
      'Lists the workflows that have not ended, the newest first. With --schedules: the schedules of the pipelines of an engine, when each of them starts its pipeline next, and what the last time started.',
    )
    .option('--schedules', 'list the schedules of the engine instead')
    .addHelpText('after', example('perago ps', 'perago ps --schedules'))
    .action(lazy(terminal, async () => (await import('./commands/workflow-list.ts')).listRunning))
}

function addShow(program: Command, terminal: Terminal): void {
  configured(program.command('show'))
    .description(
      'Shows a workflow: how each of its tasks stands, with its attempts and times, and why it failed; below a task those of the workflow that it runs.',
    )
    .argument('<id>', ID)
    .addHelpText('after', example(`${pathOf(program)} show ${SOME_ID}`))
    .action(lazy(terminal, async () => (await import('./commands/workflow-show.ts')).showWorkflow))
}

function addLogs(program: Command, terminal: Terminal): void {
  configured(program.command('logs'))
    .description('Prints what the tasks of a workflow have logged.')
    .argument('<id>', ID)
    .addHelpText('after', example(`${pathOf(program)} logs ${SOME_ID}`))
    .action(lazy(terminal, async () => (await import('./commands/workflow-show.ts')).showLogs))
}

const ACTS = {
  pause: 'Pauses a workflow: nothing new is scheduled, tasks in progress may finish.',
  resume: 'Continues a paused workflow.',
} as const

function addActs(program: Command, terminal: Terminal): void {
  for (const [act, description] of Object.entries(ACTS) as [keyof typeof ACTS, string][]) {
    configured(program.command(act))
      .description(description)
      .argument('<id>', ID)
      .addHelpText('after', example(`${pathOf(program)} ${act} ${SOME_ID}`))
      .action(
        lazy(terminal, async () => {
          const { actOnWorkflow } = await import('./commands/workflow-acts.ts')
          return (
            ...given: Parameters<typeof actOnWorkflow> extends [unknown, ...infer Rest] ? Rest : never
          ) => actOnWorkflow(act, ...given)
        }),
      )
  }
  configured(program.command('retry'))
    .summary('Tries again every failed task of a workflow that has ended.')
    .description(
      'Tries again every failed task of a workflow that has ended; with --from everything from a task on, whatever became of it.',
    )
    .argument('<id>', ID)
    .option('--from <task>', 'run again from this task on: its reference name in the workflow, or its id')
    .addHelpText(
      'after',
      example(`${pathOf(program)} retry ${SOME_ID}`, `${pathOf(program)} retry ${SOME_ID} --from head`),
    )
    .action(lazy(terminal, async () => (await import('./commands/workflow-acts.ts')).retryWorkflow))
}

function addCancel(program: Command, terminal: Terminal, name = 'cancel'): void {
  configured(program.command(name))
    .description('Ends a workflow; its open tasks are cancelled.')
    .argument('<id>', ID)
    .option('--reason <text>', 'why; shown with the workflow')
    .addHelpText('after', example(`${pathOf(program)} ${name} ${SOME_ID} --reason "wrong day"`))
    .action(lazy(terminal, async () => (await import('./commands/workflow-acts.ts')).cancelWorkflow))
}

/** The same commands, where users of Conductor look for them. */
function addWorkflowGroup(program: Command, terminal: Terminal): void {
  const group = program
    .command('workflow')
    .summary('Starts, lists, shows, watches, retries and terminates workflows.')
    .description(
      'Starts, lists, shows, watches, retries and terminates workflows, on the engine of "perago dev" in this directory, else on the configured Conductor.',
    )
  addWorkflowStart(group, terminal)
  addWorkflowList(group, terminal)
  addShow(group, terminal)
  addWorkflowWatch(group, terminal)
  addLogs(group, terminal)
  addActs(group, terminal)
  addCancel(group, terminal, 'terminate')
}

/** As it is typed. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function addRollback(program: Command, terminal: Terminal): void {
  onEngine(program.command('rollback'))
    .summary('Takes an execution of the engine back, its state and its branches together.')
    .description(
      'Takes an execution of the engine back, its state and its branches together, and lets it run on from there. Shows first what that does. Nobody loses a commit: what others have written on a branch refuses the rollback, and what leaves a branch stays reachable under a tag. Default: back to the last good checkpoint.',
    )
    .argument('<id>', 'the id of the execution')
    .option('--to <checkpoint>', 'back to this checkpoint, or to the "start"')
    .option('--phase <name>', 'a phase, and all that depends on it')
    .option('--unit <name>', 'a unit, and all that depends on it')
    .option(
      '--artifact <unit>',
      'only what this unit changed on its branch, by a new commit; no unit runs again',
    )
    .option(
      '--path <path>',
      'of an artifact, only this path; may be repeated',
      (path: string, before: readonly string[] | undefined) => [...(before ?? []), path],
    )
    .option('--dry-run', 'show what it does, and do nothing')
    .option('--pause', 'do not run on: wait for perago resume')
    .option('--abandon', 'give up a rollback that cannot end; the execution is ended as it is')
    .option('--reason <text>', 'why; kept with the execution')
    .addHelpText(
      'after',
      example(
        'perago rollback 6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d --phase load --dry-run',
        'perago rollback 6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d --phase load',
        'perago rollback 6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d --server https://perago.example --token env:SERVER_TOKEN',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/rollback.ts')).rollBack))
}
