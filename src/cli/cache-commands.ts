/** The commands about the content cache of a worker's root; see `program.ts`. */

import type { Command } from 'commander'
import type { CacheOptions } from './commands/cache.ts'
import { example } from './help.ts'
import type { Terminal } from './terminal.ts'

export function addCacheCommands(program: Command, terminal: Terminal): void {
  const cache = program
    .command('cache')
    .description('Looks after what a worker keeps on its disk of the objects it fetched. Workers may run.')
    .addHelpText('after', example('perago cache ls', 'perago cache verify'))
  const add = (name: string, description: string, run: (options: CacheOptions) => Promise<void>): void => {
    cache
      .command(name)
      .description(description)
      .option('--root <dir>', 'the root of the worker (default: .perago/work)')
      .option('--json', 'answer with one JSON document')
      .addHelpText('after', example(`perago cache ${name}`))
      .action(run)
  }
  add('ls', 'Lists the objects that are kept, the last used first.', async (options) => {
    const { listCache } = await import('./commands/cache.ts')
    await listCache(options, terminal)
  })
  add('verify', 'Reads every object that is kept, and removes what is damaged.', async (options) => {
    const { verifyCache } = await import('./commands/cache.ts')
    await verifyCache(options, terminal)
  })
  add('clear', 'Removes every object that is kept; workers fetch them again.', async (options) => {
    const { clearCache } = await import('./commands/cache.ts')
    await clearCache(options, terminal)
  })
}
