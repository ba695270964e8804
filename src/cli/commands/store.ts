import { resolve } from 'node:path'
import { RefusedError } from '../../base/errors.ts'
import { openStoreAt } from '../../runtime/store-address.ts'
import { compareBackup, exportStore, importStore, verifyBackup } from '../../runtime/store-backup.ts'
import type { Terminal } from '../terminal.ts'

export interface StoreOptions {
  readonly store?: string
  readonly json?: boolean
}

/** Where the core keeps its store, seen from the working directory. */
const STORE_FILE = ['.perago', 'core', 'store.db'] as const

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

async function withStore<T>(
  options: StoreOptions,
  terminal: Terminal,
  run: (store: Awaited<ReturnType<typeof openStoreAt>>, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const address = options.store ?? STORE_FILE.join('/')
  const isFile = !/^([a-z]+:\/\/|env:)/.test(address)
  const store = await openStoreAt(
    isFile ? resolve(terminal.directory, address) : address,
    terminal.environment,
  )
  try {
    return await run(store, terminal.stopSignal())
  } finally {
    await store.close()
  }
}

function say(options: StoreOptions, terminal: Terminal, report: object, sentence: string): void {
  terminal.answer(options.json === true ? `${JSON.stringify(report, undefined, 2)}\n` : `${sentence}\n`)
}
