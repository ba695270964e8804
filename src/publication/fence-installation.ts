/** Puts the file of the hard fence on a branch, or takes it away: by an ordinary publication, which is fenced itself. */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { MissingError, RefusedError } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import { ACTIONS_FOLDER } from '../base/reserved-paths.ts'
import { sendCanary } from './fence-canary.ts'
import { FENCE_FILE, FENCE_PATH } from './fence-file.ts'
import { readFence } from './fence-reading.ts'
import { openHardFences } from './hard-fences.ts'
import { FENCE_FOREIGN_FILES_MAX } from './limits.ts'
import type { PlannedChanges } from './planned-changes.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'
import { publish } from './publish.ts'
import type { FenceStrength } from './strategy.ts'

/** Who installs and removes fences. */
export const FENCE_ACTOR = 'fence'

export interface FenceState {
  readonly branch: BranchName
  readonly head: CommitRef
  /** `changed`: there is another file in its place. */
  readonly file: 'installed' | 'absent' | 'changed'
  /** Other files of the folder, some of them. */
  readonly foreign: readonly string[]
}

export async function readFenceState(
  repo: VersionedRepo,
  branch: BranchName,
  call: CallOptions,
): Promise<FenceState> {
  const found = await repo.readBranch(branch, call)
  if (found === undefined) throw noSuchBranch(repo, branch)
  const { head } = found
  const foreign: string[] = []
  for await (const { path } of repo.list(head, { ...call, prefix: ACTIONS_FOLDER })) {
    if (path !== FENCE_PATH) foreign.push(path)
    if (foreign.length === FENCE_FOREIGN_FILES_MAX) break
  }
  const reading = await readFence(repo, head, call)
  const file = reading === 'present' ? 'installed' : reading === 'other' ? 'changed' : 'absent'
  return { branch, head, file, foreign }
}

/** Whether the server evaluates the fence of this branch; the branch must have it. */
export function isFenceEvaluated(repo: VersionedRepo, state: FenceState, clock: Clock): Promise<boolean> {
  return sendCanary(repo, { at: state.head, clock })
}

/** Throws where the folder holds what perago has not put there. */
export function refuseForeignActions({ branch, file, foreign }: FenceState): void {
  const found = file === 'changed' ? [FENCE_PATH, ...foreign] : foreign
  if (found.length === 0) return
  throw new RefusedError(
    'publication/foreign-actions',
    `change the fence of branch "${branch}": ${ACTIONS_FOLDER} has files that are not perago's: ${found.join(', ')}`,
    {
      details: { branch, paths: found },
      next: 'One damaged file there stops every commit of the branch. Move them away, or decide about them with their owner.',
    },
  )
}

/** From the state that was read: where the branch has moved since, nothing is changed. */
export async function changeFence(
  repo: VersionedRepo,
  state: FenceState,
  of: {
    readonly act: 'install' | 'remove'
    readonly clock: Clock
    readonly signal?: AbortSignal | undefined
  },
): Promise<{ readonly ref: CommitRef; readonly strength: FenceStrength }> {
  refuseForeignActions(state)
  const { act, clock, signal } = of
  const { outputRef, strength } = await publish({
    repo,
    authority: { kind: 'actor', actor: FENCE_ACTOR, subject: act, executionId: randomUUID() },
    target: { branch: state.branch, inputRef: state.head, prefix: '' },
    changes: act === 'install' ? INSTALLATION : REMOVAL,
    changesActions: true,
    // With the file staged the publication relies on it: a server that does not evaluate it gets none.
    fences: openHardFences({ clock }),
    clock,
    signal,
  })
  return { ref: outputRef, strength }
}

const BYTES = Buffer.from(FENCE_FILE)
const INSTALLATION: PlannedChanges = {
  uploads: [
    {
      path: FENCE_PATH,
      body: { sizeBytes: BYTES.byteLength, open: () => BYTES },
      contentType: 'application/yaml',
    },
  ],
  deletes: [],
}
const REMOVAL: PlannedChanges = { uploads: [], deletes: [FENCE_PATH] }

function noSuchBranch({ repository }: VersionedRepo, branch: BranchName): MissingError {
  return new MissingError(
    'publication/no-such-branch',
    `read the fence of branch "${branch}" of "${repository}": there is no such branch`,
    { next: 'Correct the name of the branch, or create it.' },
  )
}
