/** The two ends of a workspace as publication meets them: where its files come from, and what it changed. */

import { MissingError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import type { ChangeSet } from '../workspace/comparing/diff.ts'
import type { ObjectSource } from '../workspace/ports.ts'
import type { PlannedChanges } from './planned-changes.ts'
import type { VersionedRepo } from './ports.ts'

/** The objects of one commit; what a branch does meanwhile does not show. */
export function openObjectSource(repo: VersionedRepo, ref: CommitRef): ObjectSource {
  const download = repo.download?.bind(repo)
  return {
    async *list(prefix, options) {
      for await (const entry of repo.list(ref, { prefix, ...options })) {
        if (entry.kind !== 'object') continue
        const { path, checksum, sizeBytes, contentType, metadata, address } = entry
        const object = { key: path, checksum, sizeBytes, contentType, metadata }
        yield address === undefined ? object : { ...object, address }
      }
    },
    async read(key, options) {
      const opened = await repo.read(ref, key, options)
      if (opened !== undefined) return opened.body
      throw objectGone(key, ref)
    },
    ...(download === undefined
      ? {}
      : {
          async download(key, open, options) {
            if ((await download(ref, key, open, options)) === undefined) throw objectGone(key, ref)
          },
        }),
  }
}

function objectGone(key: string, ref: CommitRef): MissingError {
  return new MissingError(
    'publication/object-gone',
    `read "${key}" of ${ref}: it was listed and is not there`,
    {
      details: { key, ref },
      next: 'See whether garbage collection has removed objects of this commit.',
    },
  )
}

/** What a workspace changed, as a publication takes it. */
export function planChanges({ uploads, deletes }: Pick<ChangeSet, 'uploads' | 'deletes'>): PlannedChanges {
  return {
    uploads: uploads.map((file) => ({
      path: file.key,
      body: {
        sizeBytes: file.sizeBytes,
        open: () => file.open(),
        ...(file.md5 === undefined ? {} : { md5: file.md5 }),
      },
      contentType: file.contentType,
      metadata: file.metadata,
    })),
    deletes,
  }
}
