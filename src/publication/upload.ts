/** Sends the changes to the staging branch, as many at once as the server can take. All are sent, or it fails. */

import { createAdaptiveLimit, type AdaptiveLimit } from '../base/adaptive-limit.ts'
import { invariant } from '../base/errors.ts'
import { forEachBounded } from '../base/for-each-bounded.ts'
import {
  PUBLICATION_LARGE_UPLOAD_BYTES,
  PUBLICATION_LARGE_UPLOADS_IN_FLIGHT,
  PUBLICATION_UPLOADS_IN_FLIGHT,
  PUBLICATION_UPLOADS_IN_FLIGHT_AT_FIRST,
} from './limits.ts'
import type { PlannedChanges, PlannedUpload, StoredChecksums } from './planned-changes.ts'
import type { WriteOutcome } from './ports.ts'
import type { PublicationRun } from './publication.ts'

export async function uploadAll(run: PublicationRun): Promise<StoredChecksums> {
  const { repo, stagingBranch: branch, repeat, request } = run
  const { changes, uploadLimit = createUploadLimit() } = request
  // Each of them holds some blocks of its file in memory.
  const large = createAdaptiveLimit({
    max: PUBLICATION_LARGE_UPLOADS_IN_FLIGHT,
    initial: PUBLICATION_LARGE_UPLOADS_IN_FLIGHT,
    isOverload: () => false,
  })
  const checksums = new Map<string, string>()
  const filesTotal = changes.uploads.length
  const bytesTotal = changes.uploads.reduce((sum, { body }) => sum + body.sizeBytes, 0)
  let bytes = 0
  const upload = async (file: PlannedUpload, signal: AbortSignal): Promise<void> => {
    const { path, body, contentType, metadata } = file
    const write = { branch, path, body, contentType, metadata }
    const send = (): Promise<WriteOutcome> =>
      repeat((call) => uploadLimit.run(() => repo.write(write, call), call), signal)
    const isLarge = body.sizeBytes >= PUBLICATION_LARGE_UPLOAD_BYTES
    const outcome = await (isLarge ? large.run(send, { signal }) : send())
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

/** How many uploads may run at once, of all publications that share it. */
export function createUploadLimit(): AdaptiveLimit {
  return createAdaptiveLimit({
    max: PUBLICATION_UPLOADS_IN_FLIGHT,
    initial: PUBLICATION_UPLOADS_IN_FLIGHT_AT_FIRST,
  })
}

function* requestsOf({
  uploads,
  deletes,
}: PlannedChanges): Iterable<PlannedUpload | Pick<PlannedChanges, 'deletes'>> {
  if (deletes.length > 0) yield { deletes }
  yield* uploads
}
