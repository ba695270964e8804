/** Sends the changes to the staging branch, as many at once as the server can take. All are sent, or it fails. */

import { setMaxListeners } from 'node:events'
import { followSignals } from '../base/abort-signals.ts'
import { createAdaptiveLimit } from '../base/adaptive-limit.ts'
import { invariant } from '../base/errors.ts'
import { PUBLICATION_UPLOADS_IN_FLIGHT } from './limits.ts'
import type { PlannedUpload, StoredChecksums } from './planned-changes.ts'
import type { WriteRequest } from './ports.ts'
import type { PublicationRun } from './publication.ts'
import { repeatWhenLost } from './repeat.ts'

/** After the first failure nothing more is begun, what is under way is aborted and awaited, and that failure is thrown. */
export async function uploadAll({
  repo,
  stagingBranch,
  request,
  ...run
}: PublicationRun): Promise<StoredChecksums> {
  const { changes, uploadLimit = createAdaptiveLimit() } = request
  const checksums = new Map<string, string>()
  const stop = followSignals(run.call.signal)
  const { signal } = stop
  // Every lane listens to it; that is no leak.
  setMaxListeners(0, signal)
  const repeat = { ...run.repeat, signal }
  const send = async (upload: PlannedUpload): Promise<void> => {
    const write = writeRequest(stagingBranch, upload)
    const outcome = await repeatWhenLost(
      () => uploadLimit.run(() => repo.write(write, { signal }), { signal }),
      repeat,
    )
    invariant(outcome.written, 'an unconditional write is answered by what was written')
    checksums.set(upload.path, outcome.object.checksum)
  }
  const deleteAll = async (): Promise<void> => {
    if (changes.deletes.length > 0)
      await repeatWhenLost(() => repo.deleteObjects(stagingBranch, changes.deletes, { signal }), repeat)
  }
  // The lanes share one iterator, so that a hundred thousand files are not a hundred thousand promises.
  const uploads = changes.uploads.values()
  const sendNext = async (): Promise<void> => {
    for (const upload of uploads) await send(upload)
  }
  const lanes = Math.min(PUBLICATION_UPLOADS_IN_FLIGHT, changes.uploads.length)
  const failures: unknown[] = []
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      failures.push(error)
      stop.abort(error)
    }
  }
  await Promise.all([guarded(deleteAll), ...Array.from({ length: lanes }, () => guarded(sendNext))])
  stop.release()
  // The first to fail stopped the others, whose failures only repeat its reason.
  if (failures.length > 0) throw failures[0]
  return checksums
}

function writeRequest(branch: WriteRequest['branch'], upload: PlannedUpload): WriteRequest {
  const { path, body, contentType, metadata } = upload
  return {
    ...{ branch, path, body },
    ...(contentType !== undefined && { contentType }),
    ...(metadata !== undefined && { metadata }),
  }
}
