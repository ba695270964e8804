import { makeCommit, requireTree, treeOf } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type CommitInput } from './engine.ts'
import { refuseProtected } from './protection.ts'
import { isRealChange } from './staging.ts'
import { editTree, type Edit } from './tree/edit-tree.ts'
import { lookUp } from './tree/node-store.ts'
import type { NodeId } from './tree/tree-node.ts'
import { refuseDirty, updateBranch, type BranchState, type BranchUpdate } from './update-branch.ts'

/** Commits exactly the changes staged when the branch was read; later ones stay staged on the new head. */
export function commit(context: EngineContext, input: CommitInput): Promise<Commit> {
  return updateBranch(context, {
    repository: input.repository,
    branch: input.branch,
    plan: (state, seal) => planCommit(context, state, { ...input, seal }),
  })
}

function planCommit(
  context: EngineContext,
  state: BranchState,
  input: CommitInput & { readonly seal: () => void },
): BranchUpdate {
  const { repository, branch, head } = state
  refuseProtected(repository, branch.name, 'commit to')
  if (input.sourceMetaRange !== undefined) refuseDirty(context, state)
  input.seal()
  const tree =
    input.sourceMetaRange === undefined
      ? commitStaged(context, state, input.allowEmpty)
      : requireTree(context.nodes, input.sourceMetaRange)
  const record = makeCommit({
    parents: [head.id],
    committer: input.committer,
    message: input.message,
    createdAt: input.date ?? unixSeconds(context.clock),
    metaRangeId: tree,
    metadata: input.metadata,
    generation: head.generation + 1,
  })
  return {
    commit: record,
    needsCleanBranch: input.sourceMetaRange !== undefined,
    hooks: {
      kind: 'commit',
      sourceRef: branch.name,
      // What the branch shows: with its uncommitted changes, which are exactly what the new tree holds.
      tree: input.sourceMetaRange === undefined ? tree : treeOf(head),
    },
  }
}

function commitStaged(context: EngineContext, { branch, head }: BranchState, allowEmpty: boolean): NodeId {
  const base = treeOf(head)
  const tree = editTree(context.nodes, base, stagedEdits(context, branch.bid, base))
  if (tree === base && !allowEmpty) throw new EngineError('no-changes', 'commit: no changes')
  return tree
}

/** Changes that change nothing are left out, so an object uploaded again unchanged keeps its old entry. */
function* stagedEdits({ nodes, staging }: EngineContext, branch: number, base: NodeId): Generator<Edit> {
  const staged = staging.stream(branch)
  for (let change = staged.next(); change !== undefined; change = staged.next()) {
    if (isRealChange(change, lookUp(nodes, base, change.key))) yield change
  }
}
