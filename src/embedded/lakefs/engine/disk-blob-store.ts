/**
 * Objects' bytes on disk: temp file → fsync → rename → fsync of the directory, and only then the answer. So a file with its
 * final name is complete, also after a crash; a crash leaves only temp files, which are removed at the next start.
 *
 * A small object is checked before its first byte is given out, a large one while it is read: the stream fails before its
 * end. Before the first range of a large object all of it is checked.
 */

import { randomBytes } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { EMBEDDED_BLOB_BUFFER_BYTES, EMBEDDED_BLOB_WHOLE_MAX_BYTES } from '../../limits.ts'
import { CheckedFiles, isIntact, readChecked } from './blob-check.ts'
import {
  BlobHasher,
  noSuchBlob,
  streamPart,
  type BlobRange,
  type BlobStore,
  type HashedBlob,
} from './blob-store.ts'
import { DirectorySyncer } from './directory-syncer.ts'
import { closedError, explainFullDisk } from './storage-errors.ts'

export class DiskBlobStore implements BlobStore {
  readonly #objectsDir: string
  readonly #tempDir: string
  readonly #syncer: DirectorySyncer
  readonly #checked = new CheckedFiles()
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

  async open(sha256: string, range?: BlobRange): Promise<() => Readable> {
    const sizeBytes = this.sizeOf(sha256)
    if (sizeBytes === undefined) throw noSuchBlob(sha256)
    const named = { file: this.#fileOf(sha256), sha256 }
    if (sizeBytes <= EMBEDDED_BLOB_WHOLE_MAX_BYTES) {
      const bytes = await readChecked(named)
      return () => streamPart(bytes, range)
    }
    if (range !== undefined) {
      await this.#checked.requireIntact(named)
      return () => createReadStream(named.file, { start: range.start, end: range.end })
    }
    this.#checked.refuseKnownDamage(named)
    return () => Readable.from(this.#checked.stream(named), { objectMode: false })
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
      // A damaged file is not "there already": the new one takes its place, and every entry that names it is well again.
      const isThere =
        this.sizeOf(blob.sha256) === blob.sizeBytes &&
        (await isIntact({ file, sha256: blob.sha256 }, blob.sizeBytes))
      if (!isThere) await handle.sync()
      await handle.close()
      handle = undefined
      if (isThere) await rm(tempFile)
      else await rename(tempFile, file)
      // Also when it was there: a process that was killed may have renamed it and not synced the directory.
      await this.#syncer.sync()
      return blob
    } catch (error) {
      // Where no file could be made nobody has read the body, and its sender would wait for ever.
      body.destroy()
      // A full disk may show only now, again; what matters is the first error.
      await handle?.close().catch(() => undefined)
      await rm(tempFile, { force: true })
      throw explainFullDisk('store an object', error)
    }
  }

  #fileOf(sha256: string): string {
    return join(this.#objectsDir, sha256)
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
