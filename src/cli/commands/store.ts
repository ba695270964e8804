import { resolve } from 'node:path'
import { InvalidError, isPeragoError, RefusedError } from '../../base/errors.ts'
import type { Store } from '../../core/ports.ts'
import type { CoreConfiguration } from '../../runtime/configuration/configuration.ts'
import { reseal, resealEvents, sealOf } from '../../runtime/stores/open-store.ts'
import { openArchiveAt, openStoreAt } from '../../runtime/stores/store-address.ts'
import { verifyStore, type StoreVerification } from '../../runtime/stores/store-verification.ts'
import { compareBackup, exportStore, importStore, verifyBackup } from '../../runtime/stores/store-backup.ts'
import type { WalkableArchive } from '../../core/events/archive-port.ts'
import { loadCore, openCoreStores } from '../core-stores.ts'
import { DEFAULT_STORE, type CoreOptions } from '../store-options.ts'
import { answer } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

/** Copies a store into a file. */
export async function exportToFile(file: string, options: CoreOptions, terminal: Terminal): Promise<void> {
  const report = await withStore(options, terminal, (store, signal) =>
    exportStore(store, resolve(terminal.directory, file), signal),
  )
  const skipped = report.expiring === 0 ? '' : `; ${report.expiring ?? 0} that expire were not copied`
  answer(terminal, options, report, () => `${report.entries} entries exported to ${file}${skipped}\n`)
}

/** Fills an empty store from a file. */
export async function importFromFile(file: string, options: CoreOptions, terminal: Terminal): Promise<void> {
  const report = await withStore(options, terminal, (store, signal) =>
    importStore(store, resolve(terminal.directory, file), signal),
  )
  answer(terminal, options, report, () => `${report.entries} entries imported from ${file}\n`)
}

/** Walks the store; with a file, checks that, and compares it with the store if one is given. */
export async function verify(
  file: string | undefined,
  options: CoreOptions,
  terminal: Terminal,
): Promise<void> {
  if (file === undefined) return verifyEntries(options, terminal)
  const path = resolve(terminal.directory, file)
  if (options.store === undefined) {
    const report = await verifyBackup(path, terminal.stopSignal())
    answer(terminal, options, report, () => `${file} is whole: ${report.entries} entries\n`)
    return
  }
  const found = await withStore(options, terminal, (store, signal) => compareBackup(store, path, signal))
  if (found.different > 0) {
    const shown = found.examples.map((key) => JSON.stringify(key)).join(', ')
    throw new RefusedError(
      'cli/store-differs',
      `compare ${file} with the store: ${found.different} keys differ: ${shown}`,
      {
        details: { ...found },
        next: 'Export the store again, or import the file into an empty one.',
      },
    )
  }
  answer(terminal, options, found, () => {
    return `${file} is whole, and the store holds the same ${found.entries} entries\n`
  })
}

async function verifyEntries(options: CoreOptions, terminal: Terminal): Promise<void> {
  const loaded = await loadCore(options, terminal)
  const stores = await openCoreStores(loaded, terminal).catch((error: unknown) => {
    if (!isPeragoError(error) || error.code !== 'stores/corrupt') throw error
    throw damaged(`${error.message} [${error.code}]`, {}, error)
  })
  try {
    const seal = sealOf(loaded.core)
    const report = await withArchive(loaded.core, terminal, (archive) =>
      verifyStore({ store: stores.store, archive, seal }, terminal.stopSignal()),
    )
    const { found, findings } = report
    answer(terminal, options, report, () =>
      [...findings.map(({ message }) => `${message}\n`), counted(report, seal !== undefined)].join(''),
    )
    if (found === 0) return
    throw damaged(`${found} entries or logs are damaged: ${findings[0]?.message ?? ''}`, { found })
  } finally {
    await stores.close()
  }
}

function counted({ entries, logs, archive, found }: StoreVerification, isSealed: boolean): string {
  const { rows = 0, unsealed = 0 } = archive ?? {}
  const events = archive === undefined ? '' : `, ${rows} archived events read`
  const plain =
    isSealed && unsealed > 0
      ? `${unsealed} archived events are not sealed: perago store reseal seals them\n`
      : ''
  return `${plain}${entries} entries read, ${logs} logs followed${events}: ${found === 0 ? 'all whole' : `${found} damaged or missing`}\n`
}

function damaged(what: string, details: object, cause?: unknown): RefusedError {
  return new RefusedError('cli/store-damaged', `verify the store: ${what}`, {
    details: { ...details },
    next: 'Stop what writes to it, keep it for later, and restore a copy into an empty store.',
    cause,
  })
}

/** Encrypts every value, and every archived event, again that is not encrypted with the first key. */
export async function resealValues(options: CoreOptions, terminal: Terminal): Promise<void> {
  const { core } = await loadCore(options, terminal)
  const seal = sealOf(core)
  const { encryption } = seal ?? {}
  if (encryption === undefined) {
    throw new InvalidError('cli/no-store-keys', 'encrypt the store again: there are no keys', {
      next: 'Set store.keys: the new key first, then the older ones.',
    })
  }
  const { use: key } = encryption
  const resealed = await withStore(options, terminal, (store, signal) =>
    reseal(store, { encryption }, signal),
  )
  const events = await withArchive(
    core,
    terminal,
    (archive) => archive && resealEvents(archive, { encryption }, terminal.stopSignal()),
  )
  answer(terminal, options, { resealed, ...(events === undefined ? {} : { events }), key }, () => {
    const archived = events === undefined ? '' : ` and ${events} archived events`
    return `${resealed} values${archived} encrypted again with ${key}\n`
  })
}

/** The archive below its seal, if there is one. */
async function withArchive<T>(
  { archiveAddress }: CoreConfiguration,
  { directory, environment }: Terminal,
  run: (archive: WalkableArchive | undefined) => Promise<T> | T,
): Promise<T> {
  const archive =
    archiveAddress === undefined ? undefined : await openArchiveAt(archiveAddress, { directory, environment })
  try {
    return await run(archive)
  } finally {
    await archive?.close()
  }
}

async function withStore<T>(
  options: CoreOptions,
  terminal: Terminal,
  run: (store: Store, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { core } = await loadCore(options, terminal)
  const { directory, environment } = terminal
  // Opened without its keys: a copy contains the values as they are stored.
  const store = await openStoreAt(core.storeAddress ?? DEFAULT_STORE, { directory, environment })
  try {
    return await run(store, terminal.stopSignal())
  } finally {
    await store.close()
  }
}
