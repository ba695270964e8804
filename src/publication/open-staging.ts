/** Creates a staging branch. One of that name that is there already was left by somebody else, and is never built upon. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'
import { repeatWhenLost, type RepeatOptions } from './repeat.ts'
import type { StepRecorder } from './steps.ts'

/** Where a publication is staged, and how it is spoken to. */
export interface StagingSite {
  readonly repo: VersionedRepo
  readonly stagingBranch: BranchName
  readonly inputRef: CommitRef
  readonly steps: StepRecorder
  /** The caller's signal, as calls and repeats take it. */
  readonly call: CallOptions
  readonly repeat: RepeatOptions
}

/** A staging branch that was begun while the task still worked. */
export interface EarlyStaging {
  /**
   * The publication has it from here. `false`: there is none, and what may be left of the try was removed. Never rejects.
   */
  takeOver(): Promise<boolean>
  /** Removes it, unless it was taken over. Never rejects. */
  discard(): Promise<void>
}

export interface OpenedStaging {
  /** Called as soon as the staging branch may be there and be ours. */
  readonly mayBeOpen: () => void
}

export async function openStaging(site: StagingSite, { mayBeOpen }: OpenedStaging): Promise<void> {
  const { repo, stagingBranch, inputRef, steps } = site
  await steps.run('open-staging', async () => {
    const progress = { lost: false }
    await repeatWhenLost(async () => {
      if (progress.lost && (await standsAtInput(site))) return
      try {
        const { created } = await repo.createBranch({ branch: stagingBranch, from: inputRef }, site.call)
        if (!created && !(progress.lost && (await standsAtInput(site)))) throw leftBehind(site)
        mayBeOpen()
      } catch (error) {
        if (errorKindOf(error) === 'uncertain') {
          progress.lost = true
          mayBeOpen()
        }
        throw error
      }
    }, site.repeat)
  })
}

async function standsAtInput({ repo, stagingBranch, inputRef, call }: StagingSite): Promise<boolean> {
  const found = await repo.readBranch(stagingBranch, call)
  return found?.head === inputRef
}

function leftBehind({ stagingBranch, inputRef }: StagingSite): RefusedError {
  return new RefusedError(
    'publication/staging-exists',
    `create staging branch "${stagingBranch}" from ${inputRef}: a branch of that name is there already`,
    {
      details: { stagingBranch },
      next: 'Give each execution of an attempt an id of its own; a branch left behind is never built upon.',
    },
  )
}
