/** From physical addresses to bytes, and back. An address is only ever looked up; it is never a path. */

import { randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { isPeragoError } from '../../../base/errors.ts'
import { EMBEDDED_ACTION_FILE_MAX_BYTES } from '../../limits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Entry, type StoredBlob } from './engine.ts'
import type { BlobRange, HashedBlob } from './blob-store.ts'
import { requireStored, requireWritable } from './repositories.ts'

const DATA = 'data'
const HANDED_OUT = /^staged\/[0-9a-f]{32}$/
const BY_CONTENT = /^[0-9a-f]{64}$/

export async function storeBlob(
  context: EngineContext,
  repository: string,
  body: Readable,
): Promise<StoredBlob> {
  const { storageNamespace } = requireWritable(context.db, repository)
  const { sha256, md5, sizeBytes } = await context.blobs.store(body)
  return { physicalAddress: addressIn(storageNamespace, sha256), md5, sizeBytes }
}

/** Nothing is remembered: the address means something from the moment bytes were stored at it. */
export function reserveAddress({ db }: EngineContext, repository: string): string {
  const { storageNamespace } = requireWritable(db, repository)
  return addressIn(storageNamespace, `staged/${randomBytes(16).toString('hex')}`)
}

/** The last one to store at an address wins. */
export async function storeBlobAt(
  context: EngineContext,
  request: { readonly repository: string; readonly physicalAddress: string; readonly body: Readable },
): Promise<StoredBlob> {
  const { db, writes, clock } = context
  const { storageNamespace } = requireWritable(db, request.repository)
  const { physicalAddress } = request
  if (!HANDED_OUT.test(nameIn(storageNamespace, physicalAddress) ?? '')) {
    throw new EngineError(
      'bad-argument',
      `store bytes at ${JSON.stringify(physicalAddress)}: it was not handed out`,
    )
  }
  const blob: HashedBlob = await context.blobs.store(request.body)
  await writes.run(() => {
    const { rid } = requireWritable(db, request.repository)
    db.run(
      'INSERT OR REPLACE INTO addresses (rid, address, sha256, size_bytes, stored_at) VALUES (?, ?, ?, ?, ?)',
      rid,
      physicalAddress,
      blob.sha256,
      blob.sizeBytes,
      unixSeconds(clock),
    )
  })
  return { physicalAddress, md5: blob.md5, sizeBytes: blob.sizeBytes }
}

export function openBlob(
  context: EngineContext,
  where: { readonly repository: string; readonly physicalAddress: string; readonly range?: BlobRange },
): Readable {
  const sha256 = requireSha256(context, where)
  try {
    return context.blobs.open(sha256, where.range)
  } catch (error) {
    if (isPeragoError(error) && error.kind === 'missing') throw missing(where.physicalAddress, error)
    throw error
  }
}

export async function readBlob(
  context: EngineContext,
  where: { readonly repository: string; readonly physicalAddress: string; readonly maxBytes: number },
): Promise<Buffer> {
  const sizeBytes = blobSize(context, where)
  if (sizeBytes === undefined) throw missing(where.physicalAddress)
  if (sizeBytes > where.maxBytes) {
    throw new EngineError(
      'bad-argument',
      `read ${where.physicalAddress}: it has more than ${where.maxBytes} bytes`,
    )
  }
  const chunks: Buffer[] = []
  for await (const chunk of openBlob(context, where) as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export function readEntry(context: EngineContext, repository: string, entry: Entry): Promise<Buffer> {
  const { physicalAddress } = entry
  return readBlob(context, { repository, physicalAddress, maxBytes: EMBEDDED_ACTION_FILE_MAX_BYTES })
}

/** Undefined when the address leads to no bytes of this repository. */
export function blobSize(
  context: EngineContext,
  where: { readonly repository: string; readonly physicalAddress: string },
): number | undefined {
  const sha256 = findSha256(context, where)
  return sha256 === undefined ? undefined : context.blobs.sizeOf(sha256)
}

function requireSha256(
  context: EngineContext,
  where: { readonly repository: string; readonly physicalAddress: string },
): string {
  const sha256 = findSha256(context, where)
  if (sha256 === undefined) throw missing(where.physicalAddress)
  return sha256
}

function findSha256(
  { db }: EngineContext,
  where: { readonly repository: string; readonly physicalAddress: string },
): string | undefined {
  const { rid, storageNamespace } = requireStored(db, where.repository)
  const name = nameIn(storageNamespace, where.physicalAddress)
  if (name === undefined) return undefined
  if (BY_CONTENT.test(name)) return name
  return db.get<{ sha256: string }>(
    'SELECT sha256 FROM addresses WHERE rid = ? AND address = ?',
    rid,
    where.physicalAddress,
  )?.sha256
}

function addressIn(storageNamespace: string, name: string): string {
  return `${storageNamespace.replace(/\/+$/, '')}/${DATA}/${name}`
}

/** What stands behind `<namespace>/data/`; undefined for an address from anywhere else. */
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
