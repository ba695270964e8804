/**
 * Objects' bytes, each content once, named by its SHA-256. Names come only from the hash: no text of a request becomes
 * part of a file path.
 *
 * On disk: temp file → fsync → rename → fsync of the directory, and only then the answer. So a file with its final name
 * is complete, also after a crash; a crash leaves only temp files, which are removed at the next start.
 */

import { createHash, randomBytes, type Hash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { MissingError, UnavailableError } from '../../../base/errors.ts'
import { EMBEDDED_BLOB_BUFFER_BYTES, EMBEDDED_MEMORY_BLOBS_MAX_BYTES } from '../../limits.ts'
import { DirectorySyncer } from './directory-syncer.ts'
import { closedError } from './storage-errors.ts'

interface HashedBlob {
  readonly sha256: string
  readonly md5: string
  readonly sizeBytes: number
}

/** Both ends inclusive, like the Range header. */
export interface BlobRange {
  readonly start: number
  readonly end: number
}

export interface BlobStore {
  /** Returns when the bytes are durable. Fails with the error of the body, and stores nothing then. */
  store(body: Readable): Promise<HashedBlob>
  /** Throws `missing` when there is no such blob. */
  open(sha256: string, range?: BlobRange): Readable
  sizeOf(sha256: string): number | undefined
  /** Waits for what is under way. */
  close(): Promise<void>
}

export class DiskBlobStore implements BlobStore {
  readonly #objectsDir: string
  readonly #tempDir: string
  readonly #syncer: DirectorySyncer
  readonly #underWay = new Set<Promise<HashedBlob>>()
  #closed = false

  constructor(directories: { readonly objectsDir: string; readonly tempDir: string }) {
    this.#objectsDir = directories.objectsDir
    this.#tempDir = directories.tempDir
    this.#syncer = new DirectorySyncer(directories.objectsDir)
  }

  store(body: Readable): Promise<HashedBlob> {
    if (this.#closed) return Promise.reject(closedError('store an object'))
    const stored = this.#store(body)
    this.#underWay.add(stored)
    const forget = (): void => {
      this.#underWay.delete(stored)
    }
    stored.then(forget, forget)
    return stored
  }

  open(sha256: string, range?: BlobRange): Readable {
    const sizeBytes = this.sizeOf(sha256)
    if (sizeBytes === undefined) throw noSuchBlob(sha256)
    // An empty object has no first byte; a stream of the whole file ends at once.
    if (sizeBytes === 0 || range === undefined) return createReadStream(this.#fileOf(sha256))
    return createReadStream(this.#fileOf(sha256), { start: range.start, end: range.end })
  }

  sizeOf(sha256: string): number | undefined {
    return statSync(this.#fileOf(sha256), { throwIfNoEntry: false })?.size
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    await this.#syncer.close()
  }

  async #store(body: Readable): Promise<HashedBlob> {
    const tempFile = join(this.#tempDir, randomBytes(16).toString('hex'))
    let handle: FileHandle | undefined
    try {
      handle = await open(tempFile, 'wx', 0o600)
      const blob = await writeHashed(body, handle)
      const file = this.#fileOf(blob.sha256)
      const isThere = this.sizeOf(blob.sha256) === blob.sizeBytes
      if (!isThere) await handle.sync()
      await handle.close()
      handle = undefined
      if (isThere) await rm(tempFile)
      else await rename(tempFile, file)
      // Also when it was there: a process that was killed may have renamed it and not synced the directory.
      await this.#syncer.sync()
      return blob
    } catch (error) {
      await handle?.close()
      await rm(tempFile, { force: true })
      throw error
    }
  }

  #fileOf(sha256: string): string {
    return join(this.#objectsDir, sha256)
  }
}

/** Bytes in memory, for tests and for trying out. Bounded, and gone with the process. */
export class MemoryBlobStore implements BlobStore {
  readonly #blobs = new Map<string, Buffer>()
  #totalBytes = 0

  async store(body: Readable): Promise<HashedBlob> {
    const hasher = new BlobHasher()
    const chunks: Buffer[] = []
    for await (const chunk of body as AsyncIterable<Buffer>) {
      hasher.add(chunk)
      chunks.push(chunk)
      if (this.#totalBytes + hasher.sizeBytes > EMBEDDED_MEMORY_BLOBS_MAX_BYTES) throw memoryFull()
    }
    const blob = hasher.finish()
    if (!this.#blobs.has(blob.sha256)) {
      this.#blobs.set(blob.sha256, Buffer.concat(chunks))
      this.#totalBytes += blob.sizeBytes
    }
    return blob
  }

  open(sha256: string, range?: BlobRange): Readable {
    const bytes = this.#blobs.get(sha256)
    if (bytes === undefined) throw noSuchBlob(sha256)
    const part = range === undefined ? bytes : bytes.subarray(range.start, range.end + 1)
    return Readable.from(part.length === 0 ? [] : [part], { objectMode: false })
  }

  sizeOf(sha256: string): number | undefined {
    return this.#blobs.get(sha256)?.length
  }

  close(): Promise<void> {
    this.#blobs.clear()
    return Promise.resolve()
  }
}

/** Removes the files of uploads that never ended. Only while no other process can write there. */
export async function sweepTempFiles(tempDir: string): Promise<void> {
  for (const name of await readdir(tempDir)) await rm(join(tempDir, name), { force: true })
}

async function writeHashed(body: Readable, handle: FileHandle): Promise<HashedBlob> {
  const hasher = new BlobHasher()
  let pending: Buffer[] = []
  let pendingBytes = 0
  const writePending = async (): Promise<void> => {
    const joined = pending.length === 1 && pending[0] !== undefined ? pending[0] : Buffer.concat(pending)
    pending = []
    pendingBytes = 0
    await writeWholly(handle, joined)
  }
  for await (const chunk of body as AsyncIterable<Buffer>) {
    hasher.add(chunk)
    pending.push(chunk)
    pendingBytes += chunk.length
    if (pendingBytes >= EMBEDDED_BLOB_BUFFER_BYTES) await writePending()
  }
  if (pendingBytes > 0) await writePending()
  return hasher.finish()
}

async function writeWholly(handle: FileHandle, buffer: Buffer): Promise<void> {
  for (let written = 0; written < buffer.length;) {
    const { bytesWritten } = await handle.write(buffer, written)
    written += bytesWritten
  }
}

/** MD5 is lakeFS' checksum, SHA-256 our own name; both in one pass. */
class BlobHasher {
  sizeBytes = 0
  readonly #sha256: Hash = createHash('sha256')
  readonly #md5: Hash = createHash('md5')

  add(chunk: Buffer): void {
    this.sizeBytes += chunk.length
    this.#sha256.update(chunk)
    this.#md5.update(chunk)
  }

  finish(): HashedBlob {
    return { sha256: this.#sha256.digest('hex'), md5: this.#md5.digest('hex'), sizeBytes: this.sizeBytes }
  }
}

function noSuchBlob(sha256: string): MissingError {
  return new MissingError('embedded/no-such-blob', `read the bytes ${sha256}: they are missing`, {
    details: { sha256 },
  })
}

function memoryFull(): UnavailableError {
  return new UnavailableError(
    'embedded/memory-full',
    `store an object in memory: all objects together may have at most ${EMBEDDED_MEMORY_BLOBS_MAX_BYTES} bytes`,
    { next: 'Start the server with a data directory.' },
  )
}
