/**
 * Small objects. What has arrived while one group was synced is the next one: one write and one sync of a journal, and then
 * all of the group are answered in one turn, so that the entries that follow share a transaction too. Until a content has a
 * file of its own it is read from memory.
 *
 * Invariants:
 * 1. A content is answered after the journal that holds it was synced.
 * 2. A journal is used again after every content in it has a durable file of its own.
 * 3. What is held in memory has at most the bytes of two journals.
 */

import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import {
  EMBEDDED_BLOB_GROUP_MAX,
  EMBEDDED_JOURNAL_IDLE_MS,
  EMBEDDED_JOURNAL_MAX_BYTES,
  EMBEDDED_JOURNAL_RETRY_MS,
} from '../../limits.ts'
import { BlobJournal } from './blob-journal.ts'
import { fileBlobs, type BlobPlaces, type NamedBytes } from './file-blobs.ts'

interface WaitingBlob extends NamedBytes {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** A journal, and what in it has no file yet. */
interface Segment {
  readonly journal: BlobJournal
  readonly held: Map<string, Buffer>
}

/** What a file may take besides its bytes. */
const FILE_OVERHEAD_BYTES = 4_096

export class SmallBlobs {
  readonly #places: BlobPlaces
  /** Not durable yet. */
  readonly #arriving = new Map<string, Promise<void>>()
  #waiting: WaitingBlob[] = []
  #isWriting = false
  /** The one that is written, and the one that is filed, or free. */
  #active: Segment
  #other: Segment
  #filing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(places: BlobPlaces & { readonly incomingDir: string }) {
    this.#places = places
    this.#active = newSegment(join(places.incomingDir, 'a'))
    this.#other = newSegment(join(places.incomingDir, 'b'))
  }

  /** Bytes that are durable and have no file of their own. */
  find(sha256: string): Buffer | undefined {
    return this.#active.held.get(sha256) ?? this.#other.held.get(sha256)
  }

  /** Resolves when the bytes are durable. */
  store(record: NamedBytes): Promise<void> {
    if (this.find(record.sha256) !== undefined) return Promise.resolve()
    const arriving = this.#arriving.get(record.sha256)
    if (arriving !== undefined) return arriving
    const durable = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ ...record, resolve, reject })
    })
    this.#arriving.set(record.sha256, durable)
    if (!this.#isWriting) {
      this.#isWriting = true
      clearTimeout(this.#timer)
      // Not before the other bodies of this turn are here.
      setImmediate(() => {
        this.#writeAll().catch(ignoreError)
      })
    }
    return durable
  }

  /** After the last `store` has settled. What cannot be filed, as on a full disk, stays in its journal for the next start. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await this.#filing?.catch(ignoreError)
    for (const segment of [this.#other, this.#active]) {
      await this.#fileSegment(segment).catch(ignoreError)
      await segment.journal.close({ keep: segment.held.size > 0 })
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.slice(0, EMBEDDED_BLOB_GROUP_MAX)
      this.#waiting = this.#waiting.slice(group.length)
      await this.#write(group)
    }
    this.#isWriting = false
    this.#fileAfter(EMBEDDED_JOURNAL_IDLE_MS)
  }

  async #write(group: readonly WaitingBlob[]): Promise<void> {
    try {
      await this.#makeRoom(group)
      const { journal, held } = this.#active
      const stored = await journal.append(group)
      group.forEach(({ sha256 }, index) => held.set(sha256, stored[index] ?? Buffer.alloc(0)))
      for (const { sha256, resolve } of group) {
        this.#arriving.delete(sha256)
        resolve()
      }
    } catch (error) {
      for (const { sha256, reject } of group) {
        this.#arriving.delete(sha256)
        reject(error)
      }
    }
  }

  async #makeRoom(group: readonly WaitingBlob[]): Promise<void> {
    if (this.#active.journal.sizeBytes >= EMBEDDED_JOURNAL_MAX_BYTES) {
      // Uploads wait here when they come faster than files can be made.
      if (this.#other.held.size > 0) await this.#fileOther()
      this.#swap()
      this.#fileOther().catch(ignoreError)
    }
    const files = group.length + this.#active.held.size + this.#other.held.size
    const groupBytes = group.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const bytes = groupBytes + this.#active.journal.sizeBytes + this.#other.journal.sizeBytes
    // The files come later: an upload onto a full disk is refused now.
    requireRoom(this.#places.objectsDir, { files, bytes })
  }

  #swap(): void {
    ;[this.#active, this.#other] = [this.#other, this.#active]
  }

  #fileAfter(delayMs: number): void {
    clearTimeout(this.#timer)
    if (this.#isClosing) return
    this.#timer = setTimeout(() => {
      // Whoever is at it begins this again at its end.
      if (this.#isWriting || this.#filing !== undefined) return
      if (this.#other.held.size === 0) this.#swap()
      this.#fileOther().catch(ignoreError)
    }, delayMs)
    this.#timer.unref()
  }

  /** One at a time; all who ask meanwhile wait for it. */
  #fileOther(): Promise<void> {
    this.#filing ??= this.#fileSegment(this.#other).then(
      () => this.#filingEnded(EMBEDDED_JOURNAL_IDLE_MS),
      (error: unknown) => {
        this.#filingEnded(EMBEDDED_JOURNAL_RETRY_MS)
        throw error
      },
    )
    return this.#filing
  }

  #filingEnded(againMs: number): void {
    this.#filing = undefined
    const isLeft = this.#active.held.size + this.#other.held.size > 0
    if (isLeft && !this.#isWriting) this.#fileAfter(againMs)
  }

  /** After a failure what is held stays readable, and in its journal. */
  async #fileSegment({ held, journal }: Segment): Promise<void> {
    const records = Array.from(held, ([sha256, bytes]) => ({ sha256, bytes }))
    if (records.length > 0) await fileBlobs(this.#places, records)
    held.clear()
    journal.empty()
  }
}

function newSegment(file: string): Segment {
  return { journal: new BlobJournal(file), held: new Map() }
}

function requireRoom(directory: string, needed: { readonly files: number; readonly bytes: number }): void {
  const { bavail, bsize, files, ffree } = statfsSync(directory)
  const isEnough = bavail * bsize >= needed.bytes + needed.files * FILE_OVERHEAD_BYTES
  // Some file systems have no fixed number of files and say 0.
  const hasFiles = files === 0 || ffree >= needed.files
  if (isEnough && hasFiles) return
  throw Object.assign(new Error(`no space left on device, write ${directory}`), {
    code: 'ENOSPC',
    path: directory,
  })
}

function ignoreError(): void {
  // It is tried again; what was answered is in a journal.
}
