import { findMergeBaseOf } from './commit-graph.ts'
import { makeCommit, requireCommit, treeOf } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type MergeInput } from './engine.ts'
import { mergeTrees, type MergeStrategy } from './merge-trees.ts'
import { resolveCommitId } from './refs.ts'
import { fromByteKey } from './tree/byte-key.ts'
import { refuseDirty, updateBranch, type BranchState, type BranchUpdate } from './update-branch.ts'

const STRATEGY_KEY = '.lakefs.merge.strategy'

/** Always makes a commit, never a fast-forward: its first parent is the head that it replaces. */
export function merge(context: EngineContext, input: MergeInput): Promise<Commit> {
  return updateBranch(context, {
    repository: input.repository,
    branch: input.destination,
    force: input.force,
    plan: (state, seal) => {
      refuseDirty(context, state)
      seal()
      return planMerge(context, state, input)
    },
  })
}

function planMerge(context: EngineContext, state: BranchState, input: MergeInput): BranchUpdate {
  const { db } = context
  const { rid } = state.repository
  const destination = state.head
  const source = requireCommit(db, rid, resolveCommitId(db, rid, input.source))
  const base = findMergeBaseOf(db, rid, { source: source.id, destination: destination.id })
  const ranges = { base, source, destination }
  const metaRangeId = mergeOrRefuse(context, ranges, {
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
    metaRangeId,
    metadata: { ...input.metadata, [STRATEGY_KEY]: input.strategy ?? 'default' },
    generation: Math.max(destination.generation, source.generation) + 1,
  })
  return {
    commit: record,
    needsCleanBranch: true,
    hooks: { kind: 'merge', sourceRef: input.source, tree: treeOf(source) },
  }
}

/** What a merge compares: a commit, or what stands for one. */
type MetaRange = Pick<Commit, 'metaRangeId'>

/**
 * The merged tree. Refuses conflicts, and merges that bring nothing unless `allowEmpty`. As to lakeFS, only the very same tree
 * brings nothing: a new repository's, which has no name, is another one than an empty one that was committed, and an object
 * that was written again is another one than before.
 */
export function mergeOrRefuse(
  { nodes }: EngineContext,
  {
    base,
    source,
    destination,
  }: { readonly base: MetaRange; readonly source: MetaRange; readonly destination: MetaRange },
  request: {
    /** For the message of a refusal. */
    readonly what: string
    readonly allowEmpty: boolean
    readonly strategy?: MergeStrategy | undefined
  },
): string {
  if (!request.allowEmpty && source.metaRangeId === base.metaRangeId) throw noChanges(request.what)
  // Used as it is, so that the merge commit names the same tree as its source.
  if (destination.metaRangeId === base.metaRangeId) return source.metaRangeId
  const trees = { base: treeOf(base), source: treeOf(source), destination: treeOf(destination) }
  const result = mergeTrees(nodes, trees, request.strategy)
  if (result.outcome === 'merged') return result.tree
  throw new EngineError(
    'merge-conflict',
    `${request.what}: ${JSON.stringify(fromByteKey(result.path))} was changed on both sides`,
  )
}

export function noChanges(what: string): EngineError {
  return new EngineError('no-changes', `${what}: no changes`)
}
