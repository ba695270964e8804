import { MissingError } from '../../src/base/errors.ts'
import type { NodeStore } from '../../src/embedded/lakefs/engine/tree/node-store.ts'
import {
  decodeNode,
  EMPTY_LEAF,
  EMPTY_TREE,
  encodeNode,
  nodeIdOf,
  type NodeId,
  type TreeNode,
} from '../../src/embedded/lakefs/engine/tree/tree-node.ts'

/** Nodes in a map; counts what was read and written, so that a test can say what an operation cost. */
export class MemoryNodeStore implements NodeStore {
  loads = 0
  readonly #nodes = new Map<NodeId, Buffer>([[EMPTY_TREE, encodeNode(EMPTY_LEAF)]])

  get size(): number {
    return this.#nodes.size
  }

  has(id: NodeId): boolean {
    return this.#nodes.has(id)
  }

  load(id: NodeId): TreeNode {
    this.loads += 1
    const bytes = this.#nodes.get(id)
    if (bytes === undefined)
      throw new MissingError('embedded/no-such-node', `read tree node ${id}: there is none`)
    return decodeNode(bytes)
  }

  save(node: TreeNode): NodeId {
    const bytes = encodeNode(node)
    const id = nodeIdOf(bytes)
    this.#nodes.set(id, bytes)
    return id
  }
}
