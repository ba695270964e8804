/** Reverting a commit, or repeating its change on a branch: three-way merges with an unusual base. */

import { makeCommit, requireCommit, treeOf } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type EngineReason } from './engine.ts'
import { mergeOrRefuse, noChanges } from './merge-branch.ts'
import { isSameTree } from './merge-trees.ts'
import { resolveCommitId } from './refs.ts'
import { EMPTY_TREE, type NodeId } from './tree/tree-node.ts'
import {
  metaRangeOf,
  refuseDirty,
  updateBranch,
  type BranchState,
  type BranchUpdate,
} from './update-branch.ts'

interface RevertInput {
  readonly repository: string
  readonly branch: string
  readonly ref: string
  /** 0 for an ordinary commit; for a merge, the parent (counted from 1) whose state is restored. */
  readonly parentNumber: number
  readonly committer: string
  readonly allowEmpty: boolean
}

interface CherryPickInput {
  readonly repository: string
  readonly branch: string
  readonly ref: string
  /** Needed for a merge only. */
  readonly parentNumber?: number | undefined
  readonly committer: string
}

export function revert(context: EngineContext, input: RevertInput): Promise<Commit> {
  return updateBranch(context, { ...input, plan: (state) => planRevert(context, state, input) })
}

export function cherryPick(context: EngineContext, input: CherryPickInput): Promise<Commit> {
  return updateBranch(context, { ...input, plan: (state) => planCherryPick(context, state, input) })
}

function planRevert(context: EngineContext, state: BranchState, input: RevertInput): BranchUpdate {
  const picked = pick(context, state, {
    ref: input.ref,
    parentNumber: input.parentNumber === 0 ? undefined : input.parentNumber,
    missingParent: 'parent-number-required',
  })
  refuseDirty(context, state)
  const head = treeOf(state.head)
  const trees = { base: treeOf(picked.commit), source: picked.parentTree, destination: head }
  const tree = mergeOrRefuse(context, trees, { what: `revert ${input.ref}`, allowEmpty: input.allowEmpty })
  if (!input.allowEmpty && isSameTree(context.nodes, tree, head)) throw noChanges(`revert ${input.ref}`)
  return cleanUpdate(context, state, {
    tree,
    committer: input.committer,
    message: `Revert ${input.ref}`,
    metadata: {},
  })
}

function planCherryPick(context: EngineContext, state: BranchState, input: CherryPickInput): BranchUpdate {
  const { commit, parentTree } = pick(context, state, { ...input, missingParent: 'bad-argument' })
  if (commit.parents.length === 0)
    throw new EngineError('bad-argument', `cherry-pick ${input.ref}: it has no parent`)
  refuseDirty(context, state)
  const trees = { base: parentTree, source: treeOf(commit), destination: treeOf(state.head) }
  return cleanUpdate(context, state, {
    tree: mergeOrRefuse(context, trees, { what: `cherry-pick ${input.ref}`, allowEmpty: false }),
    committer: input.committer,
    message: commit.message,
    metadata: {
      ...commit.metadata,
      'cherry-pick-origin': commit.id,
      'cherry-pick-committer': commit.committer,
    },
  })
}

/** The named commit and the tree of the parent it is compared with. */
function pick(
  { db }: EngineContext,
  { repository }: BranchState,
  request: {
    readonly ref: string
    readonly parentNumber?: number | undefined
    /** What lakeFS calls it when a merge is named without one of its parents; the two operations differ. */
    readonly missingParent: EngineReason
  },
): { readonly commit: Commit; readonly parentTree: NodeId } {
  const { rid } = repository
  const commit = requireCommit(db, rid, resolveCommitId(db, rid, request.ref))
  const { parentNumber } = request
  if (parentNumber === undefined && commit.parents.length > 1) {
    throw new EngineError(
      request.missingParent,
      `commit ${request.ref} has ${commit.parents.length} parents: give the number of one of them`,
    )
  }
  if (parentNumber !== undefined && (parentNumber < 1 || parentNumber > commit.parents.length)) {
    throw new EngineError('bad-argument', `commit ${request.ref} has no parent ${parentNumber}`)
  }
  const parentId = commit.parents[(parentNumber ?? 1) - 1]
  return {
    commit,
    parentTree: parentId === undefined ? EMPTY_TREE : treeOf(requireCommit(db, rid, parentId)),
  }
}

function cleanUpdate(
  { clock }: EngineContext,
  { head }: BranchState,
  content: Pick<Commit, 'committer' | 'message' | 'metadata'> & { readonly tree: NodeId },
): BranchUpdate {
  const { tree, ...rest } = content
  const commit = makeCommit({
    ...rest,
    parents: [head.id],
    createdAt: unixSeconds(clock),
    metaRangeId: metaRangeOf(tree, [head]),
    generation: head.generation + 1,
  })
  return { commit, needsCleanBranch: true }
}
