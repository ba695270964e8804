/** The threads that download objects into files: each works for one call at a time, and ends when it was idle for a while. */

import { rmSync } from 'node:fs'
import { setTimeout } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { entryUrl } from '../base/module-entry.ts'
import type { FetchedFile, FetchFile, FetchServer } from './fetch-lane.ts'
import type { FetchReport, ToFetchThread } from './fetch-thread.ts'
import {
  LAKEFS_FETCH_AHEAD_FILES,
  LAKEFS_FETCH_LARGE_AT_ONCE,
  LAKEFS_FETCH_SMALL_MAX_BYTES,
  LAKEFS_FETCH_THREAD_IDLE_MS,
  LAKEFS_FETCH_THREAD_OLD_MIB,
  LAKEFS_FETCH_THREAD_YOUNG_MIB,
} from './limits.ts'

export interface FetchWork {
  readonly server: FetchServer
  /** Connections. */
  readonly lanes: number
  /** More than one thread may take from it. */
  readonly files: Iterator<FetchFile>
  readonly onFetched: (file: FetchedFile) => void
  readonly signal: AbortSignal | undefined
}

interface IdleThread {
  readonly worker: Worker
  readonly ending: NodeJS.Timeout
}

const idle: IdleThread[] = []

/** Resolves when there are no files any more, the thread gave up, or the signal is aborted: then nothing is written any more. */
export async function fetchInThread({ server, lanes, files, onFetched, signal }: FetchWork): Promise<void> {
  if (signal?.aborted === true) return
  const worker = takeThread()
  const underWay = new Map<number, FetchFile>()
  let onEnd = (): void => undefined
  const end = new Promise<void>((resolve) => (onEnd = resolve))
  let failure: Error | undefined
  const send = (message: ToFetchThread): void => worker.postMessage(message)
  const goOn = (isOver: boolean): void => {
    const batch = isOver ? [] : takeBatch(files, underWay)
    if (batch.length > 0) send({ type: 'files', files: batch })
    if (underWay.size === 0) onEnd()
  }
  const onReport = ({ fetched, givenUp, isOver }: FetchReport): void => {
    try {
      for (const file of fetched) {
        underWay.delete(file.id)
        onFetched(file)
      }
      for (const id of givenUp) underWay.delete(id)
      goOn(isOver)
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      onEnd()
    }
  }
  worker.on('message', onReport).once('error', onEnd).once('exit', onEnd)
  signal?.addEventListener('abort', onEnd, { once: true })
  try {
    send({ type: 'begin', server, lanes })
    goOn(false)
    await end
  } finally {
    signal?.removeEventListener('abort', onEnd)
    worker.off('message', onReport).off('error', onEnd).off('exit', onEnd)
    if (underWay.size === 0) keepThread(worker, send)
    else await stopThread(worker, underWay)
  }
  if (failure !== undefined) throw failure
}

function takeThread(): Worker {
  const kept = idle.pop()
  if (kept !== undefined) {
    clearTimeout(kept.ending)
    kept.worker.ref()
    return kept.worker
  }
  const worker = new Worker(entryUrl(import.meta.url, './fetch-thread.ts'), {
    resourceLimits: {
      maxYoungGenerationSizeMb: LAKEFS_FETCH_THREAD_YOUNG_MIB,
      maxOldGenerationSizeMb: LAKEFS_FETCH_THREAD_OLD_MIB,
    },
  })
  // Whoever uses it listens too.
  worker.on('error', () => forget(worker)).on('exit', () => forget(worker))
  return worker
}

function keepThread(worker: Worker, send: (message: ToFetchThread) => void): void {
  if (worker.threadId === -1) return
  send({ type: 'end' })
  worker.unref()
  const ending = setTimeout(() => {
    forget(worker)
    worker.terminate().catch(() => undefined)
  }, LAKEFS_FETCH_THREAD_IDLE_MS).unref()
  idle.push({ worker, ending })
}

function forget(worker: Worker): void {
  const at = idle.findIndex((kept) => kept.worker === worker)
  if (at !== -1) for (const { ending } of idle.splice(at, 1)) clearTimeout(ending)
}

/** What it had begun is removed. */
async function stopThread(worker: Worker, underWay: ReadonlyMap<number, FetchFile>): Promise<void> {
  await worker.terminate()
  for (const { file } of underWay.values()) rmSync(file, { force: true })
}

function takeBatch(files: Iterator<FetchFile>, underWay: Map<number, FetchFile>): readonly FetchFile[] {
  const isLarge = ({ sizeBytes }: FetchFile): boolean => sizeBytes > LAKEFS_FETCH_SMALL_MAX_BYTES
  const batch: FetchFile[] = []
  let large = [...underWay.values()].filter(isLarge).length
  while (underWay.size < LAKEFS_FETCH_AHEAD_FILES && large <= LAKEFS_FETCH_LARGE_AT_ONCE) {
    const { value, done } = files.next() as IteratorResult<FetchFile, undefined>
    if (done === true) break
    underWay.set(value.id, value)
    batch.push(value)
    if (isLarge(value)) large++
  }
  return batch
}
