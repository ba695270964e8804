/** Which paths of a tree cannot be read. Every node is read once, however many commits share it. */

import { messageOf } from '../../../base/errors.ts'
import type { SqliteNodeStore } from './sqlite-node-store.ts'
import { fromByteKey, type ByteKey } from './tree/byte-key.ts'
import { EMPTY_TREE, isLeaf, type NodeId } from './tree/tree-node.ts'

export interface LostPath {
  /** One object, or the last of those below a node that cannot be read. */
  readonly path: string | undefined
  /** The object's bytes; undefined for a node. */
  readonly sha256?: string
  readonly what: string
}

/** Says of an entry's value which bytes are damaged or missing. */
export type JudgeEntry = (value: Buffer) => { readonly sha256: string; readonly what: string } | undefined

export class TreeChecker {
  readonly #nodes: SqliteNodeStore
  readonly #judge: JudgeEntry
  /** Whether something below the node is lost. */
  readonly #isLost = new Map<NodeId, boolean>()

  constructor(nodes: SqliteNodeStore, judge: JudgeEntry) {
    this.#nodes = nodes
    this.#judge = judge
  }

  get nodesRead(): number {
    return this.#isLost.size
  }

  *lostPaths(root: NodeId, last?: ByteKey): Generator<LostPath> {
    if (root === EMPTY_TREE || this.#isLost.get(root) === false) return
    let isLost = false
    for (const lost of this.#lostIn(root, last)) {
      isLost = true
      yield lost
    }
    this.#isLost.set(root, isLost)
  }

  *#lostIn(id: NodeId, last: ByteKey | undefined): Generator<LostPath> {
    let node
    try {
      node = this.#nodes.load(id)
    } catch (error) {
      yield { path: last === undefined ? undefined : fromByteKey(last), what: messageOf(error) }
      return
    }
    for (const [index, key] of node.keys.entries()) {
      if (isLeaf(node)) {
        const value = node.values[index]
        const judged = value && this.#judge(value)
        if (judged !== undefined) yield { path: fromByteKey(key), ...judged }
      } else {
        const child = node.children[index]
        if (child !== undefined) yield* this.lostPaths(child, key)
      }
    }
  }
}
