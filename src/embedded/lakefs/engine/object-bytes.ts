/** From physical addresses to bytes, and back. An address is only looked up; it is never a path of the file system. */

import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { isPeragoError } from '../../../base/errors.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type StoredBlob } from './engine.ts'
import type { BlobRange, OpenBlob } from './blob-store.ts'
import { requireStored, requireWritable } from './repositories.ts'
import { checkRow, insertSummed, summedColumns, type RawRow } from './row-sums.ts'

const RESERVED = /^staged\/[0-9a-f]{32}$/
const BY_CONTENT = /^[0-9a-f]{64}$/

/** Streams to disk, hashes on the way, syncs, and only then returns. Never holds a body in memory. */
export async function storeBlob(
  context: EngineContext,
  repository: string,
  body: Readable | Buffer,
): Promise<StoredBlob> {
  const { storageNamespace } = requireWritable(context.db, repository)
  const { sha256, md5, sizeBytes } = await context.blobs.store(body)
  return { physicalAddress: addressIn(storageNamespace, sha256), md5, sizeBytes }
}

/**
 * An address at which nothing is stored yet, for a client that will store bytes itself. Nothing is remembered: the
 * address exists from the moment bytes were stored at it.
 */
export function reserveAddress({ db }: EngineContext, repository: string): string {
  const { storageNamespace } = requireWritable(db, repository)
  return addressIn(storageNamespace, `staged/${randomBytes(16).toString('hex')}`)
}

/** As `storeBlob`, but at an address that was reserved. The last one to store there wins. */
export async function storeBlobAt(
  { db, blobs, writes, clock }: EngineContext,
  repository: string,
  physicalAddress: string,
  body: Readable | Buffer,
): Promise<StoredBlob> {
  const { storageNamespace } = requireWritable(db, repository)
  if (!RESERVED.test(nameIn(storageNamespace, physicalAddress) ?? '')) {
    throw new EngineError(
      'bad-argument',
      `store bytes at ${JSON.stringify(physicalAddress)}: it was not reserved`,
    )
  }
  const blob = await blobs.store(body)
  await writes.run(() => {
    const { rid } = requireWritable(db, repository)
    const stored = { address: physicalAddress, sha256: blob.sha256, size_bytes: blob.sizeBytes }
    insertSummed(db, 'addresses', { rid, ...stored, stored_at: unixSeconds(clock) }, 'REPLACE')
  })
  return { physicalAddress, md5: blob.md5, sizeBytes: blob.sizeBytes }
}

/** Returns what opens the bytes, once; see `BlobStore.open`. */
export async function openBlob(
  context: EngineContext,
  repository: string,
  physicalAddress: string,
  range?: BlobRange,
): Promise<OpenBlob> {
  const sha256 = findSha256(context, repository, physicalAddress)
  if (sha256 === undefined) throw missing(physicalAddress)
  try {
    return await context.blobs.open(sha256, range)
  } catch (error) {
    if (isPeragoError(error) && error.kind === 'missing') throw missing(physicalAddress, error)
    throw error
  }
}

export async function readBlob(
  context: EngineContext,
  repository: string,
  physicalAddress: string,
  maxBytes: number,
): Promise<Buffer> {
  const sizeBytes = blobSize(context, repository, physicalAddress)
  if (sizeBytes === undefined) throw missing(physicalAddress)
  if (sizeBytes > maxBytes) {
    throw new EngineError('bad-argument', `read ${physicalAddress}: it has more than ${maxBytes} bytes`)
  }
  const chunks: Buffer[] = []
  const open = await openBlob(context, repository, physicalAddress)
  for await (const chunk of open() as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Undefined when the address leads to no bytes of this repository. */
export function blobSize(
  context: EngineContext,
  repository: string,
  physicalAddress: string,
): number | undefined {
  const sha256 = findSha256(context, repository, physicalAddress)
  return sha256 === undefined ? undefined : context.blobs.sizeOf(sha256)
}

function findSha256({ db }: EngineContext, repository: string, physicalAddress: string): string | undefined {
  const { rid, storageNamespace } = requireStored(db, repository)
  const name = nameIn(storageNamespace, physicalAddress)
  if (name === undefined || BY_CONTENT.test(name)) return name
  const sql = `SELECT ${summedColumns('addresses')} FROM addresses WHERE rid = ? AND address = ?`
  const row = db.get<RawRow>(sql, rid, physicalAddress)
  return row && checkRow<{ sha256: string }>(db, 'addresses', row).sha256
}

function addressIn(storageNamespace: string, name: string): string {
  return `${storageNamespace.replace(/\/+$/, '')}/data/${name}`
}

/** What follows `<namespace>/data/`; undefined for any other address. */
function nameIn(storageNamespace: string, physicalAddress: string): string | undefined {
  const start = addressIn(storageNamespace, '')
  return physicalAddress.startsWith(start) ? physicalAddress.slice(start.length) : undefined
}

function missing(physicalAddress: string, cause?: unknown): EngineError {
  return new EngineError(
    'data-missing',
    `read ${JSON.stringify(physicalAddress)}: no bytes are stored there`,
    { cause },
  )
}
