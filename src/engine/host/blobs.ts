/**
 * Large values of one execution. A blob is named by its content and never changes, so it is written before the step that
 * refers to it; where that step never comes, it is only left over until the execution is swept.
 */

import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { DefectError } from '../../base/errors.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import { commitGuarded, type WritePace } from '../../core/namespaces/guarded-write.ts'
import type { Store, StorePut } from '../../core/ports.ts'
import { HOST_BLOB_CHUNK_BYTES } from '../limits.ts'

export interface BlobRef {
  readonly digest: string
  /** How many entries it is cut into. */
  readonly parts: number
  /** As stored, compressed. */
  readonly bytes: number
}

export interface Blob extends BlobRef {
  /** Characters before it was compressed. */
  readonly textLength: number
  readonly chunks: readonly Uint8Array[]
}

/** A text as a blob. Pure. */
export function packBlob(text: string): Blob {
  const whole = gzipSync(toBytes(text), { level: 1 })
  const digest = createHash('sha256').update(text).digest('hex')
  const chunks: Uint8Array[] = []
  for (let at = 0; at < whole.byteLength; at += HOST_BLOB_CHUNK_BYTES)
    chunks.push(whole.subarray(at, at + HOST_BLOB_CHUNK_BYTES))
  return { digest, parts: chunks.length, bytes: whole.byteLength, textLength: text.length, chunks }
}

export function refOf({ digest, parts, bytes }: Blob): BlobRef {
  return { digest, parts, bytes }
}

/** Writes blobs below a prefix. May be repeated. */
export async function writeBlobs(
  at: { readonly store: Store; readonly prefix: string; readonly pace: WritePace },
  blobs: readonly Blob[],
): Promise<void> {
  for (const { digest, chunks } of blobs) {
    for (const [index, value] of chunks.entries()) {
      const put: StorePut = { do: 'put', key: `${at.prefix}${digest}:${index}`, value }
      // Written twice it is the same.
      const write = { batch: { operations: [put] }, hasHappened: () => Promise.resolve('open' as const) }
      await commitGuarded(at.store, write, at.pace)
    }
  }
}

export async function readBlob(
  at: { readonly store: Store; readonly prefix: string },
  { digest, parts }: BlobRef,
): Promise<string> {
  const chunks: Uint8Array[] = []
  for (let index = 0; index < parts; index += 1) {
    const entry = await at.store.get(`${at.prefix}${digest}:${index}`)
    if (entry === undefined) throw brokenState(`part ${index} of ${parts} of a value is missing`)
    chunks.push(entry.value)
  }
  return fromBytes(gunzipSync(Buffer.concat(chunks)))
}

export function brokenState(why: string): DefectError {
  return new DefectError('engine/broken-state', `read the stored state of an execution: ${why}`, {
    next: 'Check whether another program writes to this store, or restore the store from a backup.',
  })
}
