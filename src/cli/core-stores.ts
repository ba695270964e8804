/** The store, and the archive, that a command about executions works on. */

import { join } from 'node:path'
import type { Command } from 'commander'
import { InvalidError } from '../base/errors.ts'
import type { LoadConfigurationRequest, LoadedConfiguration } from '../runtime/configuration/configuration.ts'
import { openStores, type OpenedStores } from '../runtime/stores/open-store.ts'
import { loadForCommand } from './configured.ts'
import type { ConfiguredOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

export interface CoreOptions extends ConfiguredOptions {
  readonly store?: string
  readonly data?: string
  readonly memory?: boolean
  readonly archive?: string
}

/** Where executions are kept, seen from the working directory. */
const CORE_DATA_DIR = '.perago/core'
const STORE_FILE = 'store.db'

/** Where the store is when nothing says so. */
export const DEFAULT_STORE = `${CORE_DATA_DIR}/${STORE_FILE}`

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
    'where events of executions that are over go: a SQLite file of its own or postgresql://',
  )
}

/** The configuration with what the command line says of the store. */
export function loadCore(
  options: CoreOptions,
  terminal: Terminal,
  flags: LoadConfigurationRequest['flags'] = {},
): Promise<LoadedConfiguration> {
  return loadForCommand(options, terminal, {
    ...storeFlag(options),
    ...(options.archive === undefined
      ? {}
      : { 'archive.address': { flag: '--archive', value: options.archive } }),
    ...flags,
  })
}

export function openCoreStores({ core }: LoadedConfiguration, terminal: Terminal): Promise<OpenedStores> {
  const { directory, environment } = terminal
  return openStores(core, { address: DEFAULT_STORE, directory, environment })
}

/** Opens the store for a command that answers, and closes it after it. */
export async function withStores<T>(
  options: CoreOptions,
  terminal: Terminal,
  work: (stores: OpenedStores) => Promise<T>,
): Promise<T> {
  const stores = await openCoreStores(await loadCore(options, terminal), terminal)
  try {
    return await work(stores)
  } finally {
    await stores.close()
  }
}

function storeFlag({ store, data, memory }: CoreOptions): NonNullable<LoadConfigurationRequest['flags']> {
  const given = [
    ...(store === undefined ? [] : [{ flag: '--store', value: store }]),
    ...(data === undefined ? [] : [{ flag: '--data', value: join(data, STORE_FILE) }]),
    ...(memory === true ? [{ flag: '--memory', value: 'memory:' }] : []),
  ]
  const [first, second] = given
  if (first === undefined) return {}
  if (second === undefined) return { 'store.address': first }
  throw new InvalidError(
    'cli/bad-usage',
    `read the command line: ${second.flag} and ${first.flag} exclude each other`,
    { next: 'Leave one of them out.' },
  )
}
