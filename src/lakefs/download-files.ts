/**
 * Many objects into files, by threads with connections of their own: for small objects what surrounds a request takes longer
 * than the request, and the MD5 of large ones takes longer than fetching them.
 *
 * A thread takes the one answer that is expected. Whatever else happens to an object is left to the ordinary download, which
 * alone tries again and knows what a failure means.
 */

import { availableParallelism } from 'node:os'
import { abortReason } from '../base/clock.ts'
import type { CommitRef } from '../base/ids.ts'
import type { DownloadedFile, DownloadFilesOptions, FileDownload } from '../publication/ports.ts'
import { looksLikeMd5 } from './bodies.ts'
import type { RepoContext } from './context.ts'
import type { FetchedFile, FetchFile, FetchServer } from './fetch-lane.ts'
import { fetchInThread } from './fetch-threads.ts'
import {
  LAKEFS_DIRECT_DOWNLOAD_MAX_BYTES,
  LAKEFS_FETCH_BYTES_PER_THREAD,
  LAKEFS_FETCH_CONNECTIONS_MAX,
  LAKEFS_FETCH_FILES_PER_THREAD,
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
    const onFetched = (file: FetchedFile): void => {
      server.note({ operation: 'getObject', status: 200, durationMs: file.durationMs })
      onFile(file)
    }
    const work = Array.from({ length: threads }, () =>
      fetchInThread({ server: from, lanes, files: wanted, onFetched, signal }),
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
  const {
    method,
    path: before,
    headers,
  } = server.render({ operation: 'getObject', path, query: { path: '' } })
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
