import { InvalidError, RefusedError } from '../../base/errors.ts'
import { withConductor } from '../../runtime/connections/conductor-connection.ts'
import { compareModule, type ModuleComparison } from '../../runtime/modules/module-registration.ts'
import { readModule, type ReadModule, type TaskSummary } from '../../runtime/modules/task-modules.ts'
import { loadForCommand } from '../configured.ts'
import { describeState, stateOf } from '../definition-states.ts'
import { PATIENCE, type ConfiguredOptions } from '../options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

export interface CheckOptions extends ConfiguredOptions {
  readonly offline?: boolean
}

/** Checks what a module declares and, if a Conductor is configured, compares it with what is registered there. */
export async function checkModule(path: string, options: CheckOptions, terminal: Terminal): Promise<void> {
  const module = await readModule(path)
  const comparison = await compare(module, options, terminal)
  answer(terminal, options, asDocument(module, comparison), () => render(module, comparison))
  refuseProblems(path, module)
  if (comparison.is === 'made') refuseDrift(path, comparison.found)
}

/** Throws one error that names everything that is wrong with what the module declares. */
export function refuseProblems(path: string, { problems }: Pick<ReadModule, 'problems'>): void {
  if (problems.length === 0) return
  throw new InvalidError(
    'cli/bad-module',
    `check ${JSON.stringify(path)}: ${count(problems.length, 'problem')}`,
    {
      details: { problems },
      next: 'Correct them.',
    },
  )
}

type Comparison =
  | { readonly is: 'made'; readonly found: ModuleComparison }
  | { readonly is: 'left-out'; readonly why: string }

async function compare(module: ReadModule, options: CheckOptions, terminal: Terminal): Promise<Comparison> {
  if (options.offline === true) return { is: 'left-out', why: '--offline' }
  const { configuration, logger } = await loadForCommand(options, terminal)
  if (configuration.conductor.serverUrl === undefined)
    return { is: 'left-out', why: 'conductor.serverUrl is not set' }
  if (module.problems.length > 0) return { is: 'left-out', why: 'correct the problems first' }
  const found = await withConductor(configuration, { logger, retry: PATIENCE }, (client) =>
    compareModule(client, module, { signal: terminal.stopSignal() }),
  )
  return { is: 'made', found }
}

/** Throws one error that names everything in which the server differs. */
export function refuseDrift(path: string, { definitions, unknownTypes, problems }: ModuleComparison): void {
  const all = [
    ...definitions.filter(({ state }) => state !== 'same').map(describeState),
    ...unknownTypes.map((type) => `task type "${type}" is neither declared nor registered`),
    ...problems,
  ]
  if (all.length === 0) return
  throw new RefusedError(
    'cli/drift',
    `compare ${JSON.stringify(path)} with Conductor: ${count(all.length, 'difference')}`,
    { details: { problems: all }, next: `Register with "perago register ${path}".` },
  )
}

function asDocument(module: ReadModule, comparison: Comparison): unknown {
  return {
    module: module.path,
    tasks: module.summaries,
    workflows: module.workflows.map(({ name, version }) => ({ name, version })),
    problems: module.problems,
    notes: module.notes,
    conductor: comparison.is === 'made' ? comparison.found : { notCompared: comparison.why },
  }
}

function render(module: ReadModule, comparison: Comparison): string {
  const states = comparison.is === 'made' ? comparison.found.definitions : []
  const rows = [
    ...module.summaries.map((task) => [
      task.name,
      `${task.workspace === 'none' ? 'no' : task.workspace} workspace`,
      task.body === 'command' ? 'a program' : task.body,
      describeLease(task),
      stateOf(states, 'task', task.name),
    ]),
    ...module.workflows.map(({ name, version, tasks }) => [
      name,
      `workflow, version ${version}`,
      count(tasks.length, 'step'),
      '',
      stateOf(states, 'workflow', name),
    ]),
  ]
  const where =
    comparison.is === 'made'
      ? `compared with Conductor ${comparison.found.version}`
      : `not compared with Conductor: ${comparison.why}`
  const notes = module.notes.map((note) => `note: ${note}\n`).join('')
  return `${renderTable(rows)}${notes}${where}\n`
}

function describeLease({ workspace, leaseSeconds, budgetSeconds }: TaskSummary): string {
  return workspace === 'writable'
    ? `lease ${leaseSeconds} s, ${budgetSeconds} s of it for publishing`
    : `lease ${leaseSeconds} s`
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}
