/**
 * Holds the staged commit against the plan. A batch deletion may be answered "done" without having been done, and a
 * staging branch could be written by others; the difference between the two commits is the proof, since it is this
 * very tree that would be published.
 */

import { RefusedError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { showPaths } from './planned-changes.ts'
import type { Change, ObjectStat } from './ports.ts'
import { repeatWhenLost } from './repeat.ts'
import type { PublicationRun } from './run.ts'
import type { UploadedChecksums } from './upload.ts'

export interface StagedTree {
  readonly ref: CommitRef
  readonly uploaded: UploadedChecksums
}

export async function verifyStaged(run: PublicationRun, staged: StagedTree): Promise<void> {
  const { inputRef } = run.request.target
  const missing = expectedChanges(run)
  const strange: string[] = []
  if (staged.ref !== inputRef) {
    for (const { path, change } of await readDiff(run, staged.ref)) {
      if (!isPlanned(missing.get(path), change)) strange.push(path)
      missing.delete(path)
    }
  }
  if (strange.length > 0) throw unlikePlan(run, 'changes that nobody planned', strange)
  const lost = await findLost(run, { staged, missing: [...missing.keys()] })
  if (lost.length > 0) throw unlikePlan(run, 'planned changes missing', lost)
}

type Expected = 'upload' | 'delete'

function expectedChanges({ request }: PublicationRun): Map<string, Expected> {
  const expected = new Map<string, Expected>()
  for (const { path } of request.changes.uploads) expected.set(path, 'upload')
  for (const path of request.changes.deletes) expected.set(path, 'delete')
  return expected
}

function isPlanned(expected: Expected | undefined, change: Change['change']): boolean {
  if (expected === 'delete') return change === 'removed'
  return expected === 'upload' && (change === 'added' || change === 'changed')
}

async function readDiff(run: PublicationRun, ref: CommitRef): Promise<Change[]> {
  const { repo, target } = run.request
  return repeatWhenLost(async () => {
    const changes: Change[] = []
    for await (const change of repo.diff(target.inputRef, ref, run.call)) changes.push(change)
    return changes
  }, run.repeat)
}

// An upload that the difference does not show was either lost or brought what the input ref held already.
async function findLost(
  run: PublicationRun,
  of: { readonly staged: StagedTree; readonly missing: readonly string[] },
): Promise<string[]> {
  const lost: string[] = []
  for (const path of of.missing) {
    const there = await readStat(run, { ref: of.staged.ref, path })
    // The checksum of an upload is never undefined; a deletion has none, and must leave nothing behind.
    if (there?.checksum !== of.staged.uploaded.get(path)) lost.push(path)
  }
  return lost
}

function readStat(
  run: PublicationRun,
  of: { readonly ref: CommitRef; readonly path: string },
): Promise<ObjectStat | undefined> {
  return repeatWhenLost(() => run.request.repo.stat(of.ref, of.path, run.call), run.repeat)
}

function unlikePlan(run: PublicationRun, what: string, paths: readonly string[]): RefusedError {
  return new RefusedError(
    'publication/staged-unlike-plan',
    `verify staging branch "${run.stagingBranch}": ${paths.length} ${what}, such as ${showPaths(paths)}`,
    {
      details: { stagingBranch: run.stagingBranch, count: paths.length },
      next: 'See who else writes to staging branches; the next attempt stages anew.',
    },
  )
}
