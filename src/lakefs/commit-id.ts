/** The id of a commit, as lakeFS computes it: a SHA-256 over typed, length-prefixed fields. */

import { createHash, type Hash } from 'node:crypto'
import { commitRef, type CommitRef } from '../base/ids.ts'
import type { CommitRecord } from '../publication/ports.ts'

/** Each field starts with a byte that says what it is. */
const TAG = { text: 1, whole: 2, list: 3, map: 4, bytes: 5 } as const
const WHOLE_BYTES = 8
const FORMAT = 'commit:v1'

/**
 * The ref a record will have once it is written. Times count in whole seconds.
 *
 * ```ts
 * const ref = commitIdOf(record)
 * ```
 */
export function commitIdOf(record: Omit<CommitRecord, 'ref' | 'generation'>): CommitRef {
  const parents = createHash('sha256')
  parents.update(Buffer.from([TAG.list]))
  addWhole(parents, record.parents.length)
  for (const parent of record.parents) addText(parents, parent)

  const hash = createHash('sha256')
  for (const text of [FORMAT, record.committer, record.message, record.metaRange]) addText(hash, text)
  addWhole(hash, unixSeconds(record.createdAt))
  addMetadata(hash, record.metadata)
  addBytes(hash, parents.digest())
  return commitRef(hash.digest('hex'))
}

/** Whole seconds since the epoch; what lakeFS keeps of a time. */
function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

function addMetadata(hash: Hash, metadata: Readonly<Record<string, string>>): void {
  const entries = Object.entries(metadata).map(([key, value]) => ({ key: Buffer.from(key), value }))
  // In byte order: sorting JavaScript strings would order by UTF-16 units, which differs beyond the basic plane.
  entries.sort((left, right) => Buffer.compare(left.key, right.key))
  hash.update(Buffer.from([TAG.map]))
  addWhole(hash, entries.length)
  for (const { key, value } of entries) {
    addText(hash, key)
    addText(hash, value)
  }
}

function addText(hash: Hash, text: string | Buffer): void {
  const bytes = Buffer.from(text)
  hash.update(Buffer.from([TAG.text]))
  addWhole(hash, bytes.length)
  hash.update(bytes)
}

function addBytes(hash: Hash, bytes: Buffer): void {
  // The tag of a bytes field is followed by a zero; measured, not explained.
  hash.update(Buffer.from([TAG.bytes, 0]))
  addWhole(hash, bytes.length)
  hash.update(bytes)
}

function addWhole(hash: Hash, value: number): void {
  const field = Buffer.alloc(2 + WHOLE_BYTES)
  field[0] = TAG.whole
  field[1] = WHOLE_BYTES
  field.writeBigInt64BE(BigInt(value), 2)
  hash.update(field)
}
