/** `perago help [command...]`, and what was meant by a command that does not exist. */

import type { Command } from 'commander'
import { InvalidError } from '../base/errors.ts'
import { suggest } from '../base/suggestion.ts'
import { example } from './help.ts'

export function addHelpCommand(program: Command): void {
  program
    .command('help')
    .description('Shows the help of a command, as --help after it does.')
    .argument('[command...]', 'the command, such as run, or store verify')
    .addHelpText('after', example('perago help run', 'perago help store verify'))
    .action((path: readonly string[]) => findCommand(program, path).outputHelp())
}

function findCommand(program: Command, path: readonly string[]): Command {
  let found = program
  for (const name of path) {
    const inner = found.commands.find((command) => command.name() === name)
    if (inner === undefined) throw noSuchCommand(found, name)
    found = inner
  }
  return found
}

/** A word that no command of this one is called. */
function noSuchCommand(above: Command, word: string): InvalidError {
  const place = above.parent === null ? 'perago' : `perago ${above.name()}`
  const meant = suggest(
    word,
    above.commands.map((command) => command.name()),
  )
  return new InvalidError(
    'cli/bad-usage',
    `read the command line: ${place} has no command ${JSON.stringify(word)}`,
    {
      next:
        meant === undefined ? `See "${place} --help" for its commands.` : `Did you mean "${place} ${meant}"?`,
    },
  )
}

/** The group that was given a word which is none of its commands; only one that also acts alone takes words at all. */
export function misspeltIn(program: Command): InvalidError | undefined {
  const group = program.commands.find(({ commands, args }) => commands.length > 0 && args.length > 0)
  return group === undefined ? undefined : noSuchCommand(group, group.args[0] ?? '')
}
