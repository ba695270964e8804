/** Examines the fences of branches. A merge into a scratch branch, which must be refused, shows whether lakeFS evaluates them. */

import { systemClock } from '../../base/clock.ts'
import { branchName, repositoryName } from '../../base/ids.ts'
import type { LakefsClient } from '../../lakefs/client.ts'
import { openLakefsRepo } from '../../lakefs/versioned-repo.ts'
import { isFenceEvaluated } from '../../publication/fence-installation.ts'
import type { FencePolicy } from '../../publication/hard-fences.ts'
import { examineFence, type BranchStrength } from '../../recovery/fence-strength.ts'
import type { BranchTarget } from '../../tasks/branch-targets.ts'

/** By its names, which are checked when it is examined. */
export type ExaminablePlace = BranchTarget
export type BranchExaminer = (place: ExaminablePlace) => Promise<BranchStrength>

/** Asks each repository once. */
export function openBranchExaminer(
  client: LakefsClient,
  { signal, fence = 'preferred' }: { readonly signal: AbortSignal; readonly fence?: FencePolicy | undefined },
): BranchExaminer {
  const evaluated = new Map<string, Promise<boolean>>()
  return ({ repository, branch }) => {
    const repo = openLakefsRepo(client, repositoryName(repository))
    return examineFence(repo, branchName(branch), {
      policy: fence,
      signal,
      isEvaluated: (state) => {
        const asked = evaluated.get(repository) ?? isFenceEvaluated(repo, state, systemClock)
        evaluated.set(repository, asked)
        return asked
      },
    })
  }
}
