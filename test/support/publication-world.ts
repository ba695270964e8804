// A branch, an attempt and a plan, ready to be published: what the tests of publication vary one thing at a time.
import { branchName, type BranchName, type CommitRef } from '../../src/base/ids.ts'
import type { AttemptSnapshot, FreshAttempt, TaskId, WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import type { AttemptAuthority } from '../../src/publication/authority.ts'
import type { PlannedChanges, PlannedUpload } from '../../src/publication/planned-changes.ts'
import type { CommitRecord, UploadBody, VersionedRepo } from '../../src/publication/ports.ts'
import type { PublicationRequest } from '../../src/publication/publication.ts'
import type { PublicationEvent } from '../../src/publication/steps.ts'

export const TARGET = branchName('main')
export const PREFIX = 'features/'

export function attemptOf(overrides: Partial<AttemptSnapshot> = {}): AttemptSnapshot {
  return {
    taskId: 'task-1' as TaskId,
    workflowId: 'workflow-1' as WorkflowId,
    retryCount: 0,
    pollCount: 1,
    startTimeMs: 1_700_000_000_000,
    workerId: 'worker-1-claim-1',
    ...overrides,
  }
}

/** What the queue says of an attempt that is still the one it waits for. */
export function freshOf(attempt: AttemptSnapshot): FreshAttempt {
  return { task: { ...attempt, status: 'IN_PROGRESS' }, workflow: 'RUNNING' }
}

export function bodyOf(text: string): UploadBody {
  const bytes = Buffer.from(text)
  return { sizeBytes: bytes.byteLength, open: () => bytes }
}

export function uploadOf(path: string, text: string): PlannedUpload {
  return { path, body: bodyOf(text) }
}

export const NO_CHANGES: PlannedChanges = { uploads: [], deletes: [] }

export type AttemptPublication = PublicationRequest & { readonly authority: AttemptAuthority }

export interface Recorded {
  readonly request: AttemptPublication
  readonly events: PublicationEvent[]
  /** The steps in the order in which they ended. */
  readonly steps: () => string[]
}

/** One changed file, an attempt that is current, and everything that happens written down. */
export function publicationOf(
  repo: VersionedRepo,
  inputRef: CommitRef,
  overrides: Partial<Omit<PublicationRequest, 'authority'>> & {
    readonly attempt?: Partial<AttemptSnapshot>
    readonly authority?: Partial<AttemptAuthority>
  } = {},
): Recorded {
  const { attempt: changed, authority, ...rest } = overrides
  const attempt = attemptOf(changed)
  const events: PublicationEvent[] = []
  const request: AttemptPublication = {
    repo,
    target: { branch: TARGET, inputRef, prefix: PREFIX },
    changes: { uploads: [uploadOf(`${PREFIX}a.txt`, `a of ${attempt.retryCount}`)], deletes: [] },
    authority: {
      kind: 'attempt',
      attempt,
      readFresh: () => Promise.resolve(freshOf(attempt)),
      referenceTaskName: 'build',
      seq: 1,
      iteration: 0,
      executionId: `execution-${attempt.taskId}-${attempt.retryCount}`,
      ...authority,
    },
    observer: (event) => events.push(event),
    ...rest,
  }
  return { request, events, steps: () => events.map(({ step }) => step) }
}

export function withAuthority(
  request: AttemptPublication,
  changes: Partial<AttemptAuthority>,
): AttemptPublication {
  return { ...request, authority: { ...request.authority, ...changes } }
}

export async function logOf(
  repo: VersionedRepo,
  from: BranchName | CommitRef = TARGET,
): Promise<CommitRecord[]> {
  const commits: CommitRecord[] = []
  for await (const commit of repo.log(from, { firstParent: true })) commits.push(commit)
  return commits
}

export async function filesOf(
  repo: VersionedRepo,
  at: BranchName | CommitRef = TARGET,
): Promise<Record<string, string>> {
  const files: Record<string, string> = {}
  for await (const entry of repo.list(at)) {
    if (entry.kind !== 'object') continue
    const opened = await repo.read(at, entry.path)
    const parts: Buffer[] = []
    for await (const part of opened?.body ?? []) parts.push(part as Buffer)
    files[entry.path] = Buffer.concat(parts).toString()
  }
  return files
}

export async function stagingBranchesOf(repo: VersionedRepo): Promise<BranchName[]> {
  const found: BranchName[] = []
  for await (const { branch } of repo.listBranches({ prefix: 'perago-' }))
    if (/^perago-(staging|actor)-/.test(branch)) found.push(branch)
  return found
}

/** What a rejected promise was rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}
