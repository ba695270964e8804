/** The store, and the archive, that a command about executions works on. */

import { join } from 'node:path'
import { InvalidError } from '../base/errors.ts'
import { openHost, type Host } from '../runtime/host.ts'
import { openStores, sealOf, type OpenedStores } from '../runtime/stores/open-store.ts'
import { loadForCommand, type Flags, type LoadedForCommand } from './configured.ts'
import { DEFAULT_STORE, STORE_FILE, type CoreOptions } from './store-options.ts'
import type { Terminal } from './terminal.ts'

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
