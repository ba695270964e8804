/**
 * Objects' bytes one after the other in a file, until each has a file of its own. Many that arrive together are one write
 * and one sync. A record names its content by the SHA-256, so reading one again, or one that was filed already, changes
 * nothing: a journal need not be emptied durably.
 */

import { createHash } from 'node:crypto'
import {
  close,
  existsSync,
  fdatasync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { syncDirectory } from '../../../base/sync-directory.ts'
import { EMBEDDED_JOURNAL_GROWTH_BYTES } from '../../limits.ts'
import { DirectorySyncer } from './directory-syncer.ts'
import { fileBlobs, type BlobPlaces, type NamedBytes } from './file-blobs.ts'
import { explainFullDisk } from './storage-errors.ts'

const syncData = promisify(fdatasync)
const closeFile = promisify(close)

const MAGIC = Buffer.from('PGO1')
/** Magic, length, SHA-256. */
const HEADER_BYTES = 4 + 4 + 32
/** Records begin at multiples of it, so that the next one is found behind a damaged one. */
const ALIGNMENT = 8

/** One is written while what is in the other is filed. */
const JOURNAL_NAMES: readonly string[] = ['a', 'b']

export class BlobJournal {
  readonly #file: string
  #handle: number | undefined
  #end = 0
  #grownTo = 0

  constructor(file: string) {
    this.#file = file
  }

  /** Of the records that were appended since it was emptied. */
  get sizeBytes(): number {
    return this.#end
  }

  /**
   * Resolves with their bytes when all of them are durable: parts of what was written, which keep nothing else in memory.
   * After a failure none of them counts. One call at a time.
   */
  async append(records: readonly NamedBytes[]): Promise<readonly Buffer[]> {
    const joined = Buffer.concat(records.flatMap(encode))
    const handle = (this.#handle ??= await this.#open())
    this.#grow(handle, this.#end + joined.length)
    writeWholly(handle, joined, this.#end)
    await syncData(handle)
    this.#end += joined.length
    let at = 0
    return records.map(({ bytes }) => {
      const start = at + HEADER_BYTES
      at += recordBytes(bytes.length)
      return joined.subarray(start, start + bytes.length)
    })
  }

  /** Everything in it has a file of its own. */
  empty(): void {
    this.#end = 0
    this.#grownTo = 0
    if (this.#handle !== undefined) ftruncateSync(this.#handle)
  }

  /** `keep`: something in it has no file of its own yet; the next start looks for it. */
  async close({ keep }: { readonly keep: boolean }): Promise<void> {
    if (this.#handle === undefined) return
    await closeFile(this.#handle)
    this.#handle = undefined
    if (!keep) await rm(this.#file, { force: true })
  }

  async #open(): Promise<number> {
    const handle = openSync(this.#file, 'w', 0o600)
    this.#grownTo = 0
    await syncDirectory(dirname(this.#file))
    return handle
  }

  /** Ahead and with zeros: a sync of blocks that are there already needs no change of the file system's own records. */
  #grow(handle: number, neededBytes: number): void {
    while (this.#grownTo < neededBytes) {
      const growth = Math.min(Math.max(this.#grownTo, neededBytes), EMBEDDED_JOURNAL_GROWTH_BYTES)
      writeWholly(handle, Buffer.alloc(growth), this.#grownTo)
      this.#grownTo += growth
    }
  }
}

/** What the journals of a directory hold, as far as it is undamaged; also while a server writes them. */
export function* readJournals(directory: string): Generator<NamedBytes> {
  for (const name of listJournals(directory)) yield* readJournal(readFileSync(join(directory, name)))
}

/** Gives a file to everything that a server which was killed had not filed. Only while no other process writes there. */
export async function fileLeftBlobs(
  directories: Omit<BlobPlaces, 'syncer'> & { readonly incomingDir: string },
): Promise<void> {
  const { incomingDir, objectsDir } = directories
  const names = listJournals(incomingDir)
  if (names.length === 0) return
  const syncer = new DirectorySyncer(objectsDir)
  try {
    await fileBlobs({ ...directories, syncer }, readJournals(incomingDir))
  } catch (error) {
    throw explainFullDisk('store what was left in a journal', error)
  } finally {
    await syncer.close()
  }
  for (const name of names) await rm(join(incomingDir, name), { force: true })
}

function listJournals(directory: string): readonly string[] {
  // A file with another name is not ours.
  return existsSync(directory) ? readdirSync(directory).filter((name) => JOURNAL_NAMES.includes(name)) : []
}

function* readJournal(content: Buffer): Generator<NamedBytes> {
  for (let at = 0; at + HEADER_BYTES <= content.length;) {
    const record = decode(content, at)
    if (record !== undefined) yield record
    at += record === undefined ? ALIGNMENT : recordBytes(record.bytes.length)
  }
}

function encode({ sha256, bytes }: NamedBytes): Buffer[] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  const padding = Buffer.alloc(recordBytes(bytes.length) - HEADER_BYTES - bytes.length)
  return [MAGIC, length, Buffer.from(sha256, 'hex'), bytes, padding]
}

function decode(content: Buffer, at: number): NamedBytes | undefined {
  if (content.compare(MAGIC, 0, MAGIC.length, at, at + MAGIC.length) !== 0) return undefined
  const start = at + HEADER_BYTES
  const bytes = content.subarray(start, start + content.readUInt32BE(at + MAGIC.length))
  const sha256 = content.toString('hex', start - 32, start)
  return createHash('sha256').update(bytes).digest('hex') === sha256 ? { sha256, bytes } : undefined
}

function recordBytes(length: number): number {
  return Math.ceil((HEADER_BYTES + length) / ALIGNMENT) * ALIGNMENT
}

function writeWholly(handle: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;)
    written += writeSync(handle, bytes, written, bytes.length - written, position + written)
}
