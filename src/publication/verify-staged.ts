/**
 * Compares the staged commit with the plan. A batch deletion may be answered "done" without having been done, and others
 * could write to a staging branch. The difference between the two commits proves what was staged, since exactly this tree
 * would be published.
 */

import { RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { showPaths, type StoredChecksums } from './planned-changes.ts'
import type { Change } from './ports.ts'
import type { PublicationRun } from './publication.ts'

export interface StagedTree {
  readonly ref: CommitRef
  readonly stored: StoredChecksums
}

export async function verifyStaged(run: PublicationRun, { ref, stored }: StagedTree): Promise<void> {
  const { uploads, deletes } = run.request.changes
  const missing = new Map<string, 'upload' | 'delete'>()
  for (const { path } of uploads) missing.set(path, 'upload')
  for (const path of deletes) missing.set(path, 'delete')
  const unplanned: string[] = []
  if (ref !== run.inputRef) {
    for (const { path, change } of await readDiff(run, ref)) {
      if (!isPlanned(missing.get(path), change)) unplanned.push(path)
      missing.delete(path)
    }
  }
  if (unplanned.length > 0) throw unlikePlan(run, 'changes that nobody planned', unplanned)
  // An upload that the difference does not show was either lost or brought what the input ref held already.
  const lost: string[] = []
  for (const path of missing.keys()) {
    const found = await run.repeat((call) => run.repo.stat(ref, path, call))
    // An upload has a checksum; a deletion has none, and must leave nothing behind.
    if (found?.checksum !== stored.get(path)) lost.push(path)
  }
  if (lost.length > 0) throw unlikePlan(run, 'planned changes missing', lost)
}

function isPlanned(expected: 'upload' | 'delete' | undefined, change: Change['change']): boolean {
  if (expected === 'delete') return change === 'removed'
  return expected === 'upload' && (change === 'added' || change === 'changed')
}

function readDiff({ repo, inputRef, repeat }: PublicationRun, ref: CommitRef): Promise<Change[]> {
  return repeat(async (call) => {
    const changes: Change[] = []
    for await (const change of repo.diff(inputRef, ref, call)) changes.push(change)
    return changes
  })
}

function unlikePlan({ stagingBranch }: PublicationRun, what: string, paths: readonly string[]): RefusedError {
  return new RefusedError(
    'publication/staged-unlike-plan',
    `verify staging branch "${stagingBranch}": ${paths.length} ${what}, such as ${showPaths(paths)}`,
    {
      details: { stagingBranch, count: paths.length },
      next: 'See who else writes to staging branches; the next attempt stages everything again.',
    },
  )
}
