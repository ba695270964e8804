/**
 * Server-sent events: one execution's events as they are recorded, no faster than the client reads.
 *
 * - ES-1 Nothing is taken from the feed before the client has taken what was sent, in pieces of a bounded size.
 * - ES-2 The token is checked at a steady interval, whether the stream is busy, silent or not read. A client that has read
 *   everything gets a comment at each.
 */

import type { Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { FOLLOW_HEARTBEAT_MS, FOLLOW_PIECE_MAX_BYTES } from '../limits.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { SentEvent } from './sent-event.ts'

export interface EventStreamParts {
  /** An empty group stands for a beat of `heartbeat`. */
  readonly groups: AsyncGenerator<readonly SentEvent[], void, undefined>
  readonly heartbeat: Heartbeat
  /** Which events are sent. */
  readonly isWanted: (type: string) => boolean
  /** Called at each beat; a rejection ends the stream, as any failure does. */
  readonly isStillAllowed: () => Promise<unknown>
  /** Ends the source of the stream. */
  readonly stop: () => void
  /** Aborted when the source ends. */
  readonly signal: AbortSignal
  /** Called when the stream ends early. The client sees no `end` event, and connects again with its last id. */
  readonly onFailure: (error: unknown) => void
  readonly clock: Clock
  readonly heartbeatMs?: number
}

export function streamEvents(parts: EventStreamParts): ReadableStream<Uint8Array> {
  const pieces = cutPieces(parts)
  let isOver = false
  const end = async (): Promise<void> => {
    isOver = true
    parts.stop()
    // A read in progress rejects now, and then its generator has ended.
    await pieces.return()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Proxies and clients see at once that the stream is open.
        controller.enqueue(Buffer.from('retry: 2000\n\n'))
        const fail = (error: unknown): void => {
          if (isOver) return
          parts.onFailure(error)
          controller.close()
          end().catch(parts.onFailure)
        }
        // Not in `pull`, which is not called while the client reads nothing.
        keepChecking(parts, fail).catch(fail)
      },
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          if (isOver) return
          controller.enqueue(done === true ? END : value)
          if (done !== true) return
        } catch (error) {
          if (isOver) return
          parts.onFailure(error)
        }
        controller.close()
        await end()
      },
      cancel: end,
    },
    // Nothing is read from the feed in advance of the client.
    { highWaterMark: 0 },
  )
}

const END = Buffer.from('event: end\ndata: {}\n\n')
const COMMENT = Buffer.from(':\n\n')

/** Never resolves: rejects, or calls `fail`, when the stream has to end. */
async function keepChecking(parts: EventStreamParts, fail: (error: unknown) => void): Promise<never> {
  const { clock, heartbeat, heartbeatMs = FOLLOW_HEARTBEAT_MS, isStillAllowed, signal } = parts
  let isUnanswered = false
  for (;;) {
    await clock.sleep(heartbeatMs, signal)
    if (isUnanswered) {
      throw new UnavailableError(
        'api/token-not-checked',
        'follow an execution: its token was not checked in time',
        {
          next: 'Connect again with the last id.',
        },
      )
    }
    heartbeat.beat()
    isUnanswered = true
    isStillAllowed().then(() => {
      isUnanswered = false
    }, fail)
  }
}

async function* cutPieces({
  groups,
  isWanted,
}: EventStreamParts): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const group of groups) {
    if (group.length === 0) yield COMMENT
    else yield* piecesOfGroup(group, isWanted)
  }
}

/** Made once for all who are sent the same group. */
const PIECES = new WeakMap<readonly SentEvent[], readonly Buffer[]>()

function piecesOfGroup(
  group: readonly SentEvent[],
  isWanted: EventStreamParts['isWanted'],
): Iterable<Buffer> {
  const wanted = group.filter(({ type }) => isWanted(type))
  const blocks = wanted.map(({ block }) => block)
  if (wanted.length < group.length) return piecesOf(blocks)
  const known = PIECES.get(group)
  if (known !== undefined) return known
  const pieces = [...piecesOf(blocks)]
  PIECES.set(group, pieces)
  return pieces
}

/** Small blocks together, large ones in parts. */
function* piecesOf(blocks: readonly Buffer[]): Generator<Buffer, void, undefined> {
  let together: Buffer[] = []
  let bytes = 0
  for (const block of blocks) {
    if (bytes > 0 && bytes + block.byteLength > FOLLOW_PIECE_MAX_BYTES) {
      yield Buffer.concat(together)
      together = []
      bytes = 0
    }
    if (block.byteLength > FOLLOW_PIECE_MAX_BYTES) {
      for (let from = 0; from < block.byteLength; from += FOLLOW_PIECE_MAX_BYTES) {
        yield block.subarray(from, from + FOLLOW_PIECE_MAX_BYTES)
      }
    } else {
      together.push(block)
      bytes += block.byteLength
    }
  }
  const [only] = together
  if (only !== undefined) yield together.length === 1 ? only : Buffer.concat(together)
}
