/**
 * Objects' bytes on disk: temp file → fsync → rename → fsync of the directory, and only then the answer. So a file with its
 * final name is complete, also after a crash; a crash leaves only temp files, which are removed at the next start. Small
 * objects are answered from a journal and get their files later: small-blobs.ts.
 *
 * A small object is checked before its first byte is given out, a large one while it is read: the stream fails before its
 * end. Before the first range of a large object all of it is checked.
 */

import { randomBytes } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  EMBEDDED_BLOB_BUFFER_BYTES,
  EMBEDDED_BLOB_GROUPED_MAX_BYTES,
  EMBEDDED_BLOB_WHOLE_MAX_BYTES,
} from '../../limits.ts'
import { CheckedFiles, isIntact, readChecked } from './blob-check.ts'
import {
  BlobHasher,
  noSuchBlob,
  openPart,
  type BlobRange,
  type BlobStore,
  type HashedBlob,
  type OpenBlob,
} from './blob-store.ts'
import { DirectorySyncer } from './directory-syncer.ts'
import { SmallBlobs } from './small-blobs.ts'
import { closedError, explainFullDisk } from './storage-errors.ts'

export class DiskBlobStore implements BlobStore {
  readonly #objectsDir: string
  readonly #tempDir: string
  readonly #syncer: DirectorySyncer
  readonly #small: SmallBlobs
  readonly #checked = new CheckedFiles()
  readonly #underWay = new Set<Promise<HashedBlob>>()
  #closed = false

  constructor(directories: {
    readonly objectsDir: string
    readonly tempDir: string
    readonly incomingDir: string
  }) {
    this.#objectsDir = directories.objectsDir
    this.#tempDir = directories.tempDir
    this.#syncer = new DirectorySyncer(directories.objectsDir)
    this.#small = new SmallBlobs({ ...directories, syncer: this.#syncer })
  }

  store(body: Readable | Buffer): Promise<HashedBlob> {
    if (this.#closed) return Promise.reject(closedError('store an object'))
    const stored = Buffer.isBuffer(body) ? this.#storeWhole(body) : this.#store(body)
    this.#underWay.add(stored)
    const forget = (): void => {
      this.#underWay.delete(stored)
    }
    stored.then(forget, forget)
    return stored
  }

  async open(sha256: string, range?: BlobRange): Promise<OpenBlob> {
    const held = this.#small.find(sha256)
    if (held !== undefined) return openPart(held, range)
    const sizeBytes = this.sizeOf(sha256)
    if (sizeBytes === undefined) throw noSuchBlob(sha256)
    const named = { file: this.#fileOf(sha256), sha256 }
    if (sizeBytes <= EMBEDDED_BLOB_WHOLE_MAX_BYTES) {
      const bytes = await readChecked(named, sizeBytes)
      return openPart(bytes, range)
    }
    if (range !== undefined) {
      await this.#checked.requireIntact(named)
      return () => createReadStream(named.file, { start: range.start, end: range.end })
    }
    this.#checked.refuseKnownDamage(named)
    return () => Readable.from(this.#checked.stream(named), { objectMode: false })
  }

  sizeOf(sha256: string): number | undefined {
    return this.#small.find(sha256)?.length ?? this.#fileSize(sha256)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    await this.#small.close()
    await this.#syncer.close()
  }

  async #store(body: Readable): Promise<HashedBlob> {
    const hasher = new BlobHasher()
    const pieces = body[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
    try {
      const begun = await readPieces(pieces, hasher, EMBEDDED_BLOB_GROUPED_MAX_BYTES)
      return begun.isWhole
        ? await this.#storeSmall(begun.bytes, hasher.finish())
        : await this.#storeLarge(pieces, hasher, begun.bytes)
    } catch (error) {
      // Where no file could be made nobody reads the rest of the body, and its sender would wait for ever.
      body.destroy()
      throw explainFullDisk('store an object', error)
    }
  }

  async #storeWhole(bytes: Buffer): Promise<HashedBlob> {
    if (bytes.length > EMBEDDED_BLOB_GROUPED_MAX_BYTES) return this.#store(Readable.from([bytes]))
    const hasher = new BlobHasher()
    hasher.add(bytes)
    try {
      return await this.#storeSmall(bytes, hasher.finish())
    } catch (error) {
      throw explainFullDisk('store an object', error)
    }
  }

  async #storeSmall(bytes: Buffer, blob: HashedBlob): Promise<HashedBlob> {
    const { sha256 } = blob
    const isFiled = this.#small.find(sha256) === undefined && (await this.#isThere(blob))
    // Also when it was there: a process that was killed may have renamed it and not synced the directory.
    await (isFiled ? this.#syncer.sync() : this.#small.store({ sha256, bytes }))
    return blob
  }

  async #storeLarge(
    pieces: AsyncIterator<Buffer, undefined>,
    hasher: BlobHasher,
    first: Buffer,
  ): Promise<HashedBlob> {
    const tempFile = join(this.#tempDir, randomBytes(16).toString('hex'))
    let handle: FileHandle | undefined
    try {
      handle = await open(tempFile, 'wx', 0o600)
      await writeWholly(handle, first)
      for (let isWhole = false; !isWhole;) {
        const next = await readPieces(pieces, hasher, EMBEDDED_BLOB_BUFFER_BYTES)
        await writeWholly(handle, next.bytes)
        isWhole = next.isWhole
      }
      const blob = hasher.finish()
      const isThere = await this.#isThere(blob)
      if (!isThere) await handle.sync()
      await handle.close()
      handle = undefined
      if (isThere) await rm(tempFile)
      else await rename(tempFile, this.#fileOf(blob.sha256))
      // Also when it was there: a process that was killed may have renamed it and not synced the directory.
      await this.#syncer.sync()
      return blob
    } catch (error) {
      // A full disk may show only now, again; what matters is the first error.
      await handle?.close().catch(() => undefined)
      await rm(tempFile, { force: true })
      throw error
    }
  }

  /** A damaged file is not there: the new one takes its place, and every entry that names it is well again. */
  async #isThere({ sha256, sizeBytes }: HashedBlob): Promise<boolean> {
    if (this.#fileSize(sha256) !== sizeBytes) return false
    return isIntact({ file: this.#fileOf(sha256), sha256 }, sizeBytes)
  }

  #fileSize(sha256: string): number | undefined {
    return statSync(this.#fileOf(sha256), { throwIfNoEntry: false })?.size
  }

  #fileOf(sha256: string): string {
    return join(this.#objectsDir, sha256)
  }
}

/** Removes the files of uploads that never ended. Only while no other process can write there. */
export async function sweepTempFiles(tempDir: string): Promise<void> {
  for (const name of await readdir(tempDir)) await rm(join(tempDir, name), { force: true })
}

/** Reads until there is more than `enoughBytes`, or to the end. */
async function readPieces(
  pieces: AsyncIterator<Buffer, undefined>,
  hasher: BlobHasher,
  enoughBytes: number,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const read: Buffer[] = []
  let bytes = 0
  let isWhole = false
  while (bytes <= enoughBytes) {
    const { done, value } = await pieces.next()
    if (done === true) {
      isWhole = true
      break
    }
    hasher.add(value)
    read.push(value)
    bytes += value.length
  }
  return { bytes: read.length === 1 && read[0] !== undefined ? read[0] : Buffer.concat(read), isWhole }
}

async function writeWholly(handle: FileHandle, buffer: Buffer): Promise<void> {
  for (let written = 0; written < buffer.length;) {
    const { bytesWritten } = await handle.write(buffer, written)
    written += bytesWritten
  }
}
