/**
 * What comes before a body that has a workspace: its directory, and beside it one look at the branch, so that a body does not work
 * for what cannot be published. The body begins when both have succeeded. The fences after it judge again, and alone decide.
 */

import { followSignals } from '../../base/abort-signals.ts'
import { abortReason } from '../../base/clock.ts'
import { errorKindOf, MissingError, messageOf } from '../../base/errors.ts'
import { lookAhead } from '../../publication/look-ahead.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import type { TaskWorkspaceSpec } from '../../tasks/task-definition.ts'
import type { AttemptState } from './attempt-state.ts'
import { openAttemptDirectory, type AttemptDirectory } from './attempt-workspace.ts'
import { sessionOf } from './publish-changes.ts'
import type { WorkspaceRef } from './task-input.ts'

export interface WorkspaceToPrepare {
  readonly spec: TaskWorkspaceSpec
  readonly at: WorkspaceRef
  readonly repo: VersionedRepo
}

export async function prepareWorkspace(
  state: AttemptState,
  { spec, at, repo }: WorkspaceToPrepare,
): Promise<AttemptDirectory> {
  const opening = followSignals(state.signal, state.whileLayingOut)
  const call = { signal: opening.signal }
  // A task that only reads works on any commit, wherever the branch is.
  const looking = spec.readOnly === true ? Promise.resolve() : lookAtBranch(state, { at, repo, ...call })
  const laying = layOut(state, { spec, at, repo, ...call })
  // Where one has failed, the other is not needed any more.
  const stop = (error: unknown): void => opening.abort(error)
  await Promise.all([looking.catch(stop), laying.catch(stop)])
  opening.release()
  try {
    await looking
    return await laying
  } catch (error) {
    throw await explainMissing(error, { at, repo, signal: state.signal })
  }
}

interface Opening extends WorkspaceToPrepare {
  readonly signal: AbortSignal
}

async function lookAtBranch(state: AttemptState, { at, repo, signal }: Omit<Opening, 'spec'>): Promise<void> {
  const target = { branch: at.branch, inputRef: at.ref }
  await state.steps.run(
    'look-at-branch',
    () => lookAhead({ ...sessionOf(state, repo), signal, target, seen: state.seen }),
    (head) => ({ head }),
  )
}

function layOut(state: AttemptState, { spec, at, repo, signal }: Opening): Promise<AttemptDirectory> {
  const open = async (): Promise<AttemptDirectory> => {
    try {
      const directory = await openAttemptDirectory({
        ...{ ...state, attempt: state.owner, repo, ref: at.ref, spec },
        opening: signal,
        onLaidOut: (so) => state.onTransferred?.('lay-out', so),
      })
      state.later.push(() => directory.cleanUp())
      return directory
    } catch (error) {
      // Whatever an abort made of the requests, its reason says why.
      throw signal.aborted ? abortReason(signal) : error
    }
  }
  return state.steps.run('lay-out', open, ({ workspace: { manifest }, origin }) => ({
    files: manifest.count,
    bytes: manifest.totalBytes,
    ...origin,
  }))
}

/** What the input names does not exist: a retry would not find it either. Any other error is given back as it is. */
async function explainMissing(
  error: unknown,
  { at, repo, signal }: Pick<Opening, 'at' | 'repo' | 'signal'>,
): Promise<unknown> {
  if (errorKindOf(error) !== 'missing') return error
  const what = await findMissing({ at, repo, signal })
  if (what === undefined) return error
  const { repository, branch, ref } = at
  return new MissingError(
    'worker/missing-input',
    `check out ${ref} of repository "${repository}": ${what}; the body did not run (${messageOf(error)})`,
    {
      cause: error,
      details: { repository, branch, ref },
      next: `Correct the workspace in the input of the workflow, or create what it names; then start it again.`,
    },
  )
}

async function findMissing({
  at,
  repo,
  signal,
}: Pick<Opening, 'at' | 'repo' | 'signal'>): Promise<string | undefined> {
  try {
    const commit = await repo.readCommit(at.ref, { signal })
    return commit === undefined ? 'there is no such commit' : undefined
  } catch (error) {
    if (errorKindOf(error) !== 'missing') throw error
    return 'there is no such repository'
  }
}
