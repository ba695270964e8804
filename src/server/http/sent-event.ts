/** An event in the form in which followers are sent it: made once for all of them, and nothing else of it is kept. */

import type { ExecutionEvent } from '../../core/events/event.ts'
import { showEvent } from './read-execution.ts'

export interface SentEvent {
  readonly sequence: number
  readonly type: string
  readonly block: Buffer
}

export function toSentEvent(event: ExecutionEvent, render: (event: ExecutionEvent) => string): SentEvent {
  const { sequence, type } = event
  return { sequence, type, block: Buffer.from(render(event)) }
}

/** A block of server-sent events. */
export function showForStream(event: ExecutionEvent): string {
  return `id: ${event.sequence}\ndata: ${JSON.stringify(showEvent(event))}\n\n`
}

export function bytesOf(events: readonly SentEvent[]): number {
  return events.reduce((bytes, { block }) => bytes + block.byteLength, 0)
}

/** The first ones, with that which brings them to `bytes`. */
export function takeFirst(events: readonly SentEvent[], bytes: number): readonly SentEvent[] {
  let taken = 0
  const last = events.findIndex(({ block }) => (taken += block.byteLength) >= bytes)
  return last === -1 ? events : events.slice(0, last + 1)
}

/** The last ones, as many as have no more than `bytesMax` together. */
export function takeLast(events: readonly SentEvent[], bytesMax: number): readonly SentEvent[] {
  let taken = 0
  const last = events.findLastIndex(({ block }) => (taken += block.byteLength) > bytesMax)
  return events.slice(last + 1)
}
