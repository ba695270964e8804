/**
 * Putting a new commit on a branch.
 *
 * Without action files everything is one atomic step inside the write queue: read the branch, decide, write nodes,
 * commit and branch. With action files the step is cut in two, because they run meanwhile:
 *
 *   read, decide, store the commit object → run the hooks → write the branch, if it still is what was read
 *
 * If it is not, all of it starts over on the new head, a bounded number of times. What a hook was told about the
 * commit's parents is therefore true at the very moment the branch moves.
 */

import { EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS } from '../../limits.ts'
import { hasActionFiles, hookEvent } from './action-files.ts'
import { requireBranch, setHead, type StoredBranch } from './branch-rows.ts'
import type { BranchTurns } from './branch-turns.ts'
import { computeCommitId } from './commit-id.ts'
import { insertCommit, requireCommit, treeOf } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type HookEvent } from './engine.ts'
import { readEntry } from './object-bytes.ts'
import { requireWritable, type StoredRepository } from './repositories.ts'
import { hasUncommittedChanges } from './staging.ts'
import type { NodeId } from './tree/tree-node.ts'

/** What a decision is made on. Valid only inside the write that read it. */
export interface BranchState {
  readonly repository: StoredRepository
  readonly branch: StoredBranch
  readonly head: Commit
}

export interface BranchUpdate {
  readonly commit: Commit
  /** Staged changes up to this write are part of the new head, or are the same as what it holds. */
  readonly clearThrough: number
  /** The update is only right while the branch has no uncommitted changes. */
  readonly needsCleanBranch: boolean
  /** Absent where lakeFS runs no hooks that we run. */
  readonly hooks?: {
    readonly kind: 'merge' | 'commit'
    readonly sourceRef: string
    /** The tree whose action files apply before the update. */
    readonly tree: NodeId
  }
}

export interface UpdateRequest {
  readonly repository: string
  readonly branch: string
  /** Reads and writes through the context; throws to refuse. May be called several times. */
  plan(state: BranchState): BranchUpdate
}

type Step =
  | { readonly done: true; readonly update: BranchUpdate }
  | { readonly done: false; readonly update: BranchUpdate; readonly seen: StoredBranch }

export async function updateBranch(
  context: EngineContext,
  turns: BranchTurns,
  request: UpdateRequest,
): Promise<Commit> {
  const first = await context.writes.run(() => planAndMaybeApply(context, request))
  const update = first.done
    ? first.update
    : await turns.take(`${request.repository}/${request.branch}`, () =>
        updateWithHooks(context, request, first),
      )
  await runPostHook(context, request, update)
  return update.commit
}

async function updateWithHooks(
  context: EngineContext,
  request: UpdateRequest,
  first: Step,
): Promise<BranchUpdate> {
  let step = first
  for (let attempt = 0; attempt < EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS && !step.done; attempt += 1) {
    const { update, seen } = step
    await runPreHook(context, request, update)
    step = await context.writes.run(() => {
      const state = readState(context, request)
      const isUnmoved = state.branch.bid === seen.bid && state.branch.epoch === seen.epoch
      if (!isUnmoved) return planAndMaybeApply(context, request)
      if (update.needsCleanBranch) refuseDirty(context, state)
      apply(context, state.branch, update)
      return { done: true, update }
    })
  }
  if (step.done) return step.update
  throw new EngineError(
    'too-many-attempts',
    `update branch ${request.branch}: it was moved by others ${EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS} times in a row`,
  )
}

function planAndMaybeApply(context: EngineContext, request: UpdateRequest): Step {
  const state = readState(context, request)
  const update = request.plan(state)
  insertCommit(context.db, state.repository.rid, update.commit)
  if (
    context.hooks !== undefined &&
    update.hooks !== undefined &&
    hasActionFiles(context.nodes, update.hooks.tree)
  ) {
    return { done: false, update, seen: state.branch }
  }
  apply(context, state.branch, update)
  return { done: true, update }
}

function readState({ db }: EngineContext, request: UpdateRequest): BranchState {
  const repository = requireWritable(db, request.repository)
  const branch = requireBranch(db, repository.rid, request.branch)
  return { repository, branch, head: requireCommit(db, repository.rid, branch.commitId) }
}

function apply({ db, staging }: EngineContext, branch: StoredBranch, update: BranchUpdate): void {
  staging.clear(branch.bid, update.needsCleanBranch ? staging.lastNumber : update.clearThrough)
  setHead(db, branch, update.commit.id)
}

export function refuseDirty({ staging, nodes }: EngineContext, { branch, head }: BranchState): void {
  if (!hasUncommittedChanges(staging.stream(branch.bid), { store: nodes, root: treeOf(head) })) return
  throw new EngineError('dirty-branch', `branch ${branch.name}: uncommitted changes (dirty branch)`)
}

export function makeCommit(content: Omit<Commit, 'id' | 'version'>): Commit {
  return { id: computeCommitId(content), version: 1, ...content }
}

/** The name a tree goes by: a repository's first, empty tree has none, and keeps having none. */
export function metaRangeOf(tree: NodeId, known: readonly Commit[]): string {
  return known.find((commit) => treeOf(commit) === tree)?.metaRangeId ?? tree
}

async function runPreHook(
  context: EngineContext,
  request: UpdateRequest,
  update: BranchUpdate,
): Promise<void> {
  const { hooks } = update
  if (hooks === undefined || context.hooks === undefined) return
  const event = hookEvent(context, {
    type: `pre-${hooks.kind}`,
    repository: request.repository,
    branch: request.branch,
    sourceRef: hooks.sourceRef,
    commit: update.commit,
    tree: hooks.tree,
  })
  await context.hooks(event, (entry) => readEntry(context, request.repository, entry))
}

/** The update has happened: whatever a post-hook throws, the answer is success. */
async function runPostHook(
  context: EngineContext,
  request: UpdateRequest,
  update: BranchUpdate,
): Promise<void> {
  const tree = treeOf(update.commit)
  if (context.hooks === undefined || update.hooks === undefined || !hasActionFiles(context.nodes, tree))
    return
  const event: HookEvent = hookEvent(context, {
    type: `post-${update.hooks.kind}`,
    repository: request.repository,
    branch: request.branch,
    sourceRef: update.hooks.sourceRef,
    commit: update.commit,
    tree,
  })
  try {
    await context.hooks(event, (entry) => readEntry(context, request.repository, entry))
  } catch (error) {
    context.onPostHookError(error, event)
  }
}
