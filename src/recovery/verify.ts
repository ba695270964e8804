/**
 * Walks the first-parent history of a branch and proves or refutes what perago promises of it. Each check is refuted by a finding;
 * what can only be noticed (commits of others, workers that know no fence) is named, and refutes nothing.
 */

import type { CommitRef } from '../base/ids.ts'
import { readNewest } from '../publication/claims.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import { evidenceTag } from '../publication/evidence.ts'
import type { CommitRecord, VersionedRepo } from '../publication/ports.ts'
import type { TaskRecord, WorkflowId } from '../worker/ports.ts'
import { outputOf, readInput } from './gather.ts'
import { RECOVERY_HISTORY_COMMITS } from './limits.ts'
import type { BranchPlace, RecoveryWorld } from './ports.ts'

export const VERIFIED_CHECKS = {
  'one-commit-per-task': 'a completed task has one commit in the history',
  'expected-parent': 'a publication stands directly on the commit that its task has read',
  'fence-held': 'a publication with a hard fence stands on the head that lakeFS compared',
  'no-claim-left': 'no move of the branch was left unfinished',
  'nothing-lost': 'the output of each completed task is in the history, or under an evidence tag',
} as const
export type VerifiedCheck = keyof typeof VERIFIED_CHECKS

export interface VerifyFinding {
  readonly check: VerifiedCheck
  readonly ref: CommitRef
  readonly why: string
}

export interface Verification {
  readonly holds: boolean
  readonly commits: number
  /** Whether the walk came to the first commit; else only the newest were judged. */
  readonly isWhole: boolean
  /** Whether Conductor knew all workflows of the history; without it `nothing-lost` is not judged for the others. */
  readonly unknownWorkflows: readonly string[]
  readonly refuted: readonly VerifyFinding[]
  /** Publications of workers that write no expectation: soft ones of perago, by name of their task. */
  readonly withoutFence: readonly CommitRef[]
  /** Commits that no worker of perago has made: by hand, or by a worker that says nothing of itself. */
  readonly foreign: readonly CommitRef[]
}

export async function verify(world: RecoveryWorld, place: BranchPlace): Promise<Verification> {
  const repo = world.repoOf(place.repository)
  const commits: CommitRecord[] = []
  const limits = { firstParent: true, limit: RECOVERY_HISTORY_COMMITS, signal: world.signal }
  for await (const commit of repo.log(place.branch, limits)) commits.push(commit)
  const isWhole = commits.at(-1)?.parents.length === 0
  const { lost, unknownWorkflows } = await findLost(world, repo, place, { commits, isWhole })
  const refuted = [...judgeHistory(commits), ...lost]
  return {
    ...{ holds: refuted.length === 0, commits: commits.length, isWhole, unknownWorkflows, refuted },
    withoutFence: commits
      .filter((each) => isPublication(each) && !('publish.expected_head' in each.metadata))
      .map(refOf),
    foreign: commits.filter((each) => !isPublication(each) && each.parents.length > 0).map(refOf),
  }
}

/** What the commits say of themselves. Newest first. */
function judgeHistory(commits: readonly CommitRecord[]): readonly VerifyFinding[] {
  const found: VerifyFinding[] = []
  const refute = (check: VerifiedCheck, { ref }: CommitRecord, why: string): unknown =>
    found.push({ check, ref, why })
  const seen = new Map<string, CommitRecord>()
  for (const commit of commits) {
    const { parents, metadata } = commit
    const [parent] = parents
    const read = (key: MetadataKey): string | undefined => metadata[key]
    if (isClaim(commit)) refute('no-claim-left', commit, 'it is a claim')
    if (!isPublication(commit)) continue
    const isForward = read('publish.replaces') !== undefined && read('publish.replaces') === parent
    if (read('publish.input') !== parent && !isForward)
      refute(
        'expected-parent',
        commit,
        `it stands on ${parent ?? 'nothing'}, and its task has read ${read('publish.input') ?? 'nothing'}`,
      )
    const expected = read('publish.expected_head')
    if (expected !== undefined && expected !== parent)
      refute('fence-held', commit, `it stands on ${parent ?? 'nothing'}, and lakeFS compared ${expected}`)
    const task = taskOf(commit)
    const newer = task === undefined ? undefined : seen.get(task)
    // A replacement on a protected branch names the commit whose place it takes.
    const isReplaced = newer?.metadata['publish.replaces' satisfies MetadataKey] === commit.ref
    if (newer !== undefined && !isReplaced)
      refute('one-commit-per-task', commit, `${newer.ref} is of the same task`)
    if (task !== undefined) seen.set(task, commit)
  }
  return found
}

function isClaim({ metadata }: CommitRecord): boolean {
  return metadata['publish.claim' satisfies MetadataKey] !== undefined
}

function isPublication(commit: CommitRecord): boolean {
  return commit.metadata['publish.run' satisfies MetadataKey] !== undefined && !isClaim(commit)
}

/** Without an attempt every execution is a task of its own. */
function taskOf({ metadata }: CommitRecord): string | undefined {
  const read = (key: MetadataKey): string | undefined => metadata[key]
  if (read('publish.task_id') === undefined) return undefined
  return JSON.stringify([read('publish.workflow'), read('publish.task'), read('publish.iteration')])
}

function refOf({ ref }: CommitRecord): CommitRef {
  return ref
}

async function findLost(
  { queue, signal }: RecoveryWorld,
  repo: VersionedRepo,
  place: BranchPlace,
  { commits, isWhole }: { readonly commits: readonly CommitRecord[]; readonly isWhole: boolean },
): Promise<{ readonly lost: readonly VerifyFinding[]; readonly unknownWorkflows: readonly string[] }> {
  const ids = new Set(
    commits.flatMap(({ metadata }) => metadata['publish.workflow' satisfies MetadataKey] ?? []),
  )
  if (queue === undefined) return { lost: [], unknownWorkflows: [...ids] }
  const there = new Set(commits.map(refOf))
  const unknownWorkflows: string[] = []
  const lost: VerifyFinding[] = []
  for (const id of ids) {
    const workflow = await queue.readWorkflow(id as WorkflowId, { signal })
    if (workflow === undefined) unknownWorkflows.push(id)
    for (const task of workflow?.tasks ?? []) {
      const output = publishedBy(task, place)
      // Below the commits that were read there may be it.
      if (output === undefined || there.has(output) || !isWhole) continue
      if ((await readNewest(repo, evidenceTag(output) as BranchPlace['branch'], { signal })) !== undefined)
        continue
      lost.push({
        check: 'nothing-lost',
        ref: output,
        why: `the output of task ${task.taskId} is not in the history`,
      })
    }
  }
  return { lost, unknownWorkflows }
}

function publishedBy(task: TaskRecord, { repository, branch }: BranchPlace): CommitRef | undefined {
  const input = readInput(task)
  if (input?.repository !== repository || input.branch !== branch) return undefined
  return outputOf(task)
}
