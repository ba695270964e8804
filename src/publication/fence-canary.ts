/**
 * Whether the server evaluates the fence: a merge that it must refuse, into a scratch branch of its own. Nothing else is
 * touched, and several canaries may run side by side.
 */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import { MissingError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { EXPECTED_HEAD, FENCE_MARKER } from './fence-file.ts'
import { FENCE_CANARY_MS } from './limits.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'
import { stagingBranchOf } from './staging-name.ts'

/** No commit has this id. */
const NO_HEAD = '0'.repeat(64)

/** `at`: a commit whose tree has the fence's file. */
export async function sendCanary(
  repo: VersionedRepo,
  { at, clock }: { readonly at: CommitRef; readonly clock: Clock },
): Promise<boolean> {
  const signal = AbortSignal.timeout(FENCE_CANARY_MS)
  const executionId = randomUUID()
  // Named like an actor's staging branch: what a crash leaves is collected with those.
  const branch = stagingBranchOf({ kind: 'actor', actor: 'fence', subject: 'canary', executionId })
  try {
    await repo.createBranch({ branch, from: at, hidden: true }, { signal })
    const source = await writeSource(repo, { at, clock, executionId }, { signal })
    const metadata = { 'publish.run': executionId, [EXPECTED_HEAD]: NO_HEAD }
    const outcome = await repo.merge(
      { source, into: branch, message: 'Canary', metadata, allowEmpty: true },
      { signal },
    )
    return !outcome.merged && outcome.reason === 'hook-refused' && outcome.message.includes(FENCE_MARKER)
  } finally {
    // What is left is collected like any staging branch.
    await repo.deleteBranch(branch, { signal }).catch(() => undefined)
  }
}

/** A commit that no branch holds, so that a branch protection of all names does not stand in the way. */
async function writeSource(
  repo: VersionedRepo,
  { at, clock, executionId }: { readonly at: CommitRef; readonly clock: Clock; readonly executionId: string },
  call: CallOptions,
): Promise<CommitRef> {
  const base = await repo.readCommit(at, call)
  if (base === undefined || base.metaRange === '')
    throw new MissingError('publication/no-such-commit', `examine the hard fence: there is no commit ${at}`)
  const { metaRange, generation } = base
  const fields = { message: 'Canary', committer: 'perago', metadata: { 'publish.run': executionId } }
  return repo.writeCommit(
    { ...fields, metaRange, parents: [at], generation: generation + 1, createdAt: clock.now() },
    call,
  )
}
