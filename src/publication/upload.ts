/** Sends the changes to the staging branch: many at once, as many as the server bears, and all or none by the end. */

import { setMaxListeners } from 'node:events'
import { createAdaptiveLimit, type AdaptiveLimit } from '../base/adaptive-limit.ts'
import { invariant } from '../base/errors.ts'
import type { BranchName } from '../base/ids.ts'
import { PUBLICATION_UPLOADS_IN_FLIGHT } from './limits.ts'
import type { PlannedChanges, PlannedUpload } from './planned-changes.ts'
import type { CallOptions, VersionedRepo } from './ports.ts'
import { repeatWhenLost, type RepeatOptions } from './repeat.ts'

export interface UploadRequest {
  readonly repo: VersionedRepo
  readonly branch: BranchName
  readonly changes: PlannedChanges
  readonly limit: AdaptiveLimit | undefined
  readonly repeat: RepeatOptions
}

/** Path → the checksum the server gave for what it stored. */
export type UploadedChecksums = ReadonlyMap<string, string>

/** After the first failure nothing more is begun, what is under way is aborted and awaited, and that failure is thrown. */
export async function uploadAll(request: UploadRequest): Promise<UploadedChecksums> {
  const { repo, branch, changes, limit = createAdaptiveLimit() } = request
  const checksums = new Map<string, string>()
  const stop = new AbortController()
  const outer = request.repeat.signal
  const signal = outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal])
  // Every lane waits on it; that is no leak.
  setMaxListeners(0, signal)
  const repeat = { ...request.repeat, signal }
  const send = async (upload: PlannedUpload): Promise<void> => {
    const { path } = upload
    const stored = await repeatWhenLost(
      () => limit.run(() => writeObject({ repo, branch, upload }, { signal }), { signal }),
      repeat,
    )
    checksums.set(path, stored)
  }
  const deletion = async (): Promise<void> => {
    if (changes.deletes.length > 0)
      await repeatWhenLost(() => repo.deleteObjects(branch, changes.deletes, { signal }), repeat)
  }

  // A few lanes draw from one row, so that a hundred thousand files are not a hundred thousand promises.
  const row = changes.uploads.values()
  const lane = async (): Promise<void> => {
    for (const upload of row) await send(upload)
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
  await Promise.all([guarded(deletion), ...Array.from({ length: lanes }, () => guarded(lane))])
  // The first to fail stopped the others, whose failures only repeat its reason.
  if (failures.length > 0) throw failures[0]
  return checksums
}

async function writeObject(
  request: { readonly repo: VersionedRepo; readonly branch: BranchName; readonly upload: PlannedUpload },
  options: CallOptions,
): Promise<string> {
  const { path, body, contentType, metadata } = request.upload
  const outcome = await request.repo.write(
    {
      branch: request.branch,
      path,
      body,
      ...(contentType !== undefined && { contentType }),
      ...(metadata !== undefined && { metadata }),
    },
    options,
  )
  invariant(outcome.written, 'an unconditional write is answered by what was written')
  return outcome.object.checksum
}
