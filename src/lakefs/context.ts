/** What every operation on one repository needs, and what a "not found" or an unclear refusal means. */

import {
  InvalidError,
  isPeragoError,
  MissingError,
  UnavailableError,
  type ErrorCode,
} from '../base/errors.ts'
import type { BranchName, CommitRef, RepositoryName } from '../base/ids.ts'
import type { CallOptions } from '../publication/ports.ts'
import { describe, quote, type Subject } from '../remote/failures.ts'
import type { LakefsConnection } from './client.ts'
import { LAKEFS_PATH_MAX_BYTES } from './limits.ts'
import { LAKEFS, type OperationName } from './operations.ts'
import { text, toCommit } from './readers.ts'

export interface RepoContext extends Pick<LakefsConnection, 'server'> {
  readonly lakefs: LakefsConnection
  readonly repository: RepositoryName
}

/** After a 404, which the server also answers when the repository itself is missing: throws if it is. */
export async function requireRepository(
  { lakefs, server, repository }: RepoContext,
  { signal }: CallOptions,
): Promise<void> {
  const call = { operation: 'getRepository', path: { repository }, signal } as const
  if ((await server.call(call, (json) => text(json.id, 'id'))).is === 'done') return
  await requireLakefs(lakefs, { signal })
  throw new MissingError('lakefs/no-such-repository', `repository ${repository}: it does not exist`, {
    details: { repository },
    next: 'Create the repository, or correct its name.',
  })
}

const UNREADABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['lakefs/forbidden', 'lakefs/unauthorized'])

/** Another server may know nothing of all this, in the same words. One that does not let this key read its configuration may be lakeFS. */
async function requireLakefs(lakefs: LakefsConnection, options: CallOptions): Promise<void> {
  try {
    await lakefs.capabilities(options)
  } catch (error) {
    if (!isPeragoError(error) || !UNREADABLE.has(error.code)) throw error
  }
}

/** The same for what is missing at a ref: throws if the ref or the repository does not exist. */
export async function requireRef(
  context: RepoContext,
  ref: CommitRef | BranchName,
  options: CallOptions,
): Promise<void> {
  const { server, repository } = context
  const path = { repository, commitId: ref }
  const call = { operation: 'getCommit', path, target: { repository, ref }, signal: options.signal } as const
  if ((await server.call(call, toCommit)).is === 'done') return
  await requireRepository(context, options)
  throw new MissingError('lakefs/no-such-ref', `ref ${ref} of ${repository}: it does not exist`, {
    details: { repository, ref },
    next: 'Check the name of the branch or the id of the commit.',
  })
}

export function noSuchBranch({ repository }: RepoContext, branch: BranchName): MissingError {
  return new MissingError('lakefs/no-such-branch', `branch ${branch} of ${repository}: it does not exist`, {
    details: { repository, branch },
    next: 'Create the branch, or correct its name.',
  })
}

/** Nothing explains a refusal any more: the branch changed in between. Nothing was done. */
export function unexplained(call: Subject<OperationName>, message: string): UnavailableError {
  return new UnavailableError(
    'lakefs/unexplained-refusal',
    `${describe(LAKEFS, call)}: the server answered 400 (${message}), and the present state does not explain it`,
    { details: { ...call.target, status: 400 }, next: 'Read the branch and decide again.' },
  )
}

export function checkPath(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes >= 1 && bytes <= LAKEFS_PATH_MAX_BYTES && isWellFormed(path)) return
  throw new InvalidError(
    'lakefs/bad-path',
    `use ${JSON.stringify(quote(path))} as a path: it has ${bytes} bytes`,
    { next: `A path is 1 to ${LAKEFS_PATH_MAX_BYTES} bytes of well-formed UTF-8.` },
  )
}

/** Half of a surrogate pair cannot be written as UTF-8; it would silently become another character. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text
}
