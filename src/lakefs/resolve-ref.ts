/** The commit that a name stands for, as the server resolves it: for people who type one. Programs pass commit ids. */

import { InvalidError } from '../base/errors.ts'
import type { CommitRef, RepositoryName } from '../base/ids.ts'
import type { CallOptions } from '../publication/ports.ts'
import { quote } from '../remote/failures.ts'
import { connectionOf, type LakefsClient } from './client.ts'
import { readCommit } from './commits.ts'

/**
 * Of a branch, a tag, a commit id or its first digits (at least four), or an expression such as `main~1`; `undefined` when
 * nothing has that name.
 */
export async function resolveRef(
  client: LakefsClient,
  { repository, ref }: { readonly repository: RepositoryName; readonly ref: string },
  options: CallOptions = {},
): Promise<CommitRef | undefined> {
  if (!NAME.test(ref)) {
    throw new InvalidError(
      'lakefs/bad-ref',
      `read ${JSON.stringify(quote(ref))} as a name of a commit: it has characters that none has`,
      { next: 'Name a branch, a tag, a commit id or the first digits of one.' },
    )
  }
  const lakefs = connectionOf(client)
  // The server takes any name where it takes an id.
  const found = await readCommit({ lakefs, server: lakefs.server, repository }, ref as CommitRef, options)
  return found?.ref
}

/** `$` asks for what is not committed, which is no commit; dots alone would be another path. */
const NAME = /^(?!\.+$)[\w.~^@-]+$/
