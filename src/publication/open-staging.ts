/** Creates a staging branch. A branch of that name that exists already was left by another execution, and is never used. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { removeStaging } from './clean-up.ts'
import { openSession, type Session, type SessionOptions } from './session.ts'
import { stagingBranchOf } from './staging-name.ts'

export interface StagingSession extends Session {
  readonly stagingBranch: BranchName
  readonly inputRef: CommitRef
}

export interface StagingOptions extends SessionOptions {
  readonly inputRef: CommitRef
}

export function openStagingSession({ inputRef, ...options }: StagingOptions): StagingSession {
  const session = openSession(options)
  return { ...session, inputRef, stagingBranch: stagingBranchOf(session.authority) }
}

/** `mayBeOpen` is called as soon as the staging branch may exist and be ours. */
export async function openStaging(session: StagingSession, mayBeOpen: () => void): Promise<void> {
  const { repo, stagingBranch, inputRef, steps, call, repeat } = session
  let isLost = false
  const create = async (): Promise<void> => {
    if (isLost && (await standsAtInput(session))) return
    try {
      const { created } = await repo.createBranch({ branch: stagingBranch, from: inputRef }, call)
      if (!created && !(isLost && (await standsAtInput(session)))) throw existsAlready(session)
      mayBeOpen()
    } catch (error) {
      if (errorKindOf(error) === 'uncertain') {
        isLost = true
        mayBeOpen()
      }
      throw error
    }
  }
  await steps.run('open-staging', () => repeat(create))
}

/** A staging branch that was begun while the task still runs. */
export interface EarlyStaging {
  /** The publication owns it from here. `false`: there is none, and what may be left of it was removed. Never rejects. */
  takeOver(): Promise<boolean>
  /** Removes it, unless it was taken over. Never rejects. */
  discard(): Promise<void>
}

/**
 * Begins a staging branch at once, while the task still runs: creating one takes longer than most requests, and an attempt
 * that was only just claimed is current. It stays empty until the attempt fence was passed.
 */
export function beginStaging(options: StagingOptions): EarlyStaging {
  const session = openStagingSession(options)
  let mayBeOpen = false
  let isTaken = false
  const opening = openStaging(session, () => {
    mayBeOpen = true
  }).then(
    () => true,
    () => {
      // Interrupted: it is not known whether it was created.
      if (options.signal?.aborted === true) mayBeOpen = true
      // The publication tries again, and reports what is wrong.
      return false
    },
  )
  const removeIfAny = async (): Promise<void> => {
    if (mayBeOpen) await removeStaging(session)
  }
  return {
    async takeOver() {
      isTaken = true
      const isOpen = await opening
      if (!isOpen) await removeIfAny()
      return isOpen
    },
    async discard() {
      await opening
      if (!isTaken) await removeIfAny()
    },
  }
}

async function standsAtInput({ repo, stagingBranch, inputRef, call }: StagingSession): Promise<boolean> {
  const found = await repo.readBranch(stagingBranch, call)
  return found?.head === inputRef
}

function existsAlready({ stagingBranch, inputRef }: StagingSession): RefusedError {
  return new RefusedError(
    'publication/staging-exists',
    `create staging branch "${stagingBranch}" from ${inputRef}: a branch of that name exists already`,
    {
      details: { stagingBranch },
      next: 'Give each execution of an attempt an id of its own; a branch that was left behind is never used again.',
    },
  )
}
