/** Server-sent events: one execution's events as they are recorded, no faster than the client reads. */

import { showEvent } from './read-execution.ts'
import { FOLLOW_HEARTBEAT_MS } from '../limits.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'

export interface EventStreamParts {
  readonly bunches: AsyncGenerator<readonly ExecutionEvent[], void, undefined>
  /** Which events are sent. */
  readonly isWanted: (type: string) => boolean
  /** Called with each heartbeat; a rejection ends the stream, as any failure does. */
  readonly isStillAllowed: () => Promise<unknown>
  /** Ends the source of the stream. */
  readonly stop: () => void
  /** Called when the stream ends early. The client sees no `end` event, and connects again with its last id. */
  readonly onFailure: (error: unknown) => void
  readonly heartbeatMs?: number
}

/**
 * Nothing is read from the feed before the client has taken what was sent, so a slow client needs no memory here.
 */
export function streamEvents(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const { bunches, isWanted, stop, heartbeatMs = FOLLOW_HEARTBEAT_MS } = parts
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<readonly ExecutionEvent[], void>> | undefined
  /** The next text to send; `undefined` at the end. */
  const nextText = async (): Promise<string | undefined> => {
    for (;;) {
      next ??= bunches.next()
      const result = await orHeartbeat(next, heartbeatMs)
      if (result === 'heartbeat') {
        await parts.isStillAllowed()
        return ':\n\n'
      }
      next = undefined
      if (result.done === true) return undefined
      const text = result.value.map((event) => writeEvent(event, isWanted)).join('')
      if (text !== '') return text
    }
  }
  const end = async (): Promise<void> => {
    stop()
    // A read in progress rejects now, and then its generator has ended.
    await next?.catch(() => undefined)
    await bunches.return()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Proxies and clients see at once that the stream is open.
        controller.enqueue(encoder.encode('retry: 2000\n\n'))
      },
      async pull(controller) {
        try {
          const text = await nextText()
          if (text !== undefined) {
            controller.enqueue(encoder.encode(text))
            return
          }
          controller.enqueue(encoder.encode('event: end\ndata: {}\n\n'))
        } catch (error) {
          parts.onFailure(error)
        }
        controller.close()
        await end()
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  )
}

function writeEvent(event: ExecutionEvent, isWanted: (type: string) => boolean): string {
  if (!isWanted(event.type)) return ''
  return `id: ${event.sequence}\ndata: ${JSON.stringify(showEvent(event))}\n\n`
}

async function orHeartbeat<T>(next: Promise<T>, heartbeatMs: number): Promise<T | 'heartbeat'> {
  let timer: NodeJS.Timeout | undefined
  const heartbeat = new Promise<'heartbeat'>((resolve) => {
    timer = setTimeout(() => resolve('heartbeat'), heartbeatMs)
  })
  try {
    return await Promise.race([next, heartbeat])
  } finally {
    clearTimeout(timer)
  }
}
