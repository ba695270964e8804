/** Server-sent events: one execution's events as they come, at the pace of the one who reads. */

import { showEvent } from './read-execution.ts'
import { FOLLOW_HEARTBEAT_MS } from '../limits.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'

export interface EventStreamParts {
  readonly bunches: AsyncGenerator<readonly ExecutionEvent[], void, undefined>
  /** Which events are sent. */
  readonly isWanted: (type: string) => boolean
  /** Asked with each heartbeat; a rejection ends the stream, as any failure does. */
  readonly isStillAllowed: () => Promise<unknown>
  /** Ends what feeds the stream. */
  readonly stop: () => void
  /** Told of what ended the stream too early. The reader sees a stream without `end`, and comes back with its place. */
  readonly onFailure: (error: unknown) => void
  readonly heartbeatMs?: number
}

/**
 * Nothing is read from the feed before the other side has taken what was sent: a slow reader costs a place and no memory.
 */
export function streamEvents(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const { bunches, isWanted, stop, heartbeatMs = FOLLOW_HEARTBEAT_MS } = parts
  const encoder = new TextEncoder()
  let next: Promise<IteratorResult<readonly ExecutionEvent[], void>> | undefined
  /** What is to be sent next; `undefined` at the end. */
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
    // A read that is under way rejects with the stop, and its generator is over then.
    await next?.catch(() => undefined)
    await bunches.return()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Lets proxies and clients know at once that the stream is open.
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
