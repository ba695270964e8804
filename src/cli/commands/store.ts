import { resolve } from 'node:path'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import type { Store } from '../../core/ports.ts'
import { reseal, sealOf } from '../../runtime/stores/open-store.ts'
import { openStoreAt } from '../../runtime/stores/store-address.ts'
import { compareBackup, exportStore, importStore, verifyBackup } from '../../runtime/stores/store-backup.ts'
import { DEFAULT_STORE, loadCore, type CoreOptions } from '../core-stores.ts'
import type { Terminal } from '../terminal.ts'

export type StoreOptions = CoreOptions

/** Copies a store into a file. */
export async function exportToFile(file: string, options: StoreOptions, terminal: Terminal): Promise<void> {
  const report = await withStore(options, terminal, (store, signal) =>
    exportStore(store, resolve(terminal.directory, file), signal),
  )
  const skipped = report.expiring === 0 ? '' : `; ${String(report.expiring)} that expire were left out`
  say(options, terminal, report, `${String(report.entries)} entries exported to ${file}${skipped}`)
}

/** Fills an empty store from a file. */
export async function importFromFile(file: string, options: StoreOptions, terminal: Terminal): Promise<void> {
  const report = await withStore(options, terminal, (store, signal) =>
    importStore(store, resolve(terminal.directory, file), signal),
  )
  say(options, terminal, report, `${String(report.entries)} entries imported from ${file}`)
}

/** Checks a file, and where a store is named compares the two. */
export async function verifyFile(file: string, options: StoreOptions, terminal: Terminal): Promise<void> {
  const path = resolve(terminal.directory, file)
  if (options.store === undefined) {
    const report = await verifyBackup(path, terminal.stopSignal())
    say(options, terminal, report, `${file} is whole: ${String(report.entries)} entries`)
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
  say(
    options,
    terminal,
    found,
    `${file} is whole, and the store holds the same ${String(found.entries)} entries`,
  )
}

/** Writes every value anew that is not encrypted with the first of the keys. */
export async function resealValues(options: StoreOptions, terminal: Terminal): Promise<void> {
  const seal = sealOf((await loadCore(options, terminal)).core)
  if (seal?.encryption === undefined) {
    throw new InvalidError('cli/no-store-keys', 'seal the store anew: there are no keys', {
      next: 'Set store.keys, the new key first and the older ones behind it.',
    })
  }
  const resealed = await withStore(options, terminal, (store, signal) => reseal(store, seal, signal))
  const { use } = seal.encryption
  say(options, terminal, { resealed, key: use }, `${String(resealed)} values encrypted anew with ${use}`)
}

async function withStore<T>(
  options: StoreOptions,
  terminal: Terminal,
  run: (store: Store, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { core } = await loadCore(options, terminal)
  const { directory, environment } = terminal
  // Not as it is sealed: a copy holds what the store holds.
  const store = await openStoreAt(core.storeAddress ?? DEFAULT_STORE, {
    directory,
    environment,
  })
  try {
    return await run(store, terminal.stopSignal())
  } finally {
    await store.close()
  }
}

function say(options: StoreOptions, terminal: Terminal, report: object, sentence: string): void {
  terminal.answer(options.json === true ? `${JSON.stringify(report, undefined, 2)}\n` : `${sentence}\n`)
}
