import type { BranchTurns } from './branch-turns.ts'
import { findMergeBaseOf } from './commit-graph.ts'
import { requireCommit, treeOf } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type MergeInput } from './engine.ts'
import { mergeTrees } from './merge-trees.ts'
import { resolveCommitId } from './refs.ts'
import { fromByteKey } from './tree/byte-key.ts'
import type { NodeId } from './tree/tree-node.ts'
import {
  makeCommit,
  metaRangeOf,
  refuseDirty,
  updateBranch,
  type BranchState,
  type BranchUpdate,
} from './update-branch.ts'

const STRATEGY_KEY = '.lakefs.merge.strategy'

/** Always a commit of its own, never a fast-forward: its first parent is the head it was really put on. */
export function merge(context: EngineContext, turns: BranchTurns, input: MergeInput): Promise<Commit> {
  return updateBranch(context, turns, {
    repository: input.repository,
    branch: input.destination,
    plan: (state) => planMerge(context, state, input),
  })
}

function planMerge(context: EngineContext, state: BranchState, input: MergeInput): BranchUpdate {
  refuseDirty(context, state)
  const { db } = context
  const { rid } = state.repository
  const destination = state.head
  const source = requireCommit(db, rid, resolveCommitId(db, rid, input.source))
  const base = findMergeBaseOf(db, rid, { source: source.id, destination: destination.id })
  const tree = mergedTree(context, { base, source, destination }, input)
  const record = makeCommit({
    parents: input.squash ? [destination.id] : [destination.id, source.id],
    committer: input.committer,
    message:
      input.message === undefined || input.message === ''
        ? `Merge '${input.source}' into '${input.destination}'`
        : input.message,
    createdAt: unixSeconds(context.clock),
    metaRangeId: metaRangeOf(tree, [source, destination]),
    metadata: { ...input.metadata, [STRATEGY_KEY]: input.strategy ?? 'default' },
    generation: Math.max(destination.generation, source.generation) + 1,
  })
  return {
    commit: record,
    clearThrough: context.staging.lastNumber,
    needsCleanBranch: true,
    hooks: { kind: 'merge', sourceRef: input.source, tree: treeOf(source) },
  }
}

function mergedTree(
  { nodes }: EngineContext,
  commits: { readonly base: Commit; readonly source: Commit; readonly destination: Commit },
  input: MergeInput,
): NodeId {
  const { base, source, destination } = commits
  const trees = { base: treeOf(base), source: treeOf(source), destination: treeOf(destination) }
  const result = mergeTrees(nodes, trees, input.strategy)
  switch (result.outcome) {
    case 'merged':
      return result.tree
    case 'nothing-to-merge':
      if (input.allowEmpty || input.force) return trees.destination
      throw new EngineError('no-changes', `update branch ${input.destination}: no changes`)
    case 'conflict':
      throw new EngineError(
        'merge-conflict',
        `merge ${input.source} into ${input.destination}: both changed ${JSON.stringify(fromByteKey(result.path))}`,
      )
  }
}
