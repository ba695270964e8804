/**
 * Copies a store to a file, and back. Each line is a JSON document: a head, the entries in order with their values in base64,
 * and an end with their number and the SHA-256 of all bytes before it. Sealed values are copied as they are.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { InvalidError, RefusedError } from '../../base/errors.ts'
import {
  STORE_BATCH_MAX_BYTES,
  STORE_BATCH_MAX_OPERATIONS,
  STORE_PAGE_MAX_ENTRIES,
} from '../../core/limits.ts'
import { readPages } from '../../core/read-pages.ts'
import type { Store, StoreEntry } from '../../core/ports.ts'

export interface BackupReport {
  readonly entries: number
  /** Entries that expire, such as leases. They are not copied. */
  readonly expiring?: number
}

export interface Comparison extends BackupReport {
  /** Keys that are only in one of the two, or have another value. */
  readonly different: number
  readonly examples: readonly string[]
}

type Copied = Pick<StoreEntry, 'key' | 'value'>

const HEAD = { perago: 'store', format: 1 }
const EXAMPLES_MAX = 5

/** Only each page is consistent; for a consistent copy nobody may write meanwhile. */
export async function exportStore(store: Store, file: string, signal: AbortSignal): Promise<BackupReport> {
  const unfinished = `${file}.unfinished`
  const hash = createHash('sha256')
  // What an interrupted copy left may have other permissions.
  await rm(unfinished, { force: true })
  const handle = await open(unfinished, 'wx', 0o600)
  await handle.chmod(0o600)
  let [entries, expiring] = [0, 0]
  try {
    const write = async (text: string): Promise<void> => {
      hash.update(text)
      await handle.write(text)
    }
    await write(line(HEAD))
    for await (const entry of entriesOf(store, signal)) {
      if (entry.expires) expiring += 1
      else {
        entries += 1
        await write(line({ key: entry.key, value: Buffer.from(entry.value).toString('base64') }))
      }
    }
    await handle.write(line({ entries, sha256: hash.digest('hex') }))
    await handle.sync()
  } catch (error) {
    await handle.close()
    await rm(unfinished, { force: true })
    throw error
  }
  await handle.close()
  await rename(unfinished, file)
  return { entries, expiring }
}

/** Checks the whole file first, and overwrites nothing: it fails on a key that exists. */
export async function importStore(store: Store, file: string, signal: AbortSignal): Promise<BackupReport> {
  const { entries } = await verifyBackup(file, signal)
  let batch: Copied[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const outcome = await store.commit(
      {
        conditions: batch.map(({ key }) => ({ key, is: 'absent' })),
        operations: batch.map(({ key, value }) => ({ do: 'put', key, value })),
      },
      { signal },
    )
    if (!outcome.committed) {
      const key = outcome.unmet[0]?.key ?? ''
      throw new RefusedError(
        'runtime/store-not-empty',
        `import ${file}: the store has ${JSON.stringify(key)} already`,
        { details: { key }, next: 'Import into an empty store.' },
      )
    }
    ;[batch, bytes] = [[], 0]
  }
  for await (const entry of readBackup(file, signal)) {
    const size = Buffer.byteLength(entry.key) * 2 + entry.value.byteLength
    if (batch.length === STORE_BATCH_MAX_OPERATIONS || bytes + size > STORE_BATCH_MAX_BYTES) await flush()
    batch.push(entry)
    bytes += size
  }
  if (batch.length > 0) await flush()
  return { entries }
}

/** Reads the whole file, and refuses one that is incomplete, changed or not a backup. */
export async function verifyBackup(file: string, signal: AbortSignal): Promise<BackupReport> {
  let entries = 0
  for await (const { key } of readBackup(file, signal)) entries += key === '' ? 0 : 1
  return { entries }
}

/** Compares a backup with a store, except entries that expire. Both are in the same order. */
export async function compareBackup(store: Store, file: string, signal: AbortSignal): Promise<Comparison> {
  const inStore = entriesOf(store, signal)
  const next = async (): Promise<StoreEntry | undefined> => {
    for (;;) {
      const { done, value } = await inStore.next()
      if (done === true) return undefined
      if (!value.expires) return value
    }
  }
  const examples: string[] = []
  let [entries, different] = [0, 0]
  const note = (key: string): void => {
    different += 1
    if (examples.length < EXAMPLES_MAX) examples.push(key)
  }
  let there = await next()
  for await (const copied of readBackup(file, signal)) {
    entries += 1
    for (; there !== undefined && compareBytes(there.key, copied.key) < 0; there = await next())
      note(there.key)
    if (there?.key !== copied.key) note(copied.key)
    else {
      if (!Buffer.from(there.value).equals(copied.value)) note(copied.key)
      there = await next()
    }
  }
  for (; there !== undefined; there = await next()) note(there.key)
  return { entries, different, examples }
}

async function* entriesOf(
  store: Store,
  signal: AbortSignal,
): AsyncGenerator<StoreEntry, undefined, undefined> {
  const range = { prefix: '', limit: STORE_PAGE_MAX_ENTRIES }
  for await (const page of readPages(store, range, { signal })) yield* page
  return undefined
}

async function* readBackup(file: string, signal: AbortSignal): AsyncGenerator<Copied> {
  const hash = createHash('sha256')
  const lines = createInterface({ input: createReadStream(file, { signal }), crlfDelay: Infinity })
  let [number, entries] = [0, 0]
  let isEnded = false
  for await (const text of lines) {
    number += 1
    const found = parseLine(text)
    if (isEnded || found === undefined) throw damaged(file, number)
    if (number === 1) {
      if (found.perago !== HEAD.perago || found.format !== HEAD.format) throw damaged(file, number)
    } else if (typeof found.key === 'string' && typeof found.value === 'string') {
      entries += 1
      yield { key: found.key, value: Buffer.from(found.value, 'base64') }
    } else {
      if (found.entries !== entries || found.sha256 !== hash.digest('hex')) throw damaged(file, number)
      isEnded = true
      continue
    }
    hash.update(`${text}\n`)
  }
  if (!isEnded) throw damaged(file, number)
}

function parseLine(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(text)
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function line(document: object): string {
  return `${JSON.stringify(document)}\n`
}

function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function damaged(file: string, number: number): InvalidError {
  return new InvalidError(
    'runtime/damaged-backup',
    `read ${file}: it is not a complete backup of a store (line ${number})`,
    { details: { file, line: number }, next: 'Make another copy.' },
  )
}
