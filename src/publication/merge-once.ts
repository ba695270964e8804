/** One merge, and what each of its outcomes means to a publication. The same for both strengths of the fence. */

import { RefusedError } from '../base/errors.ts'
import { FENCE_MARKER } from './fence-file.ts'
import type { MergeRequest, VersionedRepo } from './ports.ts'
import type { BranchWrite, GuardedOptions } from './strategy.ts'

export async function mergeOnce(
  repo: VersionedRepo,
  request: MergeRequest,
  options: GuardedOptions,
): Promise<BranchWrite> {
  const outcome = await repo.merge(request, options)
  if (outcome.merged) return { written: true, ref: outcome.ref }
  const { source, into: branch } = request
  const details = { branch, stagedRef: source }
  switch (outcome.reason) {
    case 'withheld':
      return { written: false, why: 'withheld' }
    case 'conflict':
      // The branch stood at our input when it was read, and nothing conflicts with that: it has moved since.
      return { written: false, why: 'head-moved' }
    case 'nothing-to-merge':
      return { written: false, why: 'nothing-to-merge' }
    case 'dirty-target':
      throw new RefusedError(
        'publication/dirty-target',
        `merge ${source} into branch "${branch}": the branch has uncommitted changes`,
        {
          details,
          next: `Commit or reset the uncommitted changes on "${branch}", then run the task again.`,
        },
      )
    case 'hook-refused':
      if (outcome.message.includes(FENCE_MARKER)) return { written: false, why: 'head-moved' }
      throw new RefusedError(
        'publication/hook-refused',
        `merge ${source} into branch "${branch}": a hook of the repository refused it: ${outcome.message}`,
        { details, next: 'See the run of the hook in lakeFS, under the actions of the repository.' },
      )
  }
}
