/**
 * What commands say about the store and the archive that they work on. Loads nothing of them: every start of the command line reads
 * this, also one that only shows its help.
 */

import type { Command } from 'commander'
import type { ConfiguredOptions } from './options.ts'

export interface CoreOptions extends ConfiguredOptions {
  readonly store?: string
  readonly data?: string
  readonly memory?: boolean
  readonly archive?: string
  readonly keepEvents?: string
  readonly keepVariables?: string
  readonly keepCheckpoints?: string
}

export const STORE_FILE = 'store.db'

/** Where the store is unless something else says so, relative to the working directory. */
export const DEFAULT_STORE = `.perago/core/${STORE_FILE}`

export function storeOptions(command: Command): Command {
  return command
    .option(
      '--store <address>',
      'where executions are kept: a SQLite file, postgresql://, redis://, rediss://, etcd:// or etcds://; env:NAME reads it from a variable (default: .perago/core/store.db)',
    )
    .option('--data <dir>', 'a directory for a store of one file')
}

export function archiveOption(command: Command): Command {
  return command.option(
    '--archive <address>',
    'where events of ended executions go: a SQLite file of its own or postgresql://',
  )
}

export function retentionOptions(command: Command): Command {
  return command
    .option(
      '--keep-events <duration>',
      'how long events are kept after their execution has ended (default: 30d)',
    )
    .option('--keep-variables <duration>', 'how long its variables are kept (default: 7d)')
    .option('--keep-checkpoints <duration>', 'how long its checkpoints are kept (default: 7d)')
}
