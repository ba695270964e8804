/** Sends the changes to the staging branch, as many at once as the server can take. All are sent, or it fails. */

import { createAdaptiveLimit } from '../base/adaptive-limit.ts'
import { invariant } from '../base/errors.ts'
import { forEachBounded } from '../base/for-each-bounded.ts'
import { PUBLICATION_UPLOADS_IN_FLIGHT } from './limits.ts'
import type { PlannedChanges, PlannedUpload, StoredChecksums } from './planned-changes.ts'
import type { PublicationRun } from './publication.ts'

export async function uploadAll(run: PublicationRun): Promise<StoredChecksums> {
  const { repo, stagingBranch: branch, repeat, request } = run
  const { changes, uploadLimit = createAdaptiveLimit() } = request
  const checksums = new Map<string, string>()
  const filesTotal = changes.uploads.length
  const bytesTotal = changes.uploads.reduce((sum, { body }) => sum + body.sizeBytes, 0)
  let bytes = 0
  const upload = async (file: PlannedUpload, signal: AbortSignal): Promise<void> => {
    const { path, body, contentType, metadata } = file
    const write = { branch, path, body, contentType, metadata }
    const outcome = await repeat((call) => uploadLimit.run(() => repo.write(write, call), call), signal)
    invariant(outcome.written, 'an unconditional write is answered by what was written')
    checksums.set(path, outcome.object.checksum)
    bytes += body.sizeBytes
    request.onUploaded?.({ files: checksums.size, bytes, filesTotal, bytesTotal })
  }
  const options = { limit: PUBLICATION_UPLOADS_IN_FLIGHT, signal: run.call.signal }
  await forEachBounded(requestsOf(changes), options, (item, signal) =>
    'path' in item
      ? upload(item, signal)
      : repeat((call) => repo.deleteObjects(branch, item.deletes, call), signal),
  )
  return checksums
}

function* requestsOf({
  uploads,
  deletes,
}: PlannedChanges): Iterable<PlannedUpload | Pick<PlannedChanges, 'deletes'>> {
  if (deletes.length > 0) yield { deletes }
  yield* uploads
}
