/** The commands about the store under the core; see `program.ts`. */

import type { Command } from 'commander'
import { archiveOption, storeOptions } from './store-options.ts'
import { configured, example, lazy } from './help.ts'
import type { Terminal } from './terminal.ts'

const FILE = 'the file of the copy'

export function addStoreCommands(program: Command, terminal: Terminal): void {
  const store = program
    .command('store')
    .helpCommand(false)
    .summary('Copies the store of executions to a file and back, checks copies, and changes keys.')
    .description('Copies the store of executions to a file and back, checks copies, and changes keys.')

  withStoreOption(store.command('export'))
    .description(
      'Copies every entry to a file, except those that expire, such as leases. Sealed values stay sealed. For a consistent copy nothing may write meanwhile.',
    )
    .argument('<file>', FILE)
    .addHelpText('after', example('perago store export backup.jsonl'))
    .action(lazy(terminal, async () => (await import('./commands/store.ts')).exportToFile))

  withStoreOption(store.command('import'))
    .description('Checks a copy, and writes it to an empty store. Nothing is overwritten.')
    .argument('<file>', FILE)
    .addHelpText('after', example('perago store import backup.jsonl --store env:STORE_URL'))
    .action(lazy(terminal, async () => (await import('./commands/store.ts')).importFromFile))

  withStoreOption(archiveOption(store.command('verify')))
    .description(
      'Reads every entry of the store, every event of the archive if there is one, and follows every log: names what is damaged or missing, and ends with 3 if anything is. With a file it checks that the copy is complete, and with --store also that the store has the same entries.',
    )
    .argument('[file]', FILE)
    .addHelpText(
      'after',
      example(
        'perago store verify',
        'perago store verify backup.jsonl',
        'perago store verify backup.jsonl --store ./store.db',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/store.ts')).verify))

  withStoreOption(archiveOption(store.command('reseal')))
    .description(
      'Encrypts every value, and every event of the archive if there is one, with the first of the keys in store.keys, so that older keys can be removed.',
    )
    .addHelpText('after', example('PERAGO_STORE_KEYS_FILE=keys.txt perago store reseal'))
    .action(lazy(terminal, async () => (await import('./commands/store.ts')).resealValues))
}

function withStoreOption(command: Command): Command {
  return configured(storeOptions(command))
}
