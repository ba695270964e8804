/**
 * How high a key is in the tree. Only this decides where nodes end, so the shape of a tree depends only on its keys:
 * not on their values, not on the order in which they were added.
 */

import type { ByteKey } from './byte-key.ts'

/** One key in 2^5 ends a leaf, one in 2^10 ends a node above, and so on: 32 items to a node on average. */
const BITS_PER_LEVEL = 5

/** 0 for a key inside a leaf, n for a key that ends its node on the n lowest levels. */
export function heightOfKey(key: ByteKey): number {
  // 32 hash bits give at most 6 levels, enough for 2^30 keys in nodes of 32.
  return Math.floor(Math.clz32(hashOfKey(key)) / BITS_PER_LEVEL)
}

/** FNV-1a, then the finishing rounds of MurmurHash3, since FNV alone mixes its upper bits poorly. */
function hashOfKey(key: ByteKey): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
