/** Follows a stream of server-sent events: reconnects with the last id, and says what it is doing. */

import { readSentEvents, type SentEvent } from './sent-events.ts'

/** `waiting`: the connection is gone, and is tried again soon. `ended`: there will be no more events. */
export type FollowState = 'connecting' | 'live' | 'waiting' | 'ended' | 'failed'

export interface FollowOptions {
  /** Throws where there was no answer, or not the wanted one. */
  readonly open: (lastId: string | undefined, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>
  readonly take: (events: readonly SentEvent[]) => void
  readonly say: (state: FollowState, error?: unknown) => void
  /** Whether an error of `open` goes away by itself. */
  readonly isPassing: (error: unknown) => boolean
  readonly signal: AbortSignal
  readonly lastId?: string | undefined
}

const FIRST_WAIT_MS = 500
const WAIT_MAX_MS = 15_000
/** The server sends a comment every 15 seconds. */
const SILENCE_MAX_MS = 40_000

export async function follow(options: FollowOptions): Promise<void> {
  const { signal, say } = options
  let { lastId } = options
  let waitMs = FIRST_WAIT_MS
  while (!signal.aborted) {
    say('connecting')
    try {
      const read = readOnce(options, lastId, () => {
        waitMs = FIRST_WAIT_MS
      })
      for await (const events of read) {
        const last = events.findLast(({ id }) => id !== undefined)
        lastId = last?.id ?? lastId
        options.take(events.filter(({ name }) => name === 'message'))
        if (events.some(({ name }) => name === 'end')) {
          say('ended')
          return
        }
      }
      if (!isAborted(signal)) say('waiting')
    } catch (error) {
      if (isAborted(signal)) return
      if (!options.isPassing(error)) {
        say('failed', error)
        return
      }
      say('waiting', error)
    }
    await pause(waitMs, signal)
    waitMs = Math.min(waitMs * 2, WAIT_MAX_MS)
  }
}

/** One connection, until it ends; a silent one is given up. */
async function* readOnce(
  { open, say, signal }: FollowOptions,
  lastId: string | undefined,
  onLive: () => void,
): AsyncGenerator<readonly SentEvent[]> {
  const silent = new AbortController()
  const giveUp = (): void => silent.abort()
  let timer = setTimeout(giveUp, SILENCE_MAX_MS)
  signal.addEventListener('abort', giveUp)
  try {
    const reader = (await open(lastId, silent.signal)).getReader()
    const decoder = new TextDecoder()
    const read = readSentEvents()
    say('live')
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onLive()
      clearTimeout(timer)
      timer = setTimeout(giveUp, SILENCE_MAX_MS)
      yield read(decoder.decode(value, { stream: true }))
    }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    silent.abort()
  }
}

// As a call, since the compiler takes a property that it has read once for unchanged.
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
