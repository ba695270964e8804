/** The commands about hard fences; see `program.ts`. */

import type { Command } from 'commander'
import { configured, example, lazy } from './help.ts'
import type { Terminal } from './terminal.ts'

export function addFenceCommands(program: Command, terminal: Terminal): void {
  const fence = program
    .command('fence')
    .description('Shows, installs and removes the hard fence of branches: a hook of lakeFS.')
    .addHelpText('after', example('perago fence status my-data', 'perago fence install my-data'))
  const add = (name: string, description: string): Command =>
    configured(fence.command(name))
      .description(description)
      .argument('<repository>', 'the repository in lakeFS')
      .option(
        '--branch <name>',
        'the branch (default: the default branch); may be repeated',
        (branch: string, before: readonly string[] | undefined) => [...(before ?? []), branch],
      )
  add('status', 'Shows for each branch whether the fence is installed, and whether lakeFS evaluates it.')
    .addHelpText('after', example('perago fence status my-data --branch main --branch dev'))
    .action(lazy(terminal, async () => (await import('./commands/fence.ts')).showFences))
  changing(add('install', 'Shows what is missing, and puts the fence on each branch by one commit.'))
    .option('--protect', 'let the branches take merges only, as by branch protection')
    .addHelpText('after', example('perago fence install my-data --branch main --protect'))
    .action(lazy(terminal, async () => (await import('./commands/fence.ts')).installFences))
  changing(add('remove', 'Shows what there is, and takes the fence off each branch by one commit.'))
    .addHelpText('after', example('perago fence remove my-data --branch main'))
    .action(lazy(terminal, async () => (await import('./commands/fence.ts')).removeFences))
}

function changing(command: Command): Command {
  return command
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask for confirmation')
}
