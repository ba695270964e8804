/**
 * Many objects into files, by threads with connections of their own: for small objects what surrounds a request takes longer
 * than the request, and the MD5 of large ones takes longer than fetching them.
 *
 * A thread takes the one answer that is expected. Whatever else happens to an object is left to the ordinary download, which
 * alone tries again and knows what a failure means.
 */

import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { abortReason } from '../base/clock.ts'
import { entryUrl } from '../base/module-entry.ts'
import type { CommitRef } from '../base/ids.ts'
import type { DownloadedFile, DownloadFilesOptions, FileDownload } from '../publication/ports.ts'
import { looksLikeMd5 } from './bodies.ts'
import type { RepoContext } from './context.ts'
import type { FetchFile, FetchServer } from './fetch-lane.ts'
import type { FetchReport, FetchThreadData } from './fetch-thread.ts'
import {
  LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES,
  LAKEFS_FETCH_AHEAD_FILES,
  LAKEFS_FETCH_BYTES_PER_THREAD,
  LAKEFS_FETCH_CONNECTIONS_MAX,
  LAKEFS_FETCH_FILES_PER_THREAD,
  LAKEFS_FETCH_LARGE_AT_ONCE,
  LAKEFS_FETCH_SMALL_MAX_BYTES,
  LAKEFS_FETCH_THREADS_MAX,
} from './limits.ts'

export async function downloadFiles(
  context: RepoContext,
  at: CommitRef,
  files: Iterable<FileDownload>,
  onFile: (file: DownloadedFile) => void,
  options: DownloadFilesOptions,
): Promise<void> {
  const { server, lakefs } = context
  const { signal, inFlight = LAKEFS_FETCH_CONNECTIONS_MAX } = options
  const { presign, checksumIsMd5 } = await lakefs.capabilities(options)
  const from = serverOf(context, at)
  const places = await server.takePlaces(Math.min(inFlight, LAKEFS_FETCH_CONNECTIONS_MAX), signal)
  try {
    const threads = Math.min(threadsFor(options), places.length)
    const lanes = Math.floor(places.length / threads)
    const wanted = fetchable(files, { presign, checksumIsMd5 })
    const onFetched = (file: FetchReport['fetched'][number]): void => {
      server.note({ operation: 'getObject', status: 200, durationMs: file.durationMs })
      onFile(file)
    }
    const work = Array.from({ length: threads }, () =>
      fetchInThread({ server: from, lanes }, wanted, onFetched, signal),
    )
    await Promise.all(work)
  } finally {
    for (const leave of places) leave()
  }
  if (signal?.aborted === true) throw abortReason(signal)
}

function threadsFor({ files, bytes }: DownloadFilesOptions): number {
  const useful = Math.ceil(
    Math.max(files / LAKEFS_FETCH_FILES_PER_THREAD, bytes / LAKEFS_FETCH_BYTES_PER_THREAD),
  )
  return Math.max(1, Math.min(useful, LAKEFS_FETCH_THREADS_MAX, availableParallelism()))
}

/** Larger objects come straight from the store where it offers that. */
function* fetchable(
  files: Iterable<FileDownload>,
  { presign, checksumIsMd5 }: { readonly presign: boolean; readonly checksumIsMd5: boolean },
): IterableIterator<FetchFile> {
  for (const file of files) {
    if (presign && file.sizeBytes > LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES) continue
    yield { ...file, isMd5: checksumIsMd5 && looksLikeMd5(file.checksum) }
  }
}

function serverOf({ server, repository, lakefs }: RepoContext, at: CommitRef): FetchServer {
  const path = { repository, ref: at, path: '' }
  const { method, path: before, headers } = server.render({ operation: 'getObject', path, query: { path: '' } })
  const { protocol, hostname, port, host } = new URL(lakefs.endpoint.origin)
  const isSecure = protocol === 'https:'
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    isSecure,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isSecure ? 443 : 80) : Number(port),
    before: `${method} ${before}`,
    after: ` HTTP/1.1\r\n${lines.join('')}\r\n`,
    idleMs: lakefs.silenceMs,
  }
}

/** Ends when there are no files any more, the thread gave up, or the signal is aborted; then the thread has ended too. */
async function fetchInThread(
  data: FetchThreadData,
  files: Iterator<FetchFile>,
  onFetched: (file: FetchReport['fetched'][number]) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted === true) return
  const thread = new Worker(entryUrl(import.meta.url, './fetch-thread.ts'), {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 },
  })
  const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
  let onEnd = (): void => undefined
  const end = new Promise<void>((resolve) => (onEnd = resolve))
  const underWay = new Map<number, FetchFile>()
  let failure: unknown
  const goOn = (isOver: boolean): void => {
    const batch = isOver ? [] : takeBatch(files, underWay)
    if (batch.length > 0) thread.postMessage(batch)
    if (underWay.size === 0) onEnd()
  }
  thread.on('message', ({ fetched, givenUp, isOver }: FetchReport) => {
    try {
      for (const file of fetched) {
        underWay.delete(file.id)
        onFetched(file)
      }
      for (const id of givenUp) underWay.delete(id)
      goOn(isOver)
    } catch (error) {
      failure = error
      onEnd()
    }
  })
  thread.once('error', onEnd)
  thread.once('exit', onEnd)
  signal?.addEventListener('abort', onEnd, { once: true })
  try {
    goOn(false)
    await end
  } finally {
    signal?.removeEventListener('abort', onEnd)
    await thread.terminate()
    await ended
    for (const { file } of underWay.values()) rmSync(file, { force: true })
  }
  if (failure !== undefined) throw failure
}

function takeBatch(files: Iterator<FetchFile>, underWay: Map<number, FetchFile>): readonly FetchFile[] {
  const batch: FetchFile[] = []
  let large = 0
  for (const { sizeBytes } of underWay.values()) if (sizeBytes > LAKEFS_FETCH_SMALL_MAX_BYTES) large++
  while (underWay.size < LAKEFS_FETCH_AHEAD_FILES && large <= LAKEFS_FETCH_LARGE_AT_ONCE) {
    const { value, done } = files.next() as IteratorResult<FetchFile, undefined>
    if (done === true) break
    underWay.set(value.id, value)
    batch.push(value)
    if (value.sizeBytes > LAKEFS_FETCH_SMALL_MAX_BYTES) large++
  }
  return batch
}
