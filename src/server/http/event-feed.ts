/**
 * The events of an execution as they are recorded, for many followers at once.
 *
 * - FE-1 A follower gets every event after its start, once, in the order of the log, however slow it is: what it missed
 *   it reads from the log.
 * - FE-2 However many follow an execution, it is watched once and its new events are read once.
 * - FE-3 A follower holds its position and one group of events, bounded in bytes. What the feeds remember for all followers is
 *   bounded in events and bytes. Those that read a long log beside each other share what is read.
 * - FE-4 The feed ends with its last follower. A follower ends when the execution has ended and it got every event.
 */

import { BoundedMap } from '../../base/bounded-map.ts'
import { abortReason, systemClock, type Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { nextTurn } from '../../base/turns.ts'
import {
  FEED_EVENTS_REMEMBERED,
  FEED_FOLLOWERS_MAX,
  FEED_GROUP_MAX_BYTES,
  FEED_PAGE_EVENTS,
  FEED_PAGE_FIRST_EVENTS,
  FEED_REMEMBERED_MAX_BYTES,
  FEEDS_REMEMBERED_MAX_BYTES,
} from '../limits.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import { endsExecution } from '../../core/namespaces/execution-record.ts'
import type { OpenedExecution } from '../../runtime/host.ts'
import type { Heartbeat } from './heartbeat.ts'
import { ReadPages } from './read-pages.ts'
import { bytesOf, showForStream, takeFirst, takeLast, toSentEvent, type SentEvent } from './sent-event.ts'

export interface FollowRequest {
  /** Unique to the execution and its tenant. */
  readonly key: string
  readonly execution: FollowedExecution
  /** The sequence number after which to begin; 0 for the whole log. */
  readonly after: number
  /** At each beat an empty group is yielded. */
  readonly heartbeat?: Heartbeat | undefined
  readonly signal: AbortSignal
}

type Groups = AsyncGenerator<readonly SentEvent[], void, undefined>

export interface FollowedExecution {
  readonly events: Pick<OpenedExecution['events'], 'queryPage'>
  readonly changes: OpenedExecution['changes']
}

export interface EventFeedsOptions {
  /** How an event is sent; as a block of server-sent events unless given. */
  readonly render?: (event: ExecutionEvent) => string
  readonly clock?: Clock
}

export class EventFeeds {
  readonly #render: Required<EventFeedsOptions>['render']
  readonly #feeds = new Map<string, Feed>()
  readonly #remembered: Remembered = new BoundedMap({
    max: FEEDS_REMEMBERED_MAX_BYTES,
    evict: 'oldest',
    weigh: bytesOf,
  })
  readonly #pages: ReadPages
  #opened = 0
  #followers = 0

  constructor({ render = showForStream, clock = systemClock }: EventFeedsOptions = {}) {
    this.#render = render
    this.#pages = new ReadPages(clock)
  }

  get followers(): number {
    return this.#followers
  }

  /**
   * Yields events in groups until the execution has ended. Rejects with the signal's reason when it is aborted. Throws
   * `api/too-many-followers` at once.
   */
  follow(request: FollowRequest): Groups {
    if (this.#followers >= FEED_FOLLOWERS_MAX) {
      throw new UnavailableError(
        'api/too-many-followers',
        `follow an execution: the server has ${FEED_FOLLOWERS_MAX} followers, which is the most`,
        { retryAfterMs: 10_000, next: 'Try again later, or read the events page by page.' },
      )
    }
    return this.#follow(request)
  }

  #newFeed(execution: FollowedExecution): Feed {
    this.#opened += 1
    const [render, remembered, pages] = [this.#render, this.#remembered, this.#pages]
    return new Feed(execution, { id: this.#opened, render, remembered, pages })
  }

  async *#follow(request: FollowRequest): Groups {
    const { key, execution } = request
    const known = this.#feeds.get(key)
    const feed = known === undefined || known.isOver ? this.#newFeed(execution) : known
    this.#feeds.set(key, feed)
    this.#followers += 1
    feed.followers += 1
    try {
      yield* feed.follow(request)
    } finally {
      this.#followers -= 1
      feed.followers -= 1
      if (feed.followers === 0) {
        if (this.#feeds.get(key) === feed) this.#feeds.delete(key)
        await feed.close()
      }
    }
  }
}

/** The newest events of each feed, in order, without a gap. The feed that had none for the longest time forgets first. */
type Remembered = BoundedMap<Feed, readonly SentEvent[]>

interface FeedParts {
  /** Unique among all that share these pages. */
  readonly id: number
  readonly render: (event: ExecutionEvent) => string
  readonly remembered: Remembered
  readonly pages: ReadPages
}

interface SentPage {
  readonly events: readonly SentEvent[]
  readonly isLast: boolean
}

class Feed {
  followers = 0
  readonly #id: number
  readonly #toSent: (event: ExecutionEvent) => SentEvent
  readonly #execution: FollowedExecution
  readonly #remembered: Remembered
  readonly #pages: ReadPages
  readonly #ending = new AbortController()
  /** The last one of the log; `undefined` until the log was read. */
  #newest: { readonly sequence: number; readonly isLast: boolean } | undefined
  /** About as many events as make a group. */
  #pageEvents = FEED_PAGE_FIRST_EVENTS
  #failure: { readonly error: unknown } | undefined
  #waiting = new Set<() => void>()
  readonly #watching: Promise<void>

  constructor(execution: FollowedExecution, { id, render, remembered, pages }: FeedParts) {
    this.#execution = execution
    this.#id = id
    this.#toSent = (event) => toSentEvent(event, render)
    this.#remembered = remembered
    this.#pages = pages
    this.#watching = this.#watch()
  }

  get isOver(): boolean {
    return this.#failure !== undefined || this.#ending.signal.aborted
  }

  async *follow({ after, heartbeat, signal }: FollowRequest): Groups {
    for (let [at, pages] = [after, 0]; ;) {
      if (signal.aborted) throw abortReason(signal)
      if (this.#failure !== undefined) throw this.#failure.error
      if (heartbeat?.takeDue() === true) yield []
      const group = this.#recall(at) ?? (await this.#readBehind(at, pages++))
      const last = group.at(-1)
      if (last !== undefined) {
        at = last.sequence
        yield group
        if (endsExecution(last.type)) return
      } else if (this.#newest?.isLast === true && this.#newest.sequence <= at) {
        return
      } else {
        await this.#change({ after: at, heartbeat, signal })
      }
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#watching
    this.#remembered.delete(this)
  }

  /** What is known behind a place; `undefined` where the log has to be asked. */
  #recall(at: number): readonly SentEvent[] | undefined {
    if (this.#newest === undefined) return undefined
    if (at >= this.#newest.sequence) return []
    const events = this.#remembered.get(this) ?? []
    const [first] = events
    if (first === undefined || at < first.sequence - 1) return undefined
    // From the end: nearly always a follower lacks only the last few.
    const index = events.findLastIndex(({ sequence }) => sequence <= at)
    return takeFirst(events.slice(index + 1), FEED_GROUP_MAX_BYTES)
  }

  /** For followers that are behind everything remembered. Many that read a long log take turns. */
  async #readBehind(after: number, pagesBefore: number): Promise<readonly SentEvent[]> {
    if (pagesBefore > 0) await nextTurn()
    return this.#pages.get(`${this.#id}:${after}`, async () => (await this.#readPage(after)).events)
  }

  /** A page of large events has fewer of them, but never none where there are more: nothing is filtered. */
  async #readPage(after: number): Promise<SentPage> {
    const { events: found, next } = await this.#execution.events.queryPage({
      after,
      limit: this.#pageEvents,
      bytesMax: FEED_GROUP_MAX_BYTES,
    })
    const events = found.map(this.#toSent)
    if (events.length > 0) {
      // A longer page would be read for nothing: it is cut where the group ends.
      const fitting = Math.ceil((events.length * FEED_GROUP_MAX_BYTES) / bytesOf(events))
      this.#pageEvents = Math.min(fitting, FEED_PAGE_EVENTS)
    }
    return { events, isLast: next === undefined }
  }

  /** Resolves when there may be an event after that one, when there will never be one, and at a heartbeat. */
  #change({ after, heartbeat, signal }: Omit<FollowRequest, 'key' | 'execution'>): Promise<void> {
    if (this.#failure !== undefined || signal.aborted || heartbeat?.isDue === true) return Promise.resolve()
    if (this.#newest !== undefined && this.#newest.sequence > after) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        heartbeat?.release()
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      heartbeat?.wakeNext(wake)
      signal.addEventListener('abort', wake)
    })
  }

  /** Never rejects: a failure is passed on to the followers. */
  async #watch(): Promise<void> {
    const { signal } = this.#ending
    try {
      const changes = this.#execution.changes(signal)[Symbol.asyncIterator]()
      while ((await changes.next()).done !== true) await this.#readNew()
      if (!signal.aborted)
        throw new UnavailableError('api/feed-ended', 'follow an execution: the store ended the watch')
    } catch (error) {
      this.#failure = { error }
      this.#wake()
    }
  }

  async #readNew(): Promise<void> {
    if (this.#newest === undefined) {
      // Only the last event: a follower that starts earlier reads the events before it from the log.
      const newest = await this.#execution.events.queryPage({ order: 'descending', limit: 1 })
      this.#note(newest.events.map(this.#toSent))
      this.#newest ??= { sequence: 0, isLast: false }
      this.#wake()
      return
    }
    for (;;) {
      const { events, isLast } = await this.#readPage(this.#newest.sequence)
      if (events.length === 0) return
      this.#note(events)
      this.#wake()
      if (isLast) return
      await nextTurn()
    }
  }

  #note(events: readonly SentEvent[]): void {
    const newest = events.at(-1)
    if (newest === undefined) return
    this.#newest = { sequence: newest.sequence, isLast: endsExecution(newest.type) }
    const known = [...(this.#remembered.get(this) ?? []), ...events].slice(-FEED_EVENTS_REMEMBERED)
    this.#remembered.set(this, takeLast(known, FEED_REMEMBERED_MAX_BYTES))
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
