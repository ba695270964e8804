/**
 * Paths as byte strings. lakeFS orders paths by their UTF-8 bytes; JavaScript orders strings by UTF-16 units, which
 * puts characters beyond U+FFFF before U+E000. A byte string holds one UTF-8 byte in each character, so plain `<`
 * is byte order, and the tree never compares buffers.
 */

import type { Branded } from '../../../../base/ids.ts'

export type ByteKey = Branded<'ByteKey'>

const NON_ASCII = /[^\0-\x7f]/

export function toByteKey(text: string): ByteKey {
  // An ASCII string, the usual case, is its own byte string.
  return (NON_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text) as ByteKey
}

export function fromByteKey(key: ByteKey): string {
  return NON_ASCII.test(key) ? Buffer.from(key, 'latin1').toString('utf8') : key
}

export function keyToBytes(key: ByteKey): Buffer {
  return Buffer.from(key, 'latin1')
}

export function bytesToKey(bytes: Buffer): ByteKey {
  return bytes.toString('latin1') as ByteKey
}

/** The first key after all keys that start with `prefix`; undefined when there is none (all bytes 0xff, or empty). */
export function successorOfPrefix(prefix: ByteKey): ByteKey | undefined {
  for (let end = prefix.length; end > 0; end -= 1) {
    const last = prefix.charCodeAt(end - 1)
    if (last < 0xff) return (prefix.slice(0, end - 1) + String.fromCharCode(last + 1)) as ByteKey
  }
  return undefined
}
