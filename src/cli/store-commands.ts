/** The commands about the store under the core; see `program.ts`. */

import type { Command } from 'commander'
import type { StoreOptions } from './commands/store.ts'
import { storeOptions } from './core-stores.ts'
import { configured, example } from './help.ts'
import type { Terminal } from './terminal.ts'

const FILE = 'the file of the copy'

export function addStoreCommands(program: Command, terminal: Terminal): void {
  const store = program
    .command('store')
    .helpCommand(false)
    .summary('Copies the store of the core into a file and back, checks copies, and changes keys.')
    .description('Copies the store of the core into a file and back, checks copies, and changes keys.')

  withStoreOption(store.command('export'))
    .description(
      'Copies every entry into a file, but for those that expire, such as leases. Sealed values stay sealed. For a copy of one moment nothing may write meanwhile.',
    )
    .argument('<file>', FILE)
    .addHelpText('after', example('perago store export backup.jsonl'))
    .action(async (file: string, options: StoreOptions) => {
      const { exportToFile } = await import('./commands/store.ts')
      await exportToFile(file, options, terminal)
    })

  withStoreOption(store.command('import'))
    .description('Checks a copy, and writes it into an empty store. Nothing is overwritten.')
    .argument('<file>', FILE)
    .addHelpText('after', example('perago store import backup.jsonl --store env:STORE_URL'))
    .action(async (file: string, options: StoreOptions) => {
      const { importFromFile } = await import('./commands/store.ts')
      await importFromFile(file, options, terminal)
    })

  withStoreOption(store.command('verify'))
    .description('Checks that a copy is whole; with --store also that the store holds the same.')
    .argument('<file>', FILE)
    .addHelpText(
      'after',
      example('perago store verify backup.jsonl', 'perago store verify backup.jsonl --store ./store.db'),
    )
    .action(async (file: string, options: StoreOptions) => {
      const { verifyFile } = await import('./commands/store.ts')
      await verifyFile(file, options, terminal)
    })

  withStoreOption(store.command('reseal'))
    .description(
      'Encrypts every value anew that is not encrypted with the first of the keys in store.keys, so that older keys can go.',
    )
    .addHelpText('after', example('PERAGO_STORE_KEYS_FILE=keys.txt perago store reseal'))
    .action(async (options: StoreOptions) => {
      const { resealValues } = await import('./commands/store.ts')
      await resealValues(options, terminal)
    })
}

function withStoreOption(command: Command): Command {
  return configured(storeOptions(command))
}
