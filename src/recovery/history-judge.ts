/** Judges the commits of a history one by one, newest first, by what they say of themselves. Remembers a bounded number of tasks. */

import { BoundedMap } from '../base/bounded-map.ts'
import type { CommitRef } from '../base/ids.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import type { CommitRecord } from '../publication/ports.ts'
import { makerOf } from './publishers.ts'

export const VERIFIED_CHECKS = {
  'one-commit-per-task': 'a completed task has one commit in the history',
  'expected-parent': 'a publication stands directly on the commit that its task has read',
  'fence-held': 'a publication with a hard fence stands on the head that lakeFS compared',
  'no-claim-left': 'no move of the branch was left unfinished',
  'nothing-lost': 'the output of each completed task is in the history, or under an evidence tag',
} as const
export type VerifiedCheck = keyof typeof VERIFIED_CHECKS

/** What to do where a check is refuted. */
export const NEXT_AFTER_CHECK: Readonly<Record<VerifiedCheck, string>> = {
  'one-commit-per-task':
    'Compare the two commits: if the work counts twice, take the newer one back with perago recover WORKFLOW.',
  'expected-parent':
    'Compare it with its parent: the task has not seen what lies between. If it does not fit, run its workflow again from the head.',
  'fence-held':
    'See who wrote this commit, and who may write the branch past perago; compare it with its parent, which lakeFS did not expect.',
  'no-claim-left': 'Let perago recover REPOSITORY/BRANCH finish the move, or take it back.',
  'nothing-lost':
    'Keep the commit with a tag before lakeFS collects it; then ask perago recover WORKFLOW what became of its task.',
}

export interface VerifyFinding {
  readonly check: VerifiedCheck
  readonly ref: CommitRef
  readonly why: string
}

export class HistoryJudge {
  /** The newer commit of each task, and what it says that it replaces. */
  readonly #tasks: BoundedMap<string, { readonly ref: CommitRef; readonly replaces: string | undefined }>

  constructor(rememberedMax: number) {
    this.#tasks = new BoundedMap({ max: rememberedMax, evict: 'oldest' })
  }

  judge(commit: CommitRecord): readonly VerifyFinding[] {
    const { ref, metadata } = commit
    const found: VerifyFinding[] = []
    const refute = (check: VerifiedCheck, why: string): unknown => found.push({ check, ref, why })
    const maker = makerOf(commit)
    if (maker === 'claim') refute('no-claim-left', 'it is a claim')
    if (maker !== 'perago') return found

    const parent = commit.parents[0] ?? 'nothing'
    const read = (key: MetadataKey): string | undefined => metadata[key]
    const isForward = read('publish.replaces') === parent
    const input = read('publish.input') ?? 'nothing'
    if (input !== parent && !isForward)
      refute('expected-parent', `it stands on ${parent}, and its task has read ${input}`)
    const expected = read('publish.expected_head') ?? parent
    if (expected !== parent) refute('fence-held', `it stands on ${parent}, and lakeFS compared ${expected}`)

    const task = taskOf(commit)
    const newer = task === undefined ? undefined : this.#tasks.get(task)
    // A replacement on a protected branch names the commit whose place it takes.
    if (newer !== undefined && newer.replaces !== ref)
      refute('one-commit-per-task', `${newer.ref} is of the same task`)
    if (task !== undefined) this.#tasks.set(task, { ref, replaces: read('publish.replaces') })
    return found
  }
}

/** Without an attempt every execution is a task of its own. */
function taskOf({ metadata }: CommitRecord): string | undefined {
  const read = (key: MetadataKey): string | undefined => metadata[key]
  if (read('publish.task_id') === undefined) return undefined
  return JSON.stringify([read('publish.workflow'), read('publish.task'), read('publish.iteration')])
}
