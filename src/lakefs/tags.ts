/** Tags of one repository. They are made once and never moved. */

import { RefusedError } from '../base/errors.ts'
import type { CallOptions, TagOutcome, TagRequest } from '../publication/ports.ts'
import type { RepoContext } from './context.ts'
import { toTagged } from './readers.ts'

export async function createTag(
  { client, repository }: RepoContext,
  request: TagRequest,
  options: CallOptions = {},
): Promise<TagOutcome> {
  const { tag, at } = request
  const target = { repository, tag, at }
  const made = await client.calls.json(
    { operation: 'createTag', target, signal: options.signal },
    (api, init) =>
      api.POST('/repositories/{repository}/tags', {
        ...init,
        params: { path: { repository } },
        body: { id: tag, ref: at },
      }),
    () => undefined,
  )
  if (made.is === 'done') return { created: true }
  const found = await client.calls.json(
    { operation: 'getTag', target, signal: options.signal },
    (api, init) =>
      api.GET('/repositories/{repository}/tags/{tag}', { ...init, params: { path: { repository, tag } } }),
    toTagged,
  )
  if (found.is === 'done') return { created: false, at: found.value }
  throw new RefusedError(
    'lakefs/tag-vanished',
    `create tag ${tag} of ${repository}: it was there, and is gone`,
    {
      details: target,
      next: 'Somebody else creates and deletes tags of this name; choose another.',
    },
  )
}
