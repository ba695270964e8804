/** Commands of `perago workflow` that are only there. */

import { InvalidArgumentError, type Command } from 'commander'
import { configured, configuredServing, example, lazy } from './help.ts'
import { WORKFLOWS_FOUND, WORKFLOWS_FOUND_MAX } from './limits.ts'
import { parseWholeNumber } from './options.ts'
import type { WorkflowStatus } from '../runtime/workflows.ts'
import type { Terminal } from './terminal.ts'

const STATUSES = [
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'TERMINATED',
] as const satisfies readonly WorkflowStatus[]

export function addWorkflowStart(group: Command, terminal: Terminal): void {
  configured(group.command('start'))
    .summary('Starts a workflow or a pipeline and prints its id.')
    .description(
      'Starts a workflow or a pipeline and prints its id. With a repository and a branch it gets the head of the branch as the input "workspace", and is refused while another one that has not ended may write that branch.',
    )
    .argument('<name>', 'the workflow or the pipeline')
    .option('--input <json>', 'the input, a JSON object; @FILE reads a file', '{}')
    .option('--repo, --repository <name>', 'the repository of the branch')
    .option('--branch <name>', 'the branch to work on and to publish to')
    .option(
      '--ref <commit>',
      'the commit to begin with, which may be shortened, or a tag (default: the head of the branch)',
    )
    .option('--version <number>', 'which version of it (default: the latest)', parseWholeNumber)
    .option('--correlation-id <id>', 'by which it can be found')
    .option('--priority <number>', 'from 0 to 99; a higher one goes first', parsePriority)
    .option(
      '--idempotency-key <key>',
      'start it once for this key, however often it is asked for; on an engine of perago only',
    )
    .option('--wait', 'show its progress until it has ended; the exit code tells the outcome')
    .addHelpText(
      'after',
      example(
        'perago workflow start orders.daily --repository lake --branch main',
        'perago workflow start orders.daily --input \'{"day": "2026-01-15"}\' --correlation-id day-15 --wait',
        'perago workflow start orders.daily --repository lake --branch main --ref 1f2e3d4c --input @day.json',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/workflows.ts')).startWorkflow))
}

export function addWorkflowList(group: Command, terminal: Terminal): void {
  configured(group.command('ls'))
    .summary('Lists workflows, ended ones too, the newest first.')
    .description('Lists workflows, ended ones too, the newest first.')
    .option('--name <name>', 'only those of this name')
    .option(
      '--status <status>',
      `only those that are ${STATUSES.join(', ').toLowerCase()}; several with commas, may be repeated`,
      parseStatuses,
    )
    .option('--failed', 'only those that have ended without success')
    .option('--since <time>', 'only those that started since: 2h, 7d, 2026-01-15, 2026-01-15T12:00:00Z')
    .option('--until <time>', 'only those that started before')
    .option('--correlation-id <id>', 'only those with this correlation id')
    .option(
      '--limit <count>',
      `how many at most, up to ${WORKFLOWS_FOUND_MAX} (default: ${WORKFLOWS_FOUND})`,
      parseLimit,
    )
    .addHelpText(
      'after',
      example(
        'perago workflow ls --failed --since 1d',
        'perago workflow ls --name orders.daily --status running,paused --json',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/workflow-list.ts')).listWorkflows))
}

export function addWorkflowWatch(group: Command, terminal: Terminal): void {
  configuredServing(group.command('watch'))
    .summary('Shows the progress of a workflow until it has ended.')
    .description(
      'Shows the progress of a workflow and of those that it runs until it has ended: on a terminal as a tree that is drawn anew, elsewhere one JSON document per line. Waits for a server that is away. The exit code tells the outcome: 0 if it has completed, 3 if not.',
    )
    .argument('<id>', 'the id of the workflow')
    .option('--json', 'print one JSON document per line, on a terminal too')
    .addHelpText('after', example('perago workflow watch 6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d'))
    .action(lazy(terminal, async () => (await import('./commands/workflow-watch.ts')).watchWorkflow))
}

function parseStatuses(
  text: string,
  before: readonly WorkflowStatus[] | undefined,
): readonly WorkflowStatus[] {
  const given = text.split(',').map((name) => name.trim().toUpperCase().replaceAll('-', '_'))
  const known = STATUSES.filter((status) => given.includes(status))
  if (known.length === new Set(given).size) return [...(before ?? []), ...known]
  throw new InvalidArgumentError(`A status is one of ${STATUSES.join(', ').toLowerCase()}.`)
}

function parseLimit(text: string): number {
  const count = parseWholeNumber(text)
  if (count <= WORKFLOWS_FOUND_MAX) return count
  throw new InvalidArgumentError(`It is a whole number from 1 to ${WORKFLOWS_FOUND_MAX}.`)
}

function parsePriority(text: string): number {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('A priority is a whole number from 0 to 99.')
}
