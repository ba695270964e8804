/** Pages that were just read, for others who come to the same place: one read and one copy in memory for all of them. */

import { BoundedMap } from '../../base/bounded-map.ts'
import type { Clock } from '../../base/clock.ts'
import { FEED_PAGE_KEPT_MS, FEED_PAGES_MAX_BYTES } from '../limits.ts'
import { bytesOf, type SentEvent } from './sent-event.ts'

interface Page {
  readonly events: readonly SentEvent[]
  readonly readAtMs: number
}

export class ReadPages {
  readonly #clock: Clock
  readonly #read = new BoundedMap<string, Page>({
    max: FEED_PAGES_MAX_BYTES,
    evict: 'oldest',
    weigh: ({ events }) => bytesOf(events),
  })
  readonly #reading = new Map<string, Promise<Page['events']>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `place`: unique to a feed and the event behind which the page begins. */
  get(place: string, read: () => Promise<Page['events']>): Promise<Page['events']> {
    const known = this.#read.get(place)
    if (known !== undefined && this.#clock.monotonicMs() - known.readAtMs < FEED_PAGE_KEPT_MS) {
      return Promise.resolve(known.events)
    }
    const reading = this.#reading.get(place)
    if (reading !== undefined) return reading
    const now = this.#readNow(place, read).finally(() => this.#reading.delete(place))
    this.#reading.set(place, now)
    return now
  }

  async #readNow(place: string, read: () => Promise<Page['events']>): Promise<Page['events']> {
    const readAtMs = this.#clock.monotonicMs()
    const events = await read()
    if (events.length > 0) this.#read.set(place, { events, readAtMs })
    return events
  }
}
