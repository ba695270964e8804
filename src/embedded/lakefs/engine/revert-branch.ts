/** Reverting a commit, or repeating its change on a branch: three-way merges with an unusual base. */

import { makeCommit, requireCommit } from './commits.ts'
import { unixSeconds, type EngineContext } from './engine-context.ts'
import { EngineError, type Commit, type EngineReason } from './engine.ts'
import { mergeOrRefuse, noChanges } from './merge-branch.ts'
import { resolveCommitId } from './refs.ts'
import type { StoredRepository } from './repositories.ts'
import { refuseDirty, updateBranch, type BranchState, type BranchUpdate } from './update-branch.ts'

interface RevertInput {
  readonly repository: string
  readonly branch: string
  readonly ref: string
  /** 0 for an ordinary commit; for a merge, the parent (counted from 1) whose state is restored. */
  readonly parentNumber: number
  readonly committer: string
  readonly allowEmpty: boolean
  readonly overrides?: CommitOverrides | undefined
}

/** What the new commit says instead of what it would. An empty message overrides nothing. */
interface CommitOverrides {
  readonly message?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

interface CherryPickInput {
  readonly repository: string
  readonly branch: string
  readonly ref: string
  /** Needed for a merge only. */
  readonly parentNumber?: number | undefined
  readonly committer: string
  readonly overrides?: CommitOverrides | undefined
}

export async function revert(context: EngineContext, input: RevertInput): Promise<Commit> {
  if (input.parentNumber < 0) throw badParent(input)
  const pickFrom = (repository: StoredRepository): Picked =>
    pick(context, repository, {
      ref: input.ref,
      parentNumber: input.parentNumber === 0 ? undefined : input.parentNumber,
      missingParent: 'parent-number-required',
    })
  return updateBranch(context, {
    ...input,
    check: pickFrom,
    plan: (state, seal) => {
      const picked = pickFrom(state.repository)
      refuseDirty(context, state)
      seal()
      return planRevert(context, state, { ...input, picked })
    },
  })
}

export async function cherryPick(context: EngineContext, input: CherryPickInput): Promise<Commit> {
  if (input.parentNumber !== undefined && input.parentNumber < 1) throw badParent(input)
  const pickFrom = (repository: StoredRepository): Picked => {
    const picked = pick(context, repository, { ...input, missingParent: 'bad-argument' })
    if (picked.commit.parents.length > 0) return picked
    throw new EngineError('bad-argument', `cherry-pick ${input.ref}: it has no parent`)
  }
  return updateBranch(context, {
    ...input,
    check: pickFrom,
    plan: (state, seal) => {
      const picked = pickFrom(state.repository)
      refuseDirty(context, state)
      seal()
      return planCherryPick(context, state, { ...input, picked })
    },
  })
}

function planRevert(
  context: EngineContext,
  state: BranchState,
  { picked, ...input }: RevertInput & { readonly picked: Picked },
): BranchUpdate {
  const ranges = { base: picked.commit, source: picked.parent, destination: state.head }
  const { allowEmpty } = input
  const metaRangeId = mergeOrRefuse(context, ranges, { what: `revert ${input.ref}`, allowEmpty })
  if (!allowEmpty && metaRangeId === state.head.metaRangeId) throw noChanges(`revert ${input.ref}`)
  return cleanUpdate(context, state, {
    metaRangeId,
    committer: input.committer,
    message: input.overrides?.message || `Revert ${input.ref}`,
    metadata: input.overrides?.metadata ?? {},
  })
}

function planCherryPick(
  context: EngineContext,
  state: BranchState,
  { picked: { commit, parent }, ...input }: CherryPickInput & { readonly picked: Picked },
): BranchUpdate {
  const ranges = { base: parent, source: commit, destination: state.head }
  return cleanUpdate(context, state, {
    metaRangeId: mergeOrRefuse(context, ranges, { what: `cherry-pick ${input.ref}`, allowEmpty: false }),
    committer: input.committer,
    message: input.overrides?.message || commit.message,
    metadata: {
      ...(input.overrides?.metadata ?? commit.metadata),
      'cherry-pick-origin': commit.id,
      'cherry-pick-committer': commit.committer,
    },
  })
}

/** The named commit and the tree of the parent it is compared with. */
interface Picked {
  readonly commit: Commit
  readonly parent: Pick<Commit, 'metaRangeId'>
}

function pick(
  { db }: EngineContext,
  repository: StoredRepository,
  request: {
    readonly ref: string
    readonly parentNumber?: number | undefined
    /** What lakeFS calls it when a merge is named without one of its parents; the two operations differ. */
    readonly missingParent: EngineReason
  },
): Picked {
  const { rid } = repository
  const commit = requireCommit(db, rid, resolveCommitId(db, rid, request.ref))
  const { parentNumber } = request
  if (parentNumber === undefined && commit.parents.length > 1) {
    throw new EngineError(
      request.missingParent,
      `commit ${request.ref} has ${commit.parents.length} parents: give the number of one of them`,
    )
  }
  if (parentNumber !== undefined && parentNumber > commit.parents.length)
    throw badParent({ ref: request.ref, parentNumber })
  const parentId = commit.parents[(parentNumber ?? 1) - 1]
  return {
    commit,
    parent: parentId === undefined ? { metaRangeId: '' } : requireCommit(db, rid, parentId),
  }
}

function badParent(input: { readonly ref: string; readonly parentNumber?: number | undefined }): EngineError {
  return new EngineError('bad-argument', `commit ${input.ref} has no parent ${String(input.parentNumber)}`)
}

function cleanUpdate(
  { clock }: EngineContext,
  { head }: BranchState,
  content: Pick<Commit, 'committer' | 'message' | 'metadata' | 'metaRangeId'>,
): BranchUpdate {
  const commit = makeCommit({
    ...content,
    parents: [head.id],
    createdAt: unixSeconds(clock),
    generation: head.generation + 1,
  })
  return { commit, needsCleanBranch: true }
}
