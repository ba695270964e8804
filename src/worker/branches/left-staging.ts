/**
 * One look for staging branches that nobody will remove any more: of workers that were killed, whichever language they
 * are written in. A branch is removed only if all of this is so:
 *
 * - it was there, with the same head, for some time, and still has that head right before it is removed;
 * - it is no evidence;
 * - Conductor says that its task or its workflow has ended. Where Conductor does not know the task (another Conductor may), or
 *   where there was no attempt, it is older than any publication: by its own commit, or because it was seen for that long.
 *
 * Whatever cannot be known keeps the branch.
 */

import type { BranchName } from '../../base/ids.ts'
import { TASK_ID_UUID, hasEnded, isOverFor } from '../attempt/ended-tasks.ts'
import { STAGING_EXAMINED_MAX, STAGING_LISTED_MAX } from '../limits.ts'
import type { BranchHead, CallOptions, CommitRecord, VersionedRepo } from '../../publication/ports.ts'
import { isStagingOf, readTaskIdOf, STAGING_PREFIXES, stagingPrefix } from '../../publication/staging-name.ts'
import type { TaskId, TaskQueue } from '../ports.ts'
import { takeLookTurn } from './look-turn.ts'

/** Wall times, because they outlive the process. */
export interface StagingNotes {
  /** By branch: its head, and since when it was seen. */
  readonly seen: Readonly<Record<string, { readonly head: string; readonly sinceMs: number }>>
  /** The last branch that was examined. */
  readonly after: string
}

export interface LeftStagingLook {
  readonly repo: VersionedRepo
  readonly queue: Pick<TaskQueue, 'readTask' | 'readWorkflowStatus'>
  /** Of the look before. */
  readonly notes: StagingNotes
  readonly nowMs: number
  readonly endedAgeMs: number
  readonly unknownAgeMs: number
  /** `STAGING_EXAMINED_MAX` unless set. */
  readonly examinedMax?: number
  /** Nothing is removed. */
  readonly isDryRun?: boolean
  /** Of all that look at this repository, one examines what is there in each interval of this length. */
  readonly turnMs?: number
}

export interface LeftStaging {
  /** Nobody will remove these any more. */
  readonly due: readonly BranchName[]
  readonly removed: readonly BranchName[]
  /** Those that are there still. */
  readonly kept: number
  readonly notes: StagingNotes
}

/** Throws when lakeFS or Conductor cannot be read; nothing is removed on a guess. */
export async function removeLeftStaging(look: LeftStagingLook, options: CallOptions): Promise<LeftStaging> {
  const found = await listStaging(look.repo, options)
  const seen = noteSeen(look, found)
  const old = found.filter(({ branch }) => ageSeen(look, seen, branch) >= look.endedAgeMs)
  const next = old.filter(({ branch }) => branch > look.notes.after)
  const examined = (next.length > 0 ? next : old).slice(0, look.examinedMax ?? STAGING_EXAMINED_MAX)
  const due: BranchName[] = []
  const removed: BranchName[] = []
  if (!(await isOurTurn(look, examined, options)))
    return { due, removed, kept: found.length, notes: { seen, after: look.notes.after } }
  for (const head of examined) {
    if (!(await isLeft(look, head, ageSeen(look, seen, head.branch), options))) continue
    due.push(head.branch)
    if (look.isDryRun === true) continue
    const now = await look.repo.readBranch(head.branch, options)
    if (now?.head !== head.head) continue
    const { deleted } = await look.repo.deleteBranch(head.branch, options)
    if (deleted) removed.push(head.branch)
  }
  const after = examined.at(-1)?.branch ?? ''
  return { due, removed, kept: found.length - removed.length, notes: { seen, after } }
}

async function isOurTurn(
  { repo, nowMs, turnMs }: LeftStagingLook,
  [first]: readonly BranchHead[],
  options: CallOptions,
): Promise<boolean> {
  if (first === undefined || turnMs === undefined) return true
  return takeLookTurn(repo, { from: first.head, nowMs, intervalMs: turnMs }, options)
}

/** Listed to the end before the first is removed: a listing that shrinks under its own pages skips entries. */
export async function listStaging(repo: VersionedRepo, options: CallOptions): Promise<readonly BranchHead[]> {
  const found: BranchHead[] = []
  for (const prefix of STAGING_PREFIXES) {
    let count = 0
    for await (const head of repo.listBranches({ prefix }, options)) {
      if (++count > STAGING_LISTED_MAX) break
      found.push(head)
    }
  }
  return found.sort((a, b) => (a.branch < b.branch ? -1 : 1))
}

type Seen = Record<string, { readonly head: string; readonly sinceMs: number }>

function noteSeen({ notes, nowMs }: LeftStagingLook, found: readonly BranchHead[]): Seen {
  return Object.fromEntries(
    found.map(({ branch, head }) => {
      const before = notes.seen[branch]
      return [branch, before?.head === head ? before : { head, sinceMs: nowMs }]
    }),
  )
}

function ageSeen({ nowMs }: LeftStagingLook, seen: Seen, branch: string): number {
  return nowMs - (seen[branch]?.sinceMs ?? nowMs)
}

async function isLeft(
  look: LeftStagingLook,
  { branch, head }: BranchHead,
  seenMs: number,
  options: CallOptions,
): Promise<boolean> {
  const has = await hasAttemptEnded(look, branch, options)
  if (has === 'no') return false
  const commit = await look.repo.readCommit(head, options)
  if (commit === undefined || commit.metadata['publish.evidence'] !== undefined) return false
  return has === 'yes' || Math.max(seenMs, ageOf(look, branch, commit)) >= look.unknownAgeMs
}

/** `unknown`: only age can tell. */
async function hasAttemptEnded(
  { queue }: LeftStagingLook,
  branch: BranchName,
  options: CallOptions,
): Promise<'yes' | 'no' | 'unknown'> {
  if (!branch.startsWith(STAGING_PREFIXES[0])) return 'unknown'
  const taskId = readTaskIdOf(branch)
  if (taskId === undefined) return 'no'
  const task = await queue.readTask(taskId as TaskId, options)
  // A name holds an id as lakeFS takes it. Only one that was not rewritten for that is surely not known.
  if (task === undefined) return TASK_ID_UUID.test(taskId) ? 'unknown' : 'no'
  if (!branch.startsWith(stagingPrefix(task))) return 'no'
  if (hasEnded(task.status)) return 'yes'
  return isOverFor(await queue.readWorkflowStatus(task.workflowId, options)) ? 'yes' : 'no'
}

/** By its own commit; a branch without one stands at its input, which says nothing. */
function ageOf({ nowMs }: LeftStagingLook, branch: string, { metadata, createdAt }: CommitRecord): number {
  const run = metadata['publish.run']
  return run !== undefined && isStagingOf(branch, run) ? nowMs - createdAt.getTime() : 0
}
