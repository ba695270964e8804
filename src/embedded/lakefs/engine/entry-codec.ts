/** One object's entry as the value of a tree or of the staging area, and when two entries count as the same. */

import type { Entry } from './engine.ts'
import { fromByteKey, type ByteKey } from './tree/byte-key.ts'

type StoredEntry = readonly [
  checksum: string,
  sizeBytes: number,
  contentType: string,
  metadata: readonly (readonly [string, string])[],
  modifiedAt: number,
  physicalAddress: string,
  write?: number,
]

/**
 * `write` is the number of an upload or a copy: in lakeFS each has an address of its own, so that a tree is another one when an
 * object in it was written again.
 */
export function encodeEntry(entry: Entry, write?: number): Buffer {
  const stored: StoredEntry = [
    entry.checksum,
    entry.sizeBytes,
    entry.contentType,
    // Sorted, so that equal entries have equal bytes and with them equal trees equal ids.
    Object.entries(entry.metadata).sort(([a], [b]) => (a < b ? -1 : 1)),
    entry.modifiedAt,
    entry.physicalAddress,
  ]
  return Buffer.from(JSON.stringify(write === undefined ? stored : [...stored, write]))
}

export function decodeEntry(key: ByteKey, value: Buffer): Entry {
  const [checksum, sizeBytes, contentType, metadata, modifiedAt, physicalAddress] = parse(value)
  return {
    path: fromByteKey(key),
    physicalAddress,
    checksum,
    sizeBytes,
    modifiedAt,
    contentType,
    metadata: Object.fromEntries(metadata),
  }
}

/**
 * Whether two stored entries are the same to users: size, checksum, content type and user metadata. Time and address do
 * not count, so the same content uploaded again is no change.
 */
export function isSameEntry(left: Buffer, right: Buffer): boolean {
  if (left.equals(right)) return true
  const a = parse(left)
  const b = parse(right)
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && JSON.stringify(a[3]) === JSON.stringify(b[3])
}

export function physicalAddressOf(value: Buffer): string {
  return parse(value)[5]
}

function parse(value: Buffer): StoredEntry {
  return JSON.parse(value.toString('utf8')) as StoredEntry
}
