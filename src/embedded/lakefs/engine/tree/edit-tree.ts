/**
 * Makes a new tree from an old one and sorted edits.
 *
 * Builders, one per level, receive items in key order and end a node after each key that is high enough. A subtree
 * without edits is reused whole whenever no builder below has a node begun, so the work depends on the number of edits
 * and the height of the tree.
 *
 * Invariant: what the builders produce depends only on their items. A reused subtree represents exactly the items that
 * would have produced it, so equal contents always have equal roots.
 */

import type { ByteKey } from './byte-key.ts'
import { heightOfKey } from './key-height.ts'
import type { NodeStore } from './node-store.ts'
import { isLeaf, type LeafNode, type NodeId, type TreeNode } from './tree-node.ts'

export interface Edit {
  readonly key: ByteKey
  /** Undefined removes the key. */
  readonly value: Buffer | undefined
}

/** `edits` are in strictly ascending key order. Removing a missing key changes nothing. */
export function editTree(store: NodeStore, root: NodeId, edits: Iterable<Edit>): NodeId {
  const ahead = new LookAhead(edits)
  if (ahead.current === undefined) return root
  const builder = new TreeBuilder(store)
  copyEdited(store, builder, store.load(root), ahead, undefined)
  return builder.finish()
}

class LookAhead {
  current: Edit | undefined
  readonly #rest: Iterator<Edit>

  constructor(edits: Iterable<Edit>) {
    this.#rest = edits[Symbol.iterator]()
    this.advance()
  }

  advance(): void {
    const next = this.#rest.next()
    this.current = next.done === true ? undefined : next.value
  }

  /** Whether an edit is due at or before `lastKey`; without a key, whether any edit is left. */
  isDueBy(lastKey: ByteKey | undefined): boolean {
    return this.current !== undefined && (lastKey === undefined || this.current.key <= lastKey)
  }
}

/** `lastKey` is undefined for the last node of its level, which takes every edit that is left. */
function copyEdited(
  store: NodeStore,
  builder: TreeBuilder,
  node: TreeNode,
  edits: LookAhead,
  lastKey: ByteKey | undefined,
): void {
  if (isLeaf(node)) {
    copyEditedLeaf(builder, node, edits, lastKey)
    return
  }
  const childLevel = node.level - 1
  for (const [index, child] of node.children.entries()) {
    const key = node.keys[index] as ByteKey
    const childLast = index === node.children.length - 1 ? lastKey : key
    if (!edits.isDueBy(childLast) && builder.isBetweenNodes(childLevel))
      builder.pushNode(childLevel, key, child)
    else copyEdited(store, builder, store.load(child), edits, childLast)
  }
}

function copyEditedLeaf(
  builder: TreeBuilder,
  node: LeafNode,
  edits: LookAhead,
  lastKey: ByteKey | undefined,
): void {
  for (const [index, key] of node.keys.entries()) {
    let replaced = false
    while (edits.current !== undefined && edits.current.key <= key) {
      if (edits.current.key === key) replaced = true
      builder.pushEntry(edits.current)
      edits.advance()
    }
    if (!replaced) builder.pushEntry({ key, value: node.values[index] })
  }
  while (edits.current !== undefined && edits.isDueBy(lastKey)) {
    builder.pushEntry(edits.current)
    edits.advance()
  }
}

class TreeBuilder {
  readonly #store: NodeStore
  #leafKeys: ByteKey[] = []
  #leafValues: Buffer[] = []
  /** `#inner[n]` collects the children of the next node of level n + 1. */
  readonly #inner: { keys: ByteKey[]; children: NodeId[] }[] = []

  constructor(store: NodeStore) {
    this.#store = store
  }

  /** Whether nothing is pending in the builders of `level` and below. */
  isBetweenNodes(level: number): boolean {
    if (this.#leafKeys.length > 0) return false
    for (let below = 0; below < level; below += 1) {
      if ((this.#inner[below]?.keys.length ?? 0) > 0) return false
    }
    return true
  }

  pushEntry({ key, value }: Edit): void {
    if (value === undefined) return
    this.#leafKeys.push(key)
    this.#leafValues.push(value)
    if (heightOfKey(key) > 0) this.#closeLeaf()
  }

  /** A complete node of `level`, whose last key is `key`. */
  pushNode(level: number, key: ByteKey, id: NodeId): void {
    const pending = (this.#inner[level] ??= { keys: [], children: [] })
    pending.keys.push(key)
    pending.children.push(id)
    if (heightOfKey(key) > level + 1) this.#closeInner(level)
  }

  finish(): NodeId {
    if (this.#isEmptyAbove(-1)) {
      return this.#store.save({ level: 0, keys: this.#leafKeys, values: this.#leafValues })
    }
    if (this.#leafKeys.length > 0) this.#closeLeaf()
    for (let level = 0; ; level += 1) {
      const pending = this.#inner[level]
      if (pending === undefined || pending.keys.length === 0) continue
      if (!this.#isEmptyAbove(level)) {
        this.#closeInner(level)
      } else if (pending.keys.length > 1) {
        return this.#store.save({ level: level + 1, ...pending })
      } else {
        return this.#withoutSingleChildren(pending.children[0] as NodeId)
      }
    }
  }

  #closeLeaf(): void {
    const key = this.#leafKeys.at(-1) as ByteKey
    const id = this.#store.save({ level: 0, keys: this.#leafKeys, values: this.#leafValues })
    this.#leafKeys = []
    this.#leafValues = []
    this.pushNode(0, key, id)
  }

  #closeInner(level: number): void {
    const pending = this.#inner[level] as { keys: ByteKey[]; children: NodeId[] }
    const key = pending.keys.at(-1) as ByteKey
    const id = this.#store.save({ level: level + 1, ...pending })
    this.#inner[level] = { keys: [], children: [] }
    this.pushNode(level + 1, key, id)
  }

  #isEmptyAbove(level: number): boolean {
    return this.#inner.every((pending, at) => at <= level || pending.keys.length === 0)
  }

  /** A high key in a small tree makes a chain of nodes with one child each; the root is below that chain. */
  #withoutSingleChildren(root: NodeId): NodeId {
    for (let id = root; ;) {
      const node = this.#store.load(id)
      if (isLeaf(node) || node.children.length !== 1) return id
      id = node.children[0] as NodeId
    }
  }
}
