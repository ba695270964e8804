/** Where tree nodes are kept. The tree itself knows no database. */

import type { ByteKey } from './byte-key.ts'
import { indexAtLeast, isLeaf, type NodeId, type TreeNode } from './tree-node.ts'

export interface NodeStore {
  /** The empty tree is always there. Throws when another node is not there or is damaged: a root that was committed must have all its nodes. */
  load(id: NodeId): TreeNode
  has(id: NodeId): boolean
  /** Storing what is there already is nothing. */
  save(node: TreeNode): NodeId
}

/** The value at `key`. Costs one node per level. */
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
