/** The commands about the content cache of a worker's root; see `program.ts`. */

import type { Command } from 'commander'
import { example, lazy } from './help.ts'
import type { Terminal } from './terminal.ts'

export function addCacheCommands(program: Command, terminal: Terminal): void {
  const cache = program
    .command('cache')
    .description('Shows, checks and clears the objects that a worker keeps on its disk. Workers may run.')
    .addHelpText('after', example('perago cache ls', 'perago cache verify'))
  const add = (name: string, description: string): Command =>
    cache
      .command(name)
      .description(description)
      .option('--root <dir>', 'the root of the worker (default: .perago/work)')
      .option('--json', 'print one JSON document')
      .addHelpText('after', example(`perago cache ${name}`))
  add('ls', 'Lists the cached objects, the last used first.').action(
    lazy(terminal, async () => (await import('./commands/cache.ts')).listCache),
  )
  add('verify', 'Reads every cached object, and removes damaged ones. Fails if one cannot be read.').action(
    lazy(terminal, async () => (await import('./commands/cache.ts')).verifyCache),
  )
  add('clear', 'Removes every cached object; workers fetch them again.').action(
    lazy(terminal, async () => (await import('./commands/cache.ts')).clearCache),
  )
}
