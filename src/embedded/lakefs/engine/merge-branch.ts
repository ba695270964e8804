import { findMergeBaseOf } from './commit-graph.ts'
import { makeCommit, requireCommit, treeOf } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type MergeInput } from './engine.ts'
import { mergeTrees, type MergeStrategy, type MergeTrees } from './merge-trees.ts'
import { resolveCommitId } from './refs.ts'
import { fromByteKey } from './tree/byte-key.ts'
import type { NodeId } from './tree/tree-node.ts'
import {
  metaRangeOf,
  refuseDirty,
  updateBranch,
  type BranchState,
  type BranchUpdate,
} from './update-branch.ts'

const STRATEGY_KEY = '.lakefs.merge.strategy'

/** Always makes a commit, never a fast-forward: its first parent is the head that it replaces. */
export function merge(context: EngineContext, input: MergeInput): Promise<Commit> {
  return updateBranch(context, {
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
  const trees = { base: treeOf(base), source: treeOf(source), destination: treeOf(destination) }
  const tree = mergeOrRefuse(context, trees, {
    what: `update branch ${input.destination}`,
    allowEmpty: input.allowEmpty,
    strategy: input.strategy,
  })
  const { message = '' } = input
  const record = makeCommit({
    parents: input.squash ? [destination.id] : [destination.id, source.id],
    committer: input.committer,
    message: message === '' ? `Merge '${input.source}' into '${input.destination}'` : message,
    createdAt: unixSeconds(context.clock),
    metaRangeId: metaRangeOf(tree, [source, destination]),
    metadata: { ...input.metadata, [STRATEGY_KEY]: input.strategy ?? 'default' },
    generation: Math.max(destination.generation, source.generation) + 1,
  })
  return {
    commit: record,
    needsCleanBranch: true,
    hooks: { kind: 'merge', sourceRef: input.source, tree: treeOf(source) },
  }
}

/** The merged tree. Refuses conflicts, and merges that bring nothing unless `allowEmpty`. */
export function mergeOrRefuse(
  { nodes }: EngineContext,
  trees: MergeTrees,
  request: {
    /** For the message of a refusal. */
    readonly what: string
    readonly allowEmpty: boolean
    readonly strategy?: MergeStrategy | undefined
  },
): NodeId {
  const result = mergeTrees(nodes, trees, request.strategy)
  switch (result.outcome) {
    case 'merged':
      return result.tree
    case 'nothing-to-merge':
      if (request.allowEmpty) return trees.destination
      throw noChanges(request.what)
    case 'conflict':
      throw new EngineError(
        'merge-conflict',
        `${request.what}: ${JSON.stringify(fromByteKey(result.path))} was changed on both sides`,
      )
  }
}

export function noChanges(what: string): EngineError {
  return new EngineError('no-changes', `${what}: no changes`)
}
