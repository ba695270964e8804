/** Where tree nodes are stored. The tree itself does not depend on a database. */

import type { ByteKey } from './byte-key.ts'
import { indexAtLeast, isLeaf, type NodeId, type TreeNode } from './tree-node.ts'

export interface NodeStore {
  /** The empty tree always exists. Throws for a missing or damaged node: a committed tree must have all its nodes. */
  load(id: NodeId): TreeNode
  has(id: NodeId): boolean
  /** Storing a node again does nothing. */
  save(node: TreeNode): NodeId
}

/** The value at `key`. Reads one node per level. */
export function lookUp(store: NodeStore, root: NodeId, key: ByteKey): Buffer | undefined {
  let node = store.load(root)
  for (;;) {
    const index = indexAtLeast(node.keys, key)
    if (isLeaf(node)) return node.keys[index] === key ? node.values[index] : undefined
    const child = node.children[index]
    if (child === undefined) return undefined
    node = store.load(child)
  }
}
