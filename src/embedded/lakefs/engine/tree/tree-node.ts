/**
 * The nodes of the persistent tree and their bytes. The id of a node is the SHA-256 of its bytes, so equal
 * contents have equal ids and a damaged node is noticed when it is read.
 *
 * Layout, big-endian: format (1), level (1), number of items (4), then for each item key length (2), key, and in a
 * leaf value length (4), value; above the leaves the 32 bytes of the child's id. The key of a child is its last key.
 */

import { createHash } from 'node:crypto'
import { invariant } from '../../../../base/errors.ts'
import type { Branded } from '../../../../base/ids.ts'
import type { ByteKey } from './byte-key.ts'

/** 64 lower-case hex digits. The id of a root is the `meta_range_id` that clients see. */
export type NodeId = Branded<'NodeId'>

export interface LeafNode {
  readonly level: 0
  readonly keys: readonly ByteKey[]
  readonly values: readonly Buffer[]
}

interface InnerNode {
  /** One more than the level of its children. */
  readonly level: number
  /** The last key below each child. */
  readonly keys: readonly ByteKey[]
  readonly children: readonly NodeId[]
}

export type TreeNode = LeafNode | InnerNode

const FORMAT = 1
const HEADER_BYTES = 6
const ID_BYTES = 32

export function isLeaf(node: TreeNode): node is LeafNode {
  return 'values' in node
}

export function nodeIdOf(bytes: Buffer): NodeId {
  return createHash('sha256').update(bytes).digest('hex') as NodeId
}

export function encodeNode(node: TreeNode): Buffer {
  const leaf = isLeaf(node)
  let size = HEADER_BYTES
  for (const [index, key] of node.keys.entries()) {
    size += 2 + key.length + (leaf ? 4 + (node.values[index]?.length ?? 0) : ID_BYTES)
  }
  const bytes = Buffer.allocUnsafe(size)
  bytes[0] = FORMAT
  bytes[1] = node.level
  bytes.writeUInt32BE(node.keys.length, 2)
  let at = HEADER_BYTES
  for (const [index, key] of node.keys.entries()) {
    at = bytes.writeUInt16BE(key.length, at)
    at += bytes.write(key, at, 'latin1')
    if (leaf) {
      const value = node.values[index]
      invariant(value, 'a leaf has a value for each key')
      at = bytes.writeUInt32BE(value.length, at)
      at += value.copy(bytes, at)
    } else {
      const child = node.children[index]
      invariant(child?.length === 2 * ID_BYTES, 'an inner node has a child for each key')
      at += bytes.write(child, at, 'hex')
    }
  }
  return bytes
}

export function decodeNode(bytes: Buffer): TreeNode {
  invariant(bytes[0] === FORMAT, `a tree node has format ${FORMAT}`)
  const level = bytes.readUInt8(1)
  const count = bytes.readUInt32BE(2)
  const keys: ByteKey[] = []
  const values: Buffer[] = []
  const children: NodeId[] = []
  let at = HEADER_BYTES
  for (let index = 0; index < count; index += 1) {
    const keyEnd = at + 2 + bytes.readUInt16BE(at)
    keys.push(bytes.toString('latin1', at + 2, keyEnd) as ByteKey)
    at = keyEnd
    if (level === 0) {
      const valueEnd = at + 4 + bytes.readUInt32BE(at)
      values.push(bytes.subarray(at + 4, valueEnd))
      at = valueEnd
    } else {
      children.push(bytes.toString('hex', at, at + ID_BYTES) as NodeId)
      at += ID_BYTES
    }
  }
  invariant(at === bytes.length, 'a tree node ends where its last item ends')
  return level === 0 ? { level, keys, values } : { level, keys, children }
}

export const EMPTY_LEAF: LeafNode = { level: 0, keys: [], values: [] }
/** The id of the empty tree. */
export const EMPTY_TREE: NodeId = nodeIdOf(encodeNode(EMPTY_LEAF))

/** The first index whose key is not below `key`; `keys.length` when there is none. */
export function indexAtLeast(keys: readonly ByteKey[], key: ByteKey): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((keys[middle] ?? '') < key) low = middle + 1
    else high = middle
  }
  return low
}
