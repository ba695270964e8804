/** Fills a planned directory with files: many small ones and a few large ones in parallel. */

import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { followSignals } from '../../base/abort-signals.ts'
import { DefectError } from '../../base/errors.ts'
import {
  WORKSPACE_DOWNLOADS_IN_FLIGHT,
  WORKSPACE_LARGE_DOWNLOADS_IN_FLIGHT,
  WORKSPACE_SMALL_FILE_MAX_BYTES,
} from '../limits.ts'
import { fillFiles } from './fill-files.ts'
import { readFileFacts } from '../comparing/file-facts.ts'
import type { FileProvider } from './file-provider.ts'
import type { Transferred } from '../../base/transferred.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import { looksLikeMd5, type Manifest, type ManifestRecord } from '../manifest.ts'
import type { SourceObject } from '../ports.ts'

export interface ProvideFilesOptions {
  readonly provider: FileProvider
  /** How many small files are provided in parallel. */
  readonly inFlight?: number | undefined
  /** Whether to record the MD5 of every file, also where the checksum looks like one. */
  readonly wantsAllMd5?: boolean
  readonly signal?: AbortSignal | undefined
  /** Called after each file. */
  readonly onProvided?: ((so: Transferred) => void) | undefined
}

/** The directories exist already. Records the facts of each file in the manifest. */
export async function provideFiles(
  tree: string,
  manifest: ManifestRecord,
  options: ProvideFilesOptions,
): Promise<void> {
  const { provider, wantsAllMd5, signal: outer, onProvided } = options
  let files = 0
  let bytes = 0
  const wantsMd5 = ({ checksum }: SourceObject): boolean => wantsAllMd5 === true || !looksLikeMd5(checksum)
  const count = (index: number): void => {
    files++
    bytes += manifest.sizeBytes(index)
    onProvided?.({ files, bytes, filesTotal: manifest.count, bytesTotal: manifest.totalBytes })
  }
  const provide = async (index: number, signal: AbortSignal): Promise<void> => {
    const object = manifest.entry(index)
    const path = join(tree, object.path)
    const isWanted = wantsMd5(object)
    const provided = await provider.provide({ object, path, wantsMd5: isWanted, signal })
    recordFile(manifest, index, path)
    if (isWanted && provided.md5 !== undefined) manifest.recordMd5(index, provided.md5)
    if (provided.isCached === true) manifest.recordCached(index)
    count(index)
  }
  const isThere = await fillFiles(tree, manifest, { ...options, wantsMd5, onFilled: count })
  const inFlight = options.inFlight ?? WORKSPACE_DOWNLOADS_IN_FLIGHT
  const missing = (isWanted: (sizeBytes: number) => boolean): IterableIterator<number> =>
    indexesOf(manifest, (index) => !isThere(index) && isWanted(manifest.sizeBytes(index)))
  await allOrNone(outer, [
    (signal) => forEachBounded(missing(isSmall), { limit: inFlight, signal }, provide),
    (signal) => {
      const limit = Math.min(inFlight, WORKSPACE_LARGE_DOWNLOADS_IN_FLIGHT)
      const isLarge = (sizeBytes: number): boolean => !isSmall(sizeBytes)
      return forEachBounded(missing(isLarge), { limit, signal }, provide)
    },
  ])
}

function isSmall(sizeBytes: number): boolean {
  return sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES
}

/** The first failure aborts the others; none of them runs any more when this returns. */
async function allOrNone(
  outer: AbortSignal | undefined,
  works: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  outer?.throwIfAborted()
  const stop = followSignals(outer)
  setMaxListeners(0, stop.signal)
  try {
    const stopping = (error: unknown): void => stop.abort(error)
    await Promise.all(works.map((work) => work(stop.signal).catch(stopping)))
  } finally {
    stop.release()
  }
  if (stop.signal.aborted) throw stop.signal.reason
}

function recordFile(manifest: ManifestRecord, index: number, path: string): void {
  const facts = readFileFacts(path)
  const sizeBytes = manifest.sizeBytes(index)
  if (facts?.sizeBytes === sizeBytes) manifest.recordFacts(index, facts)
  else {
    const { key } = manifest.entry(index)
    throw new DefectError(
      'workspace/not-provided',
      `lay out ${JSON.stringify(key)}: there should be a file of ${sizeBytes} bytes, and there is ` +
        (facts === undefined ? 'none' : `one of ${facts.sizeBytes}`),
      { details: { key, sizeBytes } },
    )
  }
}

function* indexesOf(manifest: Manifest, isWanted: (index: number) => boolean): IterableIterator<number> {
  for (let index = 0; index < manifest.count; index++) if (isWanted(index)) yield index
}
