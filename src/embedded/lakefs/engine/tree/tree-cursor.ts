/**
 * A position in a tree that moves forward only. It enters a subtree as late as it can, so that a comparison of two
 * trees may skip a subtree without reading it.
 */

import type { ByteKey } from './byte-key.ts'
import type { NodeStore } from './node-store.ts'
import type { SortedStream } from './sorted-stream.ts'
import { indexAtLeast, isLeaf, type NodeId, type TreeNode } from './tree-node.ts'

export interface TreeEntry {
  readonly key: ByteKey
  readonly value: Buffer
}

type CursorItem =
  | ({ readonly kind: 'entry' } & TreeEntry)
  /** A subtree not yet entered; `level` is its own. */
  | { readonly kind: 'node'; readonly level: number; readonly id: NodeId }

export class TreeCursor {
  readonly #store: NodeStore
  readonly #root: NodeId
  #frames: { node: TreeNode; index: number }[]
  /** The last key that was skipped. No seek goes back before it. */
  #behind: ByteKey | undefined
  #item: CursorItem | undefined

  constructor(store: NodeStore, root: NodeId) {
    this.#store = store
    this.#root = root
    this.#frames = [{ node: store.load(root), index: 0 }]
    this.#settle()
  }

  /** Undefined at the end. */
  get item(): CursorItem | undefined {
    return this.#item
  }

  /** Skips the current item: an entry, or a whole subtree. */
  skip(): void {
    const top = this.#frames.at(-1)
    if (top === undefined) return
    this.#behind = top.node.keys[top.index]
    top.index += 1
    this.#settle()
  }

  /** Enters the current subtree. */
  enter(): void {
    if (this.#item?.kind !== 'node') return
    this.#frames.push({ node: this.#store.load(this.#item.id), index: 0 })
    this.#settle()
  }

  /** Goes to the first entry that is not below `key`; never backwards. */
  seek(key: ByteKey): void {
    if (this.#item === undefined || (this.#behind !== undefined && key <= this.#behind)) return
    if (this.#item.kind === 'entry' && this.#item.key >= key) return
    // From the root, because what is in between must not be read.
    this.#frames = [{ node: this.#store.load(this.#root), index: 0 }]
    for (;;) {
      const top = this.#frames.at(-1)
      if (top === undefined) break
      top.index = indexAtLeast(top.node.keys, key)
      if (isLeaf(top.node)) break
      const child = top.node.children[top.index]
      if (child === undefined) break
      this.#frames.push({ node: this.#store.load(child), index: 0 })
    }
    this.#settle()
  }

  /** Goes down to the next entry. */
  entry(): TreeEntry | undefined {
    while (this.#item?.kind === 'node') this.enter()
    return this.#item
  }

  #settle(): void {
    for (;;) {
      const top = this.#frames.at(-1)
      if (top === undefined) {
        this.#item = undefined
        return
      }
      if (top.index < top.node.keys.length) {
        this.#item = itemAt(top.node, top.index)
        return
      }
      this.#frames.pop()
      const above = this.#frames.at(-1)
      if (above !== undefined) above.index += 1
    }
  }
}

/** All entries of a tree in order. */
export function streamTree(store: NodeStore, root: NodeId): SortedStream<TreeEntry> {
  const cursor = new TreeCursor(store, root)
  return {
    next() {
      const entry = cursor.entry()
      cursor.skip()
      return entry
    },
    seek: (key) => cursor.seek(key),
  }
}

function itemAt(node: TreeNode, index: number): CursorItem {
  return isLeaf(node)
    ? { kind: 'entry', key: node.keys[index] as ByteKey, value: node.values[index] as Buffer }
    : { kind: 'node', level: node.level - 1, id: node.children[index] as NodeId }
}
