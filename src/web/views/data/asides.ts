/** What hangs beside a branch, of what tags and staging branches keep. */

import type { Aside } from './history-rows.ts'
import { readPublication, type CommitLike } from './publication.ts'

export interface Keeper {
  /** Of the tag or the staging branch. */
  readonly name: string
  /** The branch that is looked at. */
  readonly branch: string
}

/** Of the line that a tag keeps. What the branch still holds of it is left out by whoever has the branch's commits. */
export function supersededOf<C extends CommitLike>(
  { name, branch }: Keeper,
  commits: readonly C[],
): readonly Aside<C>[] {
  const [tagged] = commits
  if (tagged === undefined) return []
  const of = readPublication(tagged).branch
  if (of !== undefined && of !== branch) return []
  // Of which branch a commit without metadata was the head is not known, nor whether the others have left it too.
  const left = of === undefined ? [tagged] : commits
  return left.map((commit) => ({ commit, kind: 'superseded', keptBy: name }))
}

/** Of a staging branch: its last commit, or what is below it where the last one only says why it was refused. */
export function stagedOf<C extends CommitLike>(
  { name, branch }: Keeper,
  [head, below]: readonly C[],
): readonly Aside<C>[] {
  if (head === undefined) return []
  const { by, refusal } = readPublication(head)
  const commit = by === 'evidence' ? below : head
  if (commit === undefined) return []
  const publication = readPublication(commit)
  if (publication.branch !== undefined && publication.branch !== branch) return []
  if (refusal !== undefined)
    return [{ commit, kind: 'refused', keptBy: name, publication: { ...publication, refusal } }]
  return isStagedOn(name, publication.run) ? [{ commit, kind: 'staged', keptBy: name }] : []
}

/** Until something is committed to a staging branch, its head is the commit that it began from. */
export function isStagedOn(stagingBranch: string, run: string | undefined): boolean {
  return run !== undefined && stagingBranch.endsWith(`-exec-${run}`)
}
