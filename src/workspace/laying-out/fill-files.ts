/** Where there is much to fetch, the source fills what it can; the rest is provided file by file. */

import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ManifestRecord } from '../manifest.ts'
import { WORKSPACE_FILL_BYTES_MIN, WORKSPACE_FILL_FILES_MIN } from '../limits.ts'
import type { FilledFile, SourceObject, WantedFile } from '../ports.ts'
import type { FileProvider } from './file-provider.ts'

export interface FillFilesOptions {
  readonly provider: FileProvider
  readonly inFlight?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly wantsMd5: (object: SourceObject) => boolean
  /** Called after each file. */
  readonly onFilled: (index: number) => void
}

/** Whether the file with an index is there, its facts in the manifest. */
export async function fillFiles(
  tree: string,
  manifest: ManifestRecord,
  { provider, inFlight, signal, wantsMd5, onFilled }: FillFilesOptions,
): Promise<(index: number) => boolean> {
  const { fill } = provider
  if (fill === undefined || !isMuch(manifest.count, manifest.totalBytes)) return () => false
  const far = await findFar(manifest, provider, signal)
  const bytes = far.reduce((sum, index) => sum + manifest.sizeBytes(index), 0)
  if (!isMuch(far.length, bytes)) return () => false
  const isThere = new Uint8Array(manifest.count)
  const onFile = (file: FilledFile): void => {
    const { id: index, md5 } = file
    manifest.recordFacts(index, file)
    if (md5 !== undefined) manifest.recordMd5(index, md5)
    isThere[index] = 1
    onFilled(index)
  }
  await fill(wantedFiles(), onFile, { files: far.length, bytes, inFlight, signal })
  return (index) => isThere[index] === 1

  function* wantedFiles(): IterableIterator<WantedFile> {
    for (const id of far) {
      const object = manifest.entry(id)
      const { key, sizeBytes, checksum } = object
      yield { id, key, path: join(tree, object.path), sizeBytes, checksum, wantsMd5: wantsMd5(object) }
    }
  }
}

function isMuch(files: number, bytes: number): boolean {
  return files >= WORKSPACE_FILL_FILES_MIN || bytes >= WORKSPACE_FILL_BYTES_MIN
}

/** A look at each takes microseconds, so that a hundred thousand of them are made in between other work. */
async function findFar(
  manifest: ManifestRecord,
  { isNear }: FileProvider,
  signal: AbortSignal | undefined,
): Promise<Uint32Array> {
  const far = new Uint32Array(manifest.count)
  let count = 0
  for (let index = 0; index < manifest.count; index++) {
    if (isNear?.(manifest.entry(index)) !== true) far[count++] = index
    if (isNear === undefined || index % LOOKS_IN_A_ROW !== 0) continue
    await nextTurn()
    signal?.throwIfAborted()
  }
  return far.subarray(0, count)
}

const LOOKS_IN_A_ROW = 512
