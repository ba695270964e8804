/** What the script that writes batches is given, and what it answers. */

import type { CommitOutcome } from '../../core/ports.ts'
import type { CheckedBatch } from '../backend.ts'

/** `[1, revision]`, or 0 and in pairs the keys whose conditions did not hold, with the revision found. */
export type CommitAnswer = readonly [number, ...Buffer[]]

/**
 * One argument with everything, as MessagePack: for the driver each argument costs more than its bytes do. A list of, for each batch: the
 * number of conditions, then key, kind and revision of each; the number of operations, then key, kind, value and time to live of each.
 */
export function packBatches(batches: readonly CheckedBatch[]): Buffer {
  const list = new PackedList(batches.reduce((sum, batch) => sum + mostBytes(batch), HEAD_BYTES))
  for (const { conditions, operations } of batches) {
    list.text(String(conditions.length))
    for (const condition of conditions) {
      list.text(condition.key)
      list.text(condition.is)
      list.text(condition.is === 'at' ? String(condition.revision) : '')
    }
    list.text(String(operations.length))
    for (const operation of operations) {
      list.text(operation.key)
      list.text(operation.do)
      if (operation.do === 'put') list.bytes(operation.value)
      else list.text('')
      list.text(operation.do === 'put' && operation.ttlMs !== undefined ? String(operation.ttlMs) : '')
    }
  }
  return list.end()
}

export function outcomeOf([committed, ...fields]: CommitAnswer): CommitOutcome {
  if (committed === 1) return { committed: true, revision: Number(fields[0]?.toString()) }
  const unmet: { key: string; revision: number | undefined }[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const revision = fields[at + 1]?.toString() ?? ''
    unmet.push({
      key: fields[at]?.toString() ?? '',
      revision: revision === '' ? undefined : Number(revision),
    })
  }
  return { committed: false, unmet }
}

/** Of a list, and of one of its strings. */
const HEAD_BYTES = 5
const ARRAY_32 = 0xdd
const STRING_32 = 0xdb
/** In UTF-8, for one unit of a JavaScript string. */
const UNIT_BYTES_MAX = 3
/** Counts, kinds, revisions and times to live of one condition or operation, with the heads of all its strings. */
const REST_BYTES_MAX = 96

function mostBytes({ conditions, operations }: CheckedBatch): number {
  let bytes = REST_BYTES_MAX * (1 + conditions.length + operations.length)
  for (const { key } of conditions) bytes += UNIT_BYTES_MAX * key.length
  for (const operation of operations) {
    bytes += UNIT_BYTES_MAX * operation.key.length
    if (operation.do === 'put') bytes += operation.value.byteLength
  }
  return bytes
}

/** A list of strings in MessagePack. */
class PackedList {
  readonly #buffer: Buffer
  #at = HEAD_BYTES
  #count = 0

  constructor(mostBytes: number) {
    this.#buffer = Buffer.allocUnsafe(mostBytes)
  }

  text(text: string): void {
    this.#head(this.#buffer.write(text, this.#at + HEAD_BYTES))
  }

  bytes(bytes: Uint8Array): void {
    this.#buffer.set(bytes, this.#at + HEAD_BYTES)
    this.#head(bytes.byteLength)
  }

  end(): Buffer {
    this.#buffer[0] = ARRAY_32
    this.#buffer.writeUInt32BE(this.#count, 1)
    return this.#buffer.subarray(0, this.#at)
  }

  /** In front of a string that was written behind it. */
  #head(bytes: number): void {
    this.#buffer[this.#at] = STRING_32
    this.#buffer.writeUInt32BE(bytes, this.#at + 1)
    this.#at += HEAD_BYTES + bytes
    this.#count += 1
  }
}
