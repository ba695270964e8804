/**
 * Of all workers that look at a repository, on however many machines, one examines it in each interval: whoever creates the
 * branch of that interval, which lakeFS lets one of them do. The branches of earlier intervals are removed then.
 */

import { errorKindOf } from '../../base/errors.ts'
import { branchName, type CommitRef } from '../../base/ids.ts'
import type { CallOptions, VersionedRepo } from '../../publication/ports.ts'

const PREFIX = 'perago-look-'

export interface LookTurn {
  /** Any commit that is there. */
  readonly from: CommitRef
  readonly nowMs: number
  readonly intervalMs: number
}

export async function takeLookTurn(
  repo: VersionedRepo,
  { from, nowMs, intervalMs }: LookTurn,
  options: CallOptions,
): Promise<boolean> {
  // As many digits for all, so that they sort by their time.
  const turn = branchName(`${PREFIX}${String(Math.floor(nowMs / intervalMs)).padStart(15, '0')}`)
  try {
    if (!(await repo.createBranch({ branch: turn, from }, options)).created) return false
  } catch (error) {
    // Who may not create it looks all the same, as one worker would.
    if (errorKindOf(error) === 'refused') return true
    throw error
  }
  const found = []
  for await (const { branch } of repo.listBranches({ prefix: PREFIX }, options)) found.push(branch)
  // One of a later interval is of a machine whose clock is ahead.
  for (const branch of found.filter((each) => each < turn)) await repo.deleteBranch(branch, options)
  return true
}
