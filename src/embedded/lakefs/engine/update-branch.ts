/**
 * Puts a new commit on a branch.
 *
 * Without action files everything is one atomic step inside the write queue: read the branch, decide, write nodes,
 * commit and branch. With action files there are two steps, because hooks run in between:
 *
 *   read, decide, store the commit object → run the hooks → write the branch, if it is still what was read
 *
 * If it is not, all of it starts again on the new head, a bounded number of times. So what a hook was told about the
 * commit's parents is true at the moment the branch moves.
 */

import { EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS } from '../../limits.ts'
import { hasActionFiles, runHooks } from './action-files.ts'
import { requireBranch, setHead, type StoredBranch } from './branch-rows.ts'
import { insertCommit, requireCommit, treeOf } from './commits.ts'
import type { EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type HookEvent } from './engine.ts'
import { requireStored, requireWritable, type StoredRepository } from './repositories.ts'
import { hasUncommittedChanges } from './staging.ts'
import type { NodeId } from './tree/tree-node.ts'

/** What an update is planned on. Valid only inside the write that read it. */
export interface BranchState {
  readonly repository: StoredRepository
  readonly branch: StoredBranch
  readonly head: Commit
}

export interface BranchUpdate {
  readonly commit: Commit
  /** The update is only valid while the branch has no uncommitted changes. */
  readonly needsCleanBranch: boolean
  /** Left out for updates that have no hooks. */
  readonly hooks?: {
    readonly kind: 'merge' | 'commit'
    readonly sourceRef: string
    /** The tree whose action files apply before the update. */
    readonly tree: NodeId
  }
}

type HookedUpdate = BranchUpdate & Required<Pick<BranchUpdate, 'hooks'>>

interface UpdateRequest {
  readonly repository: string
  readonly branch: string
  /** Also in a read-only repository. */
  readonly force?: boolean | undefined
  /** What is refused before the branch is looked for. */
  check?(repository: StoredRepository): void
  /**
   * Reads and writes through the context; throws to refuse. May be called several times. Calls `seal` where lakeFS seals what
   * is staged: a refusal after that leaves it sealed.
   */
  plan(state: BranchState, seal: () => void): BranchUpdate
}

type Step =
  | { readonly done: true; readonly update: BranchUpdate }
  | { readonly done: true; readonly refusal: EngineError }
  | {
      readonly done: false
      readonly update: HookedUpdate
      /** The branch as it was when the update was planned. */
      readonly seen: StoredBranch
      /** Staged changes up to this write are part of the new head. */
      readonly clearThrough: number
    }

export async function updateBranch(context: EngineContext, request: UpdateRequest): Promise<Commit> {
  const first = await context.writes.run(() => planAndMaybeApply(context, request))
  const update = first.done
    ? updateOf(first)
    : await context.turns.take(`${request.repository}/${request.branch}`, () =>
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
    const { update, seen, clearThrough } = step
    await runHooks(context, hookEvent('pre', request, update), update.hooks.tree)
    step = await context.writes.run(() => {
      const state = readState(context, request)
      const isUnmoved = state.branch.bid === seen.bid && state.branch.epoch === seen.epoch
      if (!isUnmoved) return planAndMaybeApply(context, request)
      if (update.needsCleanBranch) refuseDirty(context, state)
      apply(
        context,
        state.branch,
        update,
        update.needsCleanBranch ? context.staging.lastNumber : clearThrough,
      )
      return { done: true, update }
    })
  }
  if (step.done) return updateOf(step)
  throw new EngineError(
    'too-many-attempts',
    `update branch ${request.branch}: other updates moved it ${EMBEDDED_BRANCH_UPDATE_MAX_ATTEMPTS} times in a row`,
  )
}

/** A refusal is a value inside a write, so that what it sealed is not undone with it. */
function updateOf(step: Step & { readonly done: true }): BranchUpdate {
  if ('refusal' in step) throw step.refusal
  return step.update
}

function planAndMaybeApply(context: EngineContext, request: UpdateRequest): Step {
  const state = readState(context, request)
  const sealing = { isAsked: false }
  let update: BranchUpdate
  try {
    update = request.plan(state, () => (sealing.isAsked = true))
  } catch (error) {
    if (!sealing.isAsked || !(error instanceof EngineError)) throw error
    context.staging.seal(state.branch.bid)
    return { done: true, refusal: error }
  }
  const clearThrough = context.staging.lastNumber
  insertCommit(context.db, state.repository.rid, update.commit)
  if (context.hooks !== undefined && isHooked(update) && hasActionFiles(context.nodes, update.hooks.tree)) {
    context.staging.seal(state.branch.bid)
    return { done: false, update, seen: state.branch, clearThrough }
  }
  apply(context, state.branch, update, clearThrough)
  return { done: true, update }
}

function isHooked(update: BranchUpdate): update is HookedUpdate {
  return update.hooks !== undefined
}

function readState({ db }: EngineContext, request: UpdateRequest): BranchState {
  const requireUsable = request.force === true ? requireStored : requireWritable
  const repository = requireUsable(db, request.repository)
  request.check?.(repository)
  const branch = requireBranch(db, repository.rid, request.branch)
  return { repository, branch, head: requireCommit(db, repository.rid, branch.commitId) }
}

function apply(
  { db, staging }: EngineContext,
  branch: StoredBranch,
  update: BranchUpdate,
  clearThrough: number,
): void {
  staging.clear(branch.bid, clearThrough)
  staging.dropSealed(branch.bid)
  setHead(db, branch, update.commit.id)
}

export function refuseDirty(
  { staging, nodes }: EngineContext,
  { branch, head }: Omit<BranchState, 'repository'>,
  table: 'staged' | 'sealed' = 'staged',
): void {
  if (!hasUncommittedChanges(staging.stream(branch.bid, table), { store: nodes, root: treeOf(head) })) return
  throw new EngineError('dirty-branch', `branch ${branch.name}: uncommitted changes (dirty branch)`)
}

function hookEvent(
  when: 'pre' | 'post',
  { repository, branch }: UpdateRequest,
  { commit, hooks }: HookedUpdate,
): Omit<HookEvent, 'listActionFiles'> {
  return { type: `${when}-${hooks.kind}`, repository, branch, sourceRef: hooks.sourceRef, commit }
}

/** The update has happened: the answer is success, even when a post-hook throws. */
async function runPostHook(
  context: EngineContext,
  request: UpdateRequest,
  update: BranchUpdate,
): Promise<void> {
  const tree = treeOf(update.commit)
  if (context.hooks === undefined || !isHooked(update) || !hasActionFiles(context.nodes, tree)) return
  const event = hookEvent('post', request, update)
  try {
    await runHooks(context, event, tree)
  } catch (error) {
    context.onPostHookError(error, event)
  }
}
