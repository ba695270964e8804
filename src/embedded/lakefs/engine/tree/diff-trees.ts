/**
 * What differs between two trees, in key order. Subtrees with equal ids are stepped over unread, so the cost follows
 * the difference and the height, not the size.
 */

import type { ByteKey } from './byte-key.ts'
import type { NodeStore } from './node-store.ts'
import type { SortedStream } from './sorted-stream.ts'
import { TreeCursor } from './tree-cursor.ts'
import type { NodeId } from './tree-node.ts'

/** At least one side is there; when both are, they are not the same. */
export interface TreeDifference {
  readonly key: ByteKey
  readonly left: Buffer | undefined
  readonly right: Buffer | undefined
}

/** Whether two values with different bytes count as the same all the same. */
export type SameValue = (left: Buffer, right: Buffer) => boolean

export interface TreePair {
  readonly left: NodeId
  readonly right: NodeId
}

export function diffTrees(store: NodeStore, pair: TreePair, same: SameValue): SortedStream<TreeDifference> {
  if (pair.left === pair.right) return { next: () => undefined, seek: () => undefined }
  const left = new TreeCursor(store, pair.left)
  const right = new TreeCursor(store, pair.right)
  return {
    next: () => nextDifference(left, right, same),
    seek(key) {
      left.seek(key)
      right.seek(key)
    },
  }
}

/** Both cursors always stand before the same key: whatever lies behind them was compared on both sides. */
function nextDifference(left: TreeCursor, right: TreeCursor, same: SameValue): TreeDifference | undefined {
  for (;;) {
    const a = left.item
    const b = right.item
    if (a === undefined || b === undefined) {
      return onlyOn('right', right) ?? onlyOn('left', left)
    }
    if (a.kind === 'node' || b.kind === 'node') {
      if (a.kind === 'node' && b.kind === 'node' && a.id === b.id) {
        left.skip()
        right.skip()
        continue
      }
      const aLevel = a.kind === 'node' ? a.level : -1
      const bLevel = b.kind === 'node' ? b.level : -1
      if (aLevel >= bLevel) left.enter()
      if (bLevel >= aLevel) right.enter()
      continue
    }
    if (a.key < b.key) return onlyOn('left', left)
    if (b.key < a.key) return onlyOn('right', right)
    left.skip()
    right.skip()
    if (!a.value.equals(b.value) && !same(a.value, b.value)) {
      return { key: a.key, left: a.value, right: b.value }
    }
  }
}

function onlyOn(side: 'left' | 'right', cursor: TreeCursor): TreeDifference | undefined {
  const entry = cursor.entry()
  if (entry === undefined) return undefined
  cursor.skip()
  return {
    key: entry.key,
    left: side === 'left' ? entry.value : undefined,
    right: side === 'right' ? entry.value : undefined,
  }
}
