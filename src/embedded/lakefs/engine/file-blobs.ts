/**
 * Gives contents files of their own, many at a time: the files are synced in parallel, then named, then one sync of the
 * directory serves all. A file gets its final name after its own bytes were synced.
 */

import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { forEachBounded } from '../../../base/for-each-bounded.ts'
import { EMBEDDED_BLOB_FILES_IN_FLIGHT } from '../../limits.ts'
import { isIntact } from './blob-check.ts'
import type { DirectorySyncer } from './directory-syncer.ts'

export interface NamedBytes {
  readonly sha256: string
  readonly bytes: Buffer
}

export interface BlobPlaces {
  readonly objectsDir: string
  readonly tempDir: string
  readonly syncer: DirectorySyncer
}

/** Resolves when all are durable under their names. */
export async function fileBlobs(places: BlobPlaces, records: Iterable<NamedBytes>): Promise<void> {
  await forEachBounded(records, { limit: EMBEDDED_BLOB_FILES_IN_FLIGHT }, (record) =>
    fileBlob(places, record),
  )
  // Also for those that were there: a process that was killed may have renamed them and not synced the directory.
  await places.syncer.sync()
}

async function fileBlob({ objectsDir, tempDir }: BlobPlaces, { sha256, bytes }: NamedBytes): Promise<void> {
  const file = join(objectsDir, sha256)
  if (await isIntact({ file, sha256 }, bytes.length)) return
  const tempFile = join(tempDir, randomBytes(16).toString('hex'))
  try {
    const handle = await open(tempFile, 'wx', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(tempFile, file)
  } catch (error) {
    await rm(tempFile, { force: true })
    throw error
  }
}
