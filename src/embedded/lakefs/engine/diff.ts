/** The three kinds of diff that clients ask for. */

import { requireBranch, type StoredBranch } from './branch-rows.ts'
import { findMergeBaseOf } from './commit-graph.ts'
import { requireCommit, treeOf } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import type { DelimitedPageRequest, Difference, DiffType, Page } from './engine.ts'
import { decodeEntry, isSameEntry } from './entry-codec.ts'
import { readPage, type PageShape } from './listing.ts'
import { streamMergeChanges, type MergeTrees } from './merge-trees.ts'
import { resolveCommitId, resolveRef } from './refs.ts'
import { requireStored } from './repositories.ts'
import { isRealChange } from './staging.ts'
import { fromByteKey } from './tree/byte-key.ts'
import { diffTrees, type TreeDifference } from './tree/diff-trees.ts'
import { lookUp } from './tree/node-store.ts'
import { pairUp } from './tree/overlay-streams.ts'
import { EMPTY_STREAM, mapStream, type SortedStream } from './tree/sorted-stream.ts'
import type { NodeId } from './tree/tree-node.ts'

interface ShownDifference extends TreeDifference {
  readonly isConflict?: boolean
  /** An uncommitted removal has no size and no stats: the staging area stores none. */
  readonly isUncommitted?: boolean
}

export function diffRefs(
  context: EngineContext,
  request: DelimitedPageRequest & {
    readonly repository: string
    readonly left: string
    readonly right: string
    readonly type: 'two_dot' | 'three_dot'
  },
): Page<Difference> {
  const { db } = context
  const { rid } = requireStored(db, request.repository)
  if (request.type === 'three_dot') {
    const source = requireCommit(db, rid, resolveCommitId(db, rid, request.right))
    const destination = requireCommit(db, rid, resolveCommitId(db, rid, request.left))
    const base = findMergeBaseOf(db, rid, { source: source.id, destination: destination.id })
    const trees = { base: treeOf(base), source: treeOf(source), destination: treeOf(destination) }
    return readPage(mapMergeChanges(context, trees), request, DIFFERENCE_SHAPE)
  }
  const left = treeOf(requireCommit(db, rid, resolveCommitId(db, rid, request.left)))
  const resolved = resolveRef(db, rid, request.right)
  const right = treeOf(requireCommit(db, rid, resolved.commitId))
  const committed = diffTrees(context.nodes, { left, right }, isSameEntry)
  const { uncommitted } = resolved
  // A branch name alone on the right means its head; only `$` adds the uncommitted changes.
  const stream =
    resolved.isStaging && uncommitted !== undefined
      ? diffAgainstStaged(context, { left, committed, branch: uncommitted })
      : committed
  return readPage<ShownDifference, Difference>(stream, request, DIFFERENCE_SHAPE)
}

export function diffUncommitted(
  context: EngineContext,
  request: DelimitedPageRequest & { readonly repository: string; readonly branch: string },
): Page<Difference> {
  const { rid } = requireStored(context.db, request.repository)
  const branch = requireBranch(context.db, rid, request.branch)
  const head = treeOf(requireCommit(context.db, rid, branch.commitId))
  const stream = diffAgainstStaged(context, {
    left: head,
    committed: EMPTY_STREAM,
    branch,
  })
  return readPage(stream, request, DIFFERENCE_SHAPE)
}

/** `committed` is the difference from `left` to the branch's head; staged changes replace it. */
function diffAgainstStaged(
  { nodes, staging }: EngineContext,
  sides: {
    readonly left: NodeId
    readonly committed: SortedStream<TreeDifference>
    readonly branch: StoredBranch
  },
): SortedStream<ShownDifference> {
  const pairs = pairUp(sides.committed, staging.stream(sides.branch.bid))
  return mapStream(pairs, ({ key, first, second }): ShownDifference | undefined => {
    if (second === undefined) return first
    const left = first === undefined ? lookUp(nodes, sides.left, key) : first.left
    const right = second.value
    return isRealChange(second, left) ? { key, left, right, isUncommitted: true } : undefined
  })
}

function mapMergeChanges({ nodes }: EngineContext, trees: MergeTrees): SortedStream<ShownDifference> {
  return mapStream(streamMergeChanges(nodes, trees), ({ key, destination, source, decision }) => ({
    key,
    left: destination,
    right: source,
    isConflict: decision === 'conflict',
  }))
}

const DIFFERENCE_SHAPE: PageShape<ShownDifference, Difference> = {
  skipsAfterAsPrefix: true,
  item: showDifference,
  prefix: (path) => ({ kind: 'prefix', path }),
}

/** What is shown of a removal is the object that was removed, unless it is an uncommitted one. */
function showDifference(difference: ShownDifference): Difference {
  const { key, left, right, isConflict = false, isUncommitted = false } = difference
  const shown = right ?? (isUncommitted ? undefined : left)
  const type = isConflict ? 'conflict' : typeOf(left, right)
  const entry = shown && decodeEntry(key, shown)
  return {
    kind: 'object',
    path: fromByteKey(key),
    type,
    sizeBytes: entry?.sizeBytes ?? 0,
    ...(entry === undefined ? {} : { right: entry }),
  }
}

function typeOf(left: Buffer | undefined, right: Buffer | undefined): DiffType {
  if (left === undefined) return 'added'
  return right === undefined ? 'removed' : 'changed'
}
