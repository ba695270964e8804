/**
 * Finds on the branch what an earlier attempt of the same task has published, so that its retry can complete with the recorded
 * result in place of running the body again. The order never varies:
 *
 *   facts → publish fence → ledger of the head → its result → attempt fence and head again, side by side
 *
 * 1. Nothing is written; a claim that was left at the head is collapsed first, as by every reader.
 * 2. The publish fence decides without the ledger: only a commit directly above the input can be adopted.
 * 3. A commit of another task, of other programs or by hand is never adopted. One that says to be this task's own and does not
 *    prove it is refused, and the body does not run.
 */

import { errorKindOf } from '../base/errors.ts'
import type { BranchName, CommitRef } from '../base/ids.ts'
import type { Json } from '../base/json.ts'
import { decidePublication, PublishFenceError } from '../fences/publish-fence.ts'
import { NotAdoptedError } from './adoption-error.ts'
import type { AttemptAuthority } from './authority.ts'
import { untilSettled } from './branch-write.ts'
import { isOwn } from './commit-metadata.ts'
import { parseJson, readLedger, sha256Of, type Ledger, type RecordedResult } from './ledger.ts'
import { judgeSignature, type LedgerKeys } from './ledger-signature.ts'
import { PUBLICATION_LOOK_BACK_COMMITS } from './limits.ts'
import type { CommitRecord } from './ports.ts'
import { checkAuthority, openSession, readHead, type Session, type SessionOptions } from './session.ts'
import type { FenceStrength } from './strategy.ts'

export interface AdoptionRequest extends SessionOptions {
  readonly authority: AttemptAuthority
  readonly target: { readonly branch: BranchName; readonly inputRef: CommitRef }
  readonly ledgerKeys?: LedgerKeys | undefined
  /** Told each head of the branch that is judged. */
  readonly onHead?: (head: CommitRecord | undefined) => void
}

export interface Adoption {
  readonly action: 'adopted'
  readonly outputRef: CommitRef
  /** Of its publication. What cannot be shown to have been hard is called soft. */
  readonly strength: FenceStrength
  readonly result: Json
  /** The execution that published it. */
  readonly runId: string
}

/** `undefined`: there is no publication of this task to adopt, and the body has to run. */
export async function adopt(request: AdoptionRequest): Promise<Adoption | undefined> {
  const session = openSession(request)
  const { branch } = request.target
  const { adoption } = await untilSettled(session, branch, () => lookOnce(session, request))
  return adoption
}

/** `undefined`: the branch has moved meanwhile, so it is judged again. */
async function lookOnce(
  session: Session,
  request: AdoptionRequest,
): Promise<{ readonly adoption: Adoption | undefined } | undefined> {
  const { branch, inputRef } = request.target
  const head = await readHead(session, branch)
  request.onHead?.(head)
  const facts = { inputRef, head: head?.ref, headFirstParent: head?.parents[0] }
  // Whether something will change is not known yet; the rows of the table do not depend on it.
  const decision = decidePublication({ ...facts, diffIsEmpty: false })
  if (decision.action === 'refuse') await refuseBuried(session, request, facts)
  if (decision.action !== 'replace' || head === undefined || !isOwn(head.metadata, request.authority))
    return { adoption: undefined }
  const adoption = await session.steps.run(
    'read-ledger',
    () => readAdoption(session, request, head),
    ({ outputRef, runId }) => ({ outputRef, runId }),
  )
  return (await isStillTrue(session, branch, head.ref)) ? { adoption } : undefined
}

async function readAdoption(
  session: Session,
  { target, authority, ledgerKeys, repo }: AdoptionRequest,
  head: CommitRecord,
): Promise<Adoption> {
  const { ref: outputRef, metadata, parents } = head
  const reading = readLedger(metadata)
  if (reading.kind === 'none') throw new NotAdoptedError('no-ledger', { outputRef })
  if (reading.kind === 'unreadable')
    throw new NotAdoptedError('unreadable', { outputRef, problems: reading.problems })
  const verdict = judgeSignature(metadata, ledgerKeys)
  if (verdict !== 'valid') throw new NotAdoptedError(verdict, { outputRef })
  const { ledger } = reading
  const isHere =
    parents.length === 1 &&
    ledger.by.kind === authority.kind &&
    ledger.inputRef === target.inputRef &&
    ledger.branch === target.branch &&
    ledger.repository === repo.repository
  if (!isHere) throw new NotAdoptedError('elsewhere', { outputRef, ledger })
  const result = await readResult(session, ledger, outputRef)
  const strength = metadata['publish.expected_head'] === parents[0] ? 'hard' : 'soft'
  return { action: 'adopted', outputRef, strength, result, runId: ledger.runId }
}

async function readResult(
  { repo, repeat }: Session,
  { result }: Ledger,
  outputRef: CommitRef,
): Promise<Json> {
  if (result.kind === 'inline') return result.value
  if (result.kind === 'left-out') throw new NotAdoptedError('no-result', { outputRef, why: result.why })
  const record = await repeat((call) => repo.readCommit(result.ref, call))
  const parsed = parseRecord(record, result)
  if (parsed === undefined) throw new NotAdoptedError('result-lost', { outputRef, recordRef: result.ref })
  return parsed.value
}

function parseRecord(
  record: CommitRecord | undefined,
  { sha256 }: Extract<RecordedResult, { kind: 'kept' }>,
): { readonly value: Json } | undefined {
  const text = record?.metadata['publish.result']
  return text !== undefined && sha256Of(text) === sha256 ? parseJson(text) : undefined
}

/** The attempt may still act, and the head is still that commit. */
async function isStillTrue(session: Session, branch: BranchName, ref: CommitRef): Promise<boolean> {
  const checking = checkAuthority(session, 'before-adopting')
  const reading = readHead(session, branch)
  await Promise.allSettled([checking, reading])
  await checking
  return (await reading)?.ref === ref
}

/** An own publication with other commits above it: the body would run again, only to be refused after it. */
async function refuseBuried(
  { repo, repeat }: Session,
  { target: { branch, inputRef }, authority }: AdoptionRequest,
  facts: { readonly head: CommitRef | undefined; readonly headFirstParent: CommitRef | undefined },
): Promise<void> {
  const limits = { firstParent: true, limit: PUBLICATION_LOOK_BACK_COMMITS, stopAt: inputRef }
  const own = await repeat(async (call) => {
    try {
      for await (const commit of repo.log(branch, { ...call, ...limits }))
        if (commit.parents[0] === inputRef && isOwn(commit.metadata, authority)) return commit.ref
    } catch (error) {
      if (errorKindOf(error) !== 'missing') throw error
    }
    return undefined
  })
  if (own !== undefined)
    throw new PublishFenceError('branch-moved', { branch, inputRef, ...facts, publishedRef: own })
}
