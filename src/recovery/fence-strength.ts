/** Which fence strength holds on a branch, and who has lately published there without one. Reads only, but for what `isEvaluated` does. */

import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type { MetadataKey } from '../publication/commit-metadata.ts'
import { FENCE_ACTOR, readFenceState, type FenceState } from '../publication/fence-installation.ts'
import type { FencePolicy } from '../publication/hard-fences.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import { FENCE_LOOK_BACK_COMMITS } from './limits.ts'
import { UnfencedPublishers, type UnfencedPublisher } from './publishers.ts'

/** `refused`: workers with this configuration publish nothing there. */
export type HeldStrength = 'hard' | 'soft' | 'refused'

export interface BranchStrength {
  readonly repository: RepositoryName
  readonly branch: BranchName
  readonly strength: HeldStrength
  readonly why: string
  readonly file: FenceState['file']
  /** `undefined`: there is no fence that lakeFS could evaluate. */
  readonly isEvaluated: boolean | undefined
  /** Of the newest commits: on a branch with a fence all who passed it by since; elsewhere those who would. */
  readonly withoutFence: readonly UnfencedPublisher[]
}

export interface ExamineFenceOptions {
  readonly policy: FencePolicy
  /** Asked where the file is installed. */
  readonly isEvaluated: (state: FenceState) => Promise<boolean>
  readonly signal?: AbortSignal | undefined
}

export async function examineFence(
  repo: VersionedRepo,
  branch: BranchName,
  { policy, isEvaluated: ask, signal }: ExamineFenceOptions,
): Promise<BranchStrength> {
  const state = await readFenceState(repo, branch, { signal })
  const { file, head } = state
  const isEvaluated = file === 'installed' ? await ask(state) : undefined
  const judged = judgeStrength(policy, file, isEvaluated === true)
  const unfenced = await readUnfenced(repo, head, signal)
  const withoutFence = file === 'absent' ? unfenced.filter(({ kind }) => kind === 'python') : unfenced
  return { repository: repo.repository, branch, ...judged, file, isEvaluated, withoutFence }
}

/** As workers with this policy find it. */
function judgeStrength(
  policy: FencePolicy,
  file: FenceState['file'],
  isEvaluated: boolean,
): Pick<BranchStrength, 'strength' | 'why'> {
  if (policy === 'off') return { strength: 'soft', why: 'lakefs.fence is off' }
  switch (file) {
    case 'absent':
      return policy === 'required'
        ? { strength: 'refused', why: 'no fence is installed, and lakefs.fence is required' }
        : { strength: 'soft', why: 'no fence is installed' }
    case 'changed':
      return { strength: 'refused', why: 'the file of the fence is not the one that perago installs' }
    case 'installed':
      return isEvaluated
        ? { strength: 'hard', why: 'the fence is installed, and lakeFS evaluates it' }
        : { strength: 'refused', why: 'the fence is installed, but lakeFS does not evaluate it' }
  }
}

/** Down to the installation of the fence, before which nobody could keep it. */
async function readUnfenced(
  repo: VersionedRepo,
  head: CommitRef,
  signal: AbortSignal | undefined,
): Promise<readonly UnfencedPublisher[]> {
  const unfenced = new UnfencedPublishers()
  for await (const commit of repo.log(head, { firstParent: true, limit: FENCE_LOOK_BACK_COMMITS, signal })) {
    if (commit.metadata['publish.actor' satisfies MetadataKey] === FENCE_ACTOR) break
    unfenced.note(commit)
  }
  return unfenced.all
}
