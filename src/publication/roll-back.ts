/**
 * Rolls branches back on behalf of an execution, without an attempt: a whole branch by the relocation, single paths by a
 * publication. Both end in the one guarded branch write of this room.
 *
 * A branch moves back only if every commit that leaves it was published by the execution, and its head is the recorded one
 * or was published by an attempt that is undone. Anything else is refused before anything is written.
 */

import { randomUUID } from 'node:crypto'
import { RefusedError } from '../base/errors.ts'
import type { CommitRef, RepositoryName } from '../base/ids.ts'
import type { ActorAuthority } from './authority.ts'
import { isOfAttempt, isOfExecution } from './commit-metadata.ts'
import type { CallOptions, CommitRecord, VersionedRepo } from './ports.ts'
import { readLeaving, relocate } from './relocate.ts'
import { checkPathsRollback, restorePaths } from './restore-paths.ts'
import type { BranchRollback, BranchRolledBack, DataRollback } from './rollback-port.ts'
import { openSession, readHead, type Session, type SessionOptions } from './session.ts'

export interface RollBackOptions extends Pick<SessionOptions, 'fences' | 'observer' | 'clock' | 'random'> {
  /** Opens the repository that a rollback names. */
  readonly repoOf: (repository: RepositoryName) => VersionedRepo
}

/**
 * ```ts
 * const data = openDataRollback({ repoOf: (repository) => lakefs.repository(repository) })
 * await data.moveBack({ repository, branch, expectedHead, to, own: { workflowIds: [workflowId], taskIds: [] } })
 * ```
 */
export function openDataRollback(options: RollBackOptions): DataRollback {
  const sessionOf = (
    {
      repository,
      workflowIds,
      subject,
    }: Parameters<typeof authorityOf>[0] & { readonly repository: RepositoryName },
    { signal }: CallOptions = {},
  ): SessionOptions => ({
    ...options,
    repo: options.repoOf(repository),
    authority: authorityOf({ workflowIds, subject }),
    signal,
  })
  const ofBranch = ({ repository, own }: BranchRollback, call?: CallOptions): SessionOptions =>
    sessionOf({ repository, workflowIds: own.workflowIds, subject: 'rollback' }, call)
  return {
    async check(request, call) {
      await findLeaving(openSession(ofBranch(request, call)), request)
    },
    moveBack: (request, call) => moveBack(ofBranch(request, call), request),
    checkPaths: async (request, call) => {
      const { repository, workflowId, subject } = request
      await checkPathsRollback(sessionOf({ repository, workflowIds: [workflowId], subject }, call), request)
    },
    restorePaths: (request, call) => {
      const { repository, workflowId, subject } = request
      return restorePaths(sessionOf({ repository, workflowIds: [workflowId], subject }, call), request)
    },
  }
}

function authorityOf(of: {
  readonly workflowIds: readonly string[]
  readonly subject: string
}): ActorAuthority {
  const { workflowIds, subject } = of
  return { kind: 'actor', actor: 'rollback', subject, workflowId: workflowIds[0], executionId: randomUUID() }
}

async function moveBack(options: SessionOptions, request: BranchRollback): Promise<BranchRolledBack> {
  const { branch, expectedHead, to } = request
  const found = await findLeaving(openSession(options), request)
  if (found.is === 'left') return found
  // Also where it was moved already: the tag of what left may be missing all the same.
  const from = found.head === to ? expectedHead : found.head
  if (from === to) return { is: 'there' }
  const judgeLeaving = (leaving: readonly CommitRecord[]): void => {
    judge(request, leaving, from)
  }
  const { supersededRef, evidenceTag } = await relocate({
    ...options,
    branch,
    expectedHead: from,
    to,
    judgeLeaving,
  })
  return { is: 'moved', supersededRef, evidenceTag }
}

type Found = { readonly is: 'due'; readonly head: CommitRef } | Extract<BranchRolledBack, { is: 'left' }>

/** Where the branch stands, if it may move back from there. */
async function findLeaving(session: Session, request: BranchRollback): Promise<Found> {
  const { branch, expectedHead, to } = request
  const head = await readHead(session, branch)
  if (head?.ref === to) return { is: 'due', head: to }
  const leaving = head && (await readLeaving(session, head.ref, to))
  try {
    if (head === undefined || leaving === undefined) throw headElsewhere(request, head?.ref)
    judge(request, leaving, head.ref)
    return { is: 'due', head: head.ref }
  } catch (error) {
    // Nothing of ours has to leave it, so nothing is lost by leaving it alone.
    if (expectedHead === to && error instanceof RefusedError) return { is: 'left', head: head?.ref }
    throw error
  }
}

/** `leaving`: the commits above the target, newest first. */
function judge(request: BranchRollback, leaving: readonly CommitRecord[], head: CommitRef): void {
  const { expectedHead, to, own } = request
  const isRecorded = leaving.findIndex(({ ref }) => ref === expectedHead)
  if (isRecorded === -1 && expectedHead !== to) throw headElsewhere(request, head)
  const unrecorded = isRecorded === -1 ? leaving : leaving.slice(0, isRecorded)
  const foreign =
    unrecorded.find(({ metadata }) => !isOfAttempt(metadata, own.taskIds)) ??
    leaving.find(({ metadata }) => !isOfExecution(metadata, own.workflowIds))
  if (foreign !== undefined) throw foreignCommit(request, foreign)
}

function headElsewhere(
  { branch, expectedHead, to }: BranchRollback,
  head: CommitRef | undefined,
): RefusedError {
  return new RefusedError(
    'publication/head-moved',
    `roll branch "${branch}" back to ${to}: the execution left it at ${expectedHead}, its head is ${head ?? 'missing'}`,
    {
      details: { branch, expectedHead, to, head },
      next: `See in the log of "${branch}" who has written it since; the rollback can be repeated when the branch is back.`,
    },
  )
}

function foreignCommit(
  { branch, to }: BranchRollback,
  { ref, message, committer }: CommitRecord,
): RefusedError {
  return new RefusedError(
    'publication/foreign-commit',
    `roll branch "${branch}" back to ${to}: commit ${ref} was not published by what is rolled back`,
    {
      details: { branch, to, foreign: ref, message, committer },
      next: `Decide with its author what becomes of that commit; until it has left "${branch}", nothing is rolled back.`,
    },
  )
}
