/** Tags of one repository. They are made once and never moved. */

import { RefusedError } from '../base/errors.ts'
import type { CallOptions, TagOutcome, TagRequest } from '../publication/ports.ts'
import type { RepoContext } from './context.ts'
import { toTagged } from './readers.ts'

export async function createTag(
  { server, repository }: RepoContext,
  { tag, at }: TagRequest,
  { signal }: CallOptions = {},
): Promise<TagOutcome> {
  const target = { repository, tag, at }
  const json = { id: tag, ref: at }
  const making = { operation: 'createTag', path: { repository }, json, target, signal } as const
  if ((await server.call(making, () => undefined)).is === 'done') return { created: true }
  const path = { repository, tag }
  const found = await server.call({ operation: 'getTag', path, target, signal }, toTagged)
  if (found.is === 'done') return { created: false, at: found.value }
  throw new RefusedError(
    'lakefs/tag-vanished',
    `create tag ${tag} of ${repository}: it existed, and was deleted meanwhile`,
    { details: target, next: 'Somebody else creates and deletes tags of this name; choose another.' },
  )
}
