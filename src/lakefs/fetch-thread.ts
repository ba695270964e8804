/** Entry of a thread that downloads whole objects into new files. Calls are synchronous here: nothing else waits for this thread. */

import { parentPort } from 'node:worker_threads'
import { invariant } from '../base/errors.ts'
import { FetchLane, type FetchedFile, type FetchFile, type FetchServer } from './fetch-lane.ts'
import {
  LAKEFS_FETCH_FAILURES_MAX,
  LAKEFS_FETCH_LARGE_AT_ONCE,
  LAKEFS_FETCH_REPORT_FILES,
  LAKEFS_FETCH_REPORT_MS,
  LAKEFS_FETCH_SMALL_MAX_BYTES,
} from './limits.ts'

/** Files follow a beginning; the end comes when none of them is under way, and before another beginning. */
export type ToFetchThread =
  | { readonly type: 'begin'; readonly server: FetchServer; readonly lanes: number }
  | { readonly type: 'files'; readonly files: readonly FetchFile[] }
  | { readonly type: 'end' }

/** What was fetched since the last report, and what will not be. */
export interface FetchReport {
  readonly fetched: readonly FetchedFile[]
  readonly givenUp: readonly number[]
  /** Too much went wrong: nothing more is fetched here. */
  readonly isOver: boolean
}

const port = parentPort
invariant(port !== null, 'this is a thread')
const small: FetchFile[] = []
const large: FetchFile[] = []
let largeRunning = 0
let failures = 0
let fetched: FetchedFile[] = []
let givenUp: number[] = []
let reporting: NodeJS.Timeout | undefined

let lanes: readonly FetchLane[] = []

port.on('message', (message: ToFetchThread) => {
  switch (message.type) {
    case 'begin':
      failures = 0
      lanes = Array.from({ length: message.lanes }, () => openLane(message.server))
      break
    case 'files':
      for (const file of message.files) (isLarge(file) ? large : small).push(file)
      for (const lane of lanes) lane.start()
      if (isOver()) tell()
      break
    case 'end':
      for (const lane of lanes) lane.end()
      lanes = []
  }
})

function openLane(server: FetchServer): FetchLane {
  const lane = new FetchLane({
    server,
    next,
    onFetched: (file) => {
      if (isLarge(file)) largeRunning--
      fetched.push(file)
      tell()
    },
    onGivenUp: (file) => {
      if (isLarge(file)) largeRunning--
      givenUp.push(file.id)
      failures++
      tell()
      setImmediate(() => lane.start())
    },
  })
  return lane
}

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
