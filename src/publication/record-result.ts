/**
 * Where the result of a run is recorded. A small one is in the metadata of the commit; a larger one in that of a record: a
 * commit with the tree of the input that no branch holds, so that it is neither part of anybody's data nor read with a branch.
 */

import { errorKindOf, InvalidError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { describeAuthority } from './authority.ts'
import { describeCommit, type MetadataKey } from './commit-metadata.ts'
import { sha256Of, writeLedger, type RecordedResult, type ResultOmission } from './ledger.ts'
import { signLedger } from './ledger-signature.ts'
import { LEDGER_INLINE_MAX_BYTES, LEDGER_RESULT_MAX_BYTES } from './limits.ts'
import type { DetachedCommit } from './ports.ts'
import type { PublicationRun } from './publication.ts'

/** The run with the metadata of its commits. Throws before anything is staged where a result must be recorded and is not. */
export async function withLedger(run: PublicationRun): Promise<PublicationRun> {
  const { authority, repo, request, inputRef } = run
  const { target, ledgerKeys, result: given } = request
  const result = await record(run)
  if (given?.isRequired === true && result.kind === 'left-out') throw notRecorded(run, result.why)
  const { repository } = repo
  const ledger = writeLedger({ authority, repository, branch: target.branch, inputRef, result })
  const metadata = { ...request.commit?.metadata, ...ledger }
  return { ...run, metadata: ledgerKeys === undefined ? metadata : signLedger(metadata, ledgerKeys) }
}

async function record(run: PublicationRun): Promise<RecordedResult> {
  const { result } = run.request
  if (result === undefined) return { kind: 'left-out', why: 'not-given' }
  if (result.isSecret === true) return { kind: 'left-out', why: 'secret' }
  const text = JSON.stringify(result.value)
  const bytes = Buffer.byteLength(text)
  if (bytes <= LEDGER_INLINE_MAX_BYTES) return { kind: 'inline', value: result.value }
  if (bytes > LEDGER_RESULT_MAX_BYTES) return { kind: 'left-out', why: 'too-large' }
  try {
    const ref = await run.steps.run(
      'record-result',
      () => writeRecord(run, text),
      (written) => ({ bytes, ref: written }),
    )
    if (ref !== undefined) return { kind: 'kept', ref, sha256: sha256Of(text) }
  } catch (error) {
    // This server, or these permissions, let no commit be written without a branch. The step was reported.
    const kind = errorKindOf(error)
    if (kind !== 'refused' && kind !== 'missing' && kind !== 'invalid') throw error
  }
  return { kind: 'left-out', why: 'no-place' }
}

async function writeRecord(run: PublicationRun, text: string): Promise<CommitRef | undefined> {
  const { repo, inputRef, repeat, clock } = run
  const input = await repeat((call) => repo.readCommit(inputRef, call))
  // The first commit of a repository has no tree that could be named.
  if (input === undefined || input.metaRange === '') return undefined
  const { generation, metaRange } = input
  const commit = recordOf(run, text, { generation, metaRange, createdAt: clock.now() })
  // The same fields twice are one commit.
  return repeat((call) => repo.writeCommit(commit, call))
}

function recordOf(
  { authority, inputRef }: PublicationRun,
  text: string,
  { metaRange, generation, createdAt }: Pick<DetachedCommit, 'metaRange' | 'generation' | 'createdAt'>,
): DetachedCommit {
  return {
    message: `Result of ${describeAuthority(authority)}`,
    committer: 'perago',
    parents: [inputRef],
    metaRange,
    generation: generation + 1,
    createdAt,
    metadata: {
      ...describeCommit(authority, inputRef),
      ['publish.result' satisfies MetadataKey]: text,
    },
  }
}

function notRecorded({ request }: PublicationRun, why: ResultOmission): InvalidError {
  return new InvalidError(
    'publication/result-not-recorded',
    `publish on branch "${request.target.branch}": the task adopts its publications, and its result cannot be recorded (${why})`,
    {
      details: { why },
      next: 'Give back less, write the rest into the workspace; or let the task replace its publications.',
    },
  )
}
