/** The store, and the archive, that a command about executions works on. */

import { join } from 'node:path'
import type { Command } from 'commander'
import { InvalidError } from '../base/errors.ts'
import { openHost, type Host } from '../runtime/host.ts'
import { openStores, sealOf, type OpenedStores } from '../runtime/stores/open-store.ts'
import { loadForCommand, type Flags, type LoadedForCommand } from './configured.ts'
import type { ConfiguredOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

export interface CoreOptions extends ConfiguredOptions {
  readonly store?: string
  readonly data?: string
  readonly memory?: boolean
  readonly archive?: string
  readonly keepEvents?: string
  readonly keepVariables?: string
  readonly keepCheckpoints?: string
}

const STORE_FILE = 'store.db'

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

/** The configuration with what the command line says of the store. */
export function loadCore(options: CoreOptions, terminal: Terminal): Promise<LoadedForCommand> {
  return loadForCommand(options, terminal, {
    ...storeFlag(options),
    'archive.address': { flag: '--archive', value: options.archive },
    'retention.events': { flag: '--keep-events', value: options.keepEvents },
    'retention.variables': { flag: '--keep-variables', value: options.keepVariables },
    'retention.checkpoints': { flag: '--keep-checkpoints', value: options.keepCheckpoints },
  })
}

export function openCoreStores({ core }: LoadedForCommand, terminal: Terminal): Promise<OpenedStores> {
  const store = core.storeAddress ?? DEFAULT_STORE
  return openStores({ store, archive: core.archiveAddress, seal: sealOf(core) }, terminal)
}

/** Opens the host for a command that ends, and closes it after it. */
export async function withHost<T>(
  options: CoreOptions,
  terminal: Terminal,
  work: (host: Host) => Promise<T>,
): Promise<T> {
  const loaded = await loadCore(options, terminal)
  const stores = await openCoreStores(loaded, terminal)
  try {
    const { core, logger } = loaded
    // No token is needed, and private addresses are allowed: whoever can read the store can do everything with it.
    const host = openHost({ ...stores, retention: core.retention, allowPrivateWebhooks: true, logger })
    return await work(host)
  } finally {
    await stores.close()
  }
}

function storeFlag({ store, data, memory }: CoreOptions): Flags {
  const [first, second] = [
    { flag: '--store', value: store },
    { flag: '--data', value: data === undefined ? undefined : join(data, STORE_FILE) },
    { flag: '--memory', value: memory === true ? 'memory:' : undefined },
  ].filter(({ value }) => value !== undefined)
  if (first === undefined) return {}
  if (second === undefined) return { 'store.address': first }
  throw new InvalidError(
    'cli/bad-usage',
    `read the command line: ${second.flag} and ${first.flag} exclude each other`,
    { next: 'Leave one of them out.' },
  )
}
