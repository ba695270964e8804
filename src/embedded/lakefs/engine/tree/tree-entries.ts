import type { ByteKey } from './byte-key.ts'
import type { NodeStore } from './node-store.ts'
import type { SortedStream } from './sorted-stream.ts'
import { TreeCursor } from './tree-cursor.ts'
import type { NodeId } from './tree-node.ts'

export interface TreeEntry {
  readonly key: ByteKey
  readonly value: Buffer
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
