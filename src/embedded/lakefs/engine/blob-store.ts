/**
 * Objects' bytes, each content once, named by its SHA-256. Names come only from the hash: no text of a request becomes
 * part of a file path. On disk: disk-blob-store.ts.
 */

import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { MissingError, UnavailableError } from '../../../base/errors.ts'
import { EMBEDDED_MEMORY_BLOBS_MAX_BYTES } from '../../limits.ts'

export interface HashedBlob {
  readonly sha256: string
  readonly md5: string
  readonly sizeBytes: number
}

/** Both ends inclusive, like the Range header. */
export interface BlobRange {
  readonly start: number
  readonly end: number
}

/** Opens bytes, once. Of small ones `bytes` is the same without a stream. */
export type OpenBlob = (() => Readable) & { readonly bytes?: Buffer }

export interface BlobStore {
  /** Returns when the bytes are durable. Fails with the error of the body, and stores nothing then. */
  store(body: Readable | Buffer): Promise<HashedBlob>
  /**
   * Returns what opens the bytes, once. Throws `missing` when there are none, `embedded/damaged-object` when they are known to be
   * damaged by then; a stream that finds it out later fails before its end.
   */
  open(sha256: string, range?: BlobRange): Promise<OpenBlob>
  sizeOf(sha256: string): number | undefined
  /** Waits for what is under way. */
  close(): Promise<void>
}

/** Bytes in memory, for tests and for trying out. Bounded, and gone with the process. */
export class MemoryBlobStore implements BlobStore {
  readonly #blobs = new Map<string, Buffer>()
  #totalBytes = 0

  async store(body: Readable | Buffer): Promise<HashedBlob> {
    const hasher = new BlobHasher()
    const chunks: Buffer[] = []
    for await (const chunk of Buffer.isBuffer(body) ? [body] : (body as AsyncIterable<Buffer>)) {
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

  open(sha256: string, range?: BlobRange): Promise<OpenBlob> {
    const bytes = this.#blobs.get(sha256)
    return bytes === undefined ? Promise.reject(noSuchBlob(sha256)) : Promise.resolve(openPart(bytes, range))
  }

  sizeOf(sha256: string): number | undefined {
    return this.#blobs.get(sha256)?.length
  }

  close(): Promise<void> {
    this.#blobs.clear()
    return Promise.resolve()
  }
}

export function openPart(whole: Buffer, range: BlobRange | undefined): OpenBlob {
  const bytes = range === undefined ? whole : whole.subarray(range.start, range.end + 1)
  return Object.assign(() => Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false }), {
    bytes,
  })
}

/** MD5 is lakeFS' checksum, SHA-256 our own name; both in one pass. */
export class BlobHasher {
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

export function noSuchBlob(sha256: string): MissingError {
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
