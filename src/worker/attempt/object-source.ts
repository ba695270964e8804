/** Where the files of a workspace come from: the objects of one commit of a repository. */

import { MissingError } from '../../base/errors.ts'
import type { CommitRef } from '../../base/ids.ts'
import type { FileDownload, VersionedRepo } from '../../publication/ports.ts'
import type { ObjectSource, WantedFile } from '../../workspace/ports.ts'

/** What happens to a branch meanwhile does not show. */
export function openObjectSource(repo: VersionedRepo, ref: CommitRef): ObjectSource {
  const download = repo.download?.bind(repo)
  const downloadFiles = repo.downloadFiles?.bind(repo)
  const source: ObjectSource = {
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
  }
  return {
    ...source,
    ...(download && {
      async download(key, open, options) {
        if ((await download(ref, key, open, options)) === undefined) throw objectGone(key, ref)
      },
    }),
    ...(downloadFiles && {
      fill: (files, onFile, options) => downloadFiles(ref, namedAsDownloads(files), onFile, options),
    }),
  }
}

function* namedAsDownloads(files: Iterable<WantedFile>): IterableIterator<FileDownload> {
  for (const { key, path: file, ...rest } of files) yield { ...rest, path: key, file }
}

function objectGone(key: string, ref: CommitRef): MissingError {
  return new MissingError(
    'publication/object-gone',
    `read "${key}" of ${ref}: it was listed but does not exist`,
    {
      details: { key, ref },
      next: 'See whether garbage collection has removed objects of the commit.',
    },
  )
}
