/** Entry of a thread that downloads whole objects into new files. Calls are synchronous here: nothing else waits for this thread. */

import { parentPort, workerData } from 'node:worker_threads'
import { invariant } from '../base/errors.ts'
import { FetchLane, type FetchedFile, type FetchFile, type FetchServer } from './fetch-lane.ts'
import {
  LAKEFS_FETCH_FAILURES_MAX,
  LAKEFS_FETCH_LARGE_AT_ONCE,
  LAKEFS_FETCH_REPORT_FILES,
  LAKEFS_FETCH_REPORT_MS,
  LAKEFS_FETCH_SMALL_MAX_BYTES,
} from './limits.ts'

export interface FetchThreadData {
  readonly server: FetchServer
  readonly lanes: number
}

/** What was fetched since the last report, and what will not be. */
export interface FetchReport {
  readonly fetched: readonly FetchedFile[]
  readonly givenUp: readonly number[]
  /** Too much went wrong: nothing more is fetched here. */
  readonly isOver: boolean
}

const port = parentPort
invariant(port !== null, 'this is a thread')
const { server, lanes: laneCount } = workerData as FetchThreadData
const small: FetchFile[] = []
const large: FetchFile[] = []
let largeRunning = 0
let failures = 0
let fetched: FetchedFile[] = []
let givenUp: number[] = []
let reporting: NodeJS.Timeout | undefined

const lanes = Array.from({ length: laneCount }, () => {
  const lane = new FetchLane({
    server,
    next,
    onFetched: (file) => {
      fetched.push(file)
      if (isLarge(file)) largeRunning--
      tell()
    },
    onGivenUp: (file) => {
      givenUp.push(file.id)
      if (isLarge(file)) largeRunning--
      failures++
      tell()
      setImmediate(() => lane.start())
    },
  })
  return lane
})

port.on('message', (files: readonly FetchFile[]) => {
  for (const file of files) (isLarge(file) ? large : small).push(file)
  for (const lane of lanes) lane.start()
  if (isOver()) tell()
})

function next(): FetchFile | undefined {
  if (isOver()) return undefined
  if (largeRunning < LAKEFS_FETCH_LARGE_AT_ONCE && large.length > 0) {
    largeRunning++
    return large.shift()
  }
  return small.shift()
}

function isLarge({ sizeBytes }: { readonly sizeBytes: number }): boolean {
  return sizeBytes > LAKEFS_FETCH_SMALL_MAX_BYTES
}

function isOver(): boolean {
  return failures >= LAKEFS_FETCH_FAILURES_MAX
}

function tell(): void {
  if (isOver()) givenUp.push(...[...small.splice(0), ...large.splice(0)].map(({ id }) => id))
  if (isOver() || fetched.length + givenUp.length >= LAKEFS_FETCH_REPORT_FILES) report()
  else reporting ??= setTimeout(report, LAKEFS_FETCH_REPORT_MS)
}

function report(): void {
  clearTimeout(reporting)
  reporting = undefined
  port?.postMessage({ fetched, givenUp, isOver: isOver() } satisfies FetchReport)
  fetched = []
  givenUp = []
}
