/** Creates a staging branch. A branch of that name that exists already was left by another execution, and is never used. */

import { errorKindOf, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
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
