/** Three-way merge of whole trees. The cost depends on what the source changed, not on the size of the trees. */

import { isSameEntry } from './entry-codec.ts'
import { decideMerge } from './merge.ts'
import type { ByteKey } from './tree/byte-key.ts'
import { diffTrees } from './tree/diff-trees.ts'
import { editTree, type Edit } from './tree/edit-tree.ts'
import { lookUp, type NodeStore } from './tree/node-store.ts'
import { mapStream, type SortedStream } from './tree/sorted-stream.ts'
import type { NodeId } from './tree/tree-node.ts'

export interface MergeTrees {
  readonly base: NodeId
  readonly source: NodeId
  readonly destination: NodeId
}

export type MergeStrategy = 'source-wins' | 'dest-wins'

/** What the source changes in the destination; a change that the destination has already is left out. */
interface MergeChange {
  readonly key: ByteKey
  readonly decision: 'take' | 'conflict'
  readonly base: Buffer | undefined
  readonly source: Buffer | undefined
  readonly destination: Buffer | undefined
}

type MergeResult =
  | { readonly outcome: 'merged'; readonly tree: NodeId }
  | { readonly outcome: 'conflict'; readonly path: ByteKey }

export function mergeTrees(store: NodeStore, trees: MergeTrees, strategy?: MergeStrategy): MergeResult {
  // Used as it is, so that the merge commit names the same tree as its source.
  if (trees.destination === trees.base) return { outcome: 'merged', tree: trees.source }
  const changes = streamMergeChanges(store, trees)
  if (strategy === undefined) {
    const conflict = findConflict(streamMergeChanges(store, trees))
    if (conflict !== undefined) return { outcome: 'conflict', path: conflict.key }
  }
  return { outcome: 'merged', tree: editTree(store, trees.destination, editsOf(changes, strategy)) }
}

export function streamMergeChanges(store: NodeStore, trees: MergeTrees): SortedStream<MergeChange> {
  const fromBase = diffTrees(store, { left: trees.base, right: trees.source }, isSameEntry)
  return mapStream(fromBase, ({ key, left: base, right: source }) => {
    const values = { base, source, destination: lookUp(store, trees.destination, key) }
    const decision = decideMerge(values, isSameEntry)
    return decision === 'keep' ? undefined : { key, decision, ...values }
  })
}

function findConflict(changes: SortedStream<MergeChange>): MergeChange | undefined {
  for (let change = changes.next(); change !== undefined; change = changes.next()) {
    if (change.decision === 'conflict') return change
  }
  return undefined
}

function* editsOf(changes: SortedStream<MergeChange>, strategy: MergeStrategy | undefined): Generator<Edit> {
  for (let change = changes.next(); change !== undefined; change = changes.next()) {
    if (change.decision === 'conflict' && strategy === 'dest-wins') continue
    yield { key: change.key, value: change.source }
  }
}
