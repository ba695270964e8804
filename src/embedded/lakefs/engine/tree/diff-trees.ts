/**
 * What differs between two trees, in key order. Subtrees with equal ids are skipped unread, so the cost depends on
 * the difference and the height, not on the size.
 */

import type { ByteKey } from './byte-key.ts'
import type { NodeStore } from './node-store.ts'
import { EMPTY_STREAM, type SortedStream } from './sorted-stream.ts'
import { TreeCursor } from './tree-cursor.ts'
import type { NodeId } from './tree-node.ts'

/** One side or both; when both are there, they are not the same. */
export interface TreeDifference {
  readonly key: ByteKey
  readonly left: Buffer | undefined
  readonly right: Buffer | undefined
}

/** Whether two values with different bytes count as the same. */
type SameValue = (left: Buffer, right: Buffer) => boolean

export function diffTrees(
  store: NodeStore,
  pair: { readonly left: NodeId; readonly right: NodeId },
  same: SameValue,
): SortedStream<TreeDifference> {
  if (pair.left === pair.right) return EMPTY_STREAM
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

/** Both cursors are always before the same key: all keys before it were compared on both sides. */
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
