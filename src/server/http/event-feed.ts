/**
 * The events of an execution as they are recorded, for many followers at once.
 *
 * - FE-1 A follower gets every event after its start, once, in the order of the log, however slow it is: what it missed
 *   it reads from the log.
 * - FE-2 However many follow an execution, it is watched once and its new events are read once.
 * - FE-3 A follower holds only its position. The feed remembers a limited number of events, for all followers together.
 * - FE-4 The feed ends with its last follower. A follower ends when the execution has ended and it got every event.
 */

import { abortReason } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import { nextTurn } from '../../base/turns.ts'
import { FEED_EVENTS_REMEMBERED, FEED_FOLLOWERS_MAX, FEED_PAGE_EVENTS } from '../limits.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import { endsExecution } from '../../core/namespaces/execution-record.ts'
import type { OpenedExecution } from '../../runtime/host.ts'

export interface FollowRequest {
  /** Unique to the execution and its tenant. */
  readonly key: string
  readonly execution: FollowedExecution
  /** The sequence number after which to begin; 0 for the whole log. */
  readonly after: number
  readonly signal: AbortSignal
}

export interface FollowedExecution {
  readonly events: Pick<OpenedExecution['events'], 'queryPage'>
  readonly changes: OpenedExecution['changes']
}

export class EventFeeds {
  readonly #feeds = new Map<string, Feed>()
  #followers = 0

  get followers(): number {
    return this.#followers
  }

  /**
   * Yields events in groups until the execution has ended. Rejects with the signal's reason when it is aborted. Throws
   * `api/too-many-followers` at once.
   */
  follow(request: FollowRequest): AsyncGenerator<readonly ExecutionEvent[], void, undefined> {
    if (this.#followers >= FEED_FOLLOWERS_MAX) {
      throw new UnavailableError(
        'api/too-many-followers',
        `follow an execution: the server has ${FEED_FOLLOWERS_MAX} followers, which is the most`,
        { retryAfterMs: 10_000, next: 'Try again later, or read the events page by page.' },
      )
    }
    return this.#follow(request)
  }

  async *#follow({
    key,
    execution,
    after,
    signal,
  }: FollowRequest): AsyncGenerator<readonly ExecutionEvent[], void, undefined> {
    const known = this.#feeds.get(key)
    const feed = known === undefined || known.isOver ? new Feed(execution) : known
    this.#feeds.set(key, feed)
    this.#followers += 1
    feed.followers += 1
    try {
      yield* feed.follow(after, signal)
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

class Feed {
  followers = 0
  readonly #execution: FollowedExecution
  readonly #ending = new AbortController()
  /** The newest events, in order, without a gap. */
  #events: ExecutionEvent[] = []
  /** The last one of the log; `undefined` until the log was read. */
  #newest: { readonly sequence: number; readonly isLast: boolean } | undefined
  #failure: { readonly error: unknown } | undefined
  #waiting = new Set<() => void>()
  readonly #watching: Promise<void>

  constructor(execution: FollowedExecution) {
    this.#execution = execution
    this.#watching = this.#watch()
  }

  get isOver(): boolean {
    return this.#failure !== undefined || this.#ending.signal.aborted
  }

  async *follow(
    start: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ExecutionEvent[], void, undefined> {
    for (let [at, pages] = [start, 0]; ;) {
      if (signal.aborted) throw abortReason(signal)
      if (this.#failure !== undefined) throw this.#failure.error
      const events = this.#remembered(at) ?? (await this.#readBehind(at, pages++))
      const last = events.at(-1)
      if (last !== undefined) {
        at = last.sequence
        yield events
        if (endsExecution(last.type)) return
      } else if (this.#newest?.isLast === true && this.#newest.sequence <= at) {
        return
      } else {
        await this.#change(at, signal)
      }
    }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#watching
  }

  /** What is known behind a place; `undefined` where the log has to be asked. */
  #remembered(at: number): readonly ExecutionEvent[] | undefined {
    if (this.#newest === undefined) return undefined
    if (at >= this.#newest.sequence) return []
    const [first] = this.#events
    if (first === undefined || at < first.sequence - 1) return undefined
    // From the end: nearly always a follower lacks only the last few.
    const index = this.#events.findLastIndex(({ sequence }) => sequence <= at)
    return this.#events.slice(index + 1)
  }

  /** A page of large events has fewer of them, but never none. Many that read a long log take turns. */
  async #readBehind(at: number, pagesBefore: number): Promise<readonly ExecutionEvent[]> {
    if (pagesBefore > 0) await nextTurn()
    return (await this.#execution.events.queryPage({ after: at, limit: FEED_PAGE_EVENTS })).events
  }

  /** Resolves when there may be an event after `at`, or there will never be one. */
  #change(at: number, signal: AbortSignal): Promise<void> {
    if (this.#failure !== undefined || signal.aborted) return Promise.resolve()
    if (this.#newest !== undefined && this.#newest.sequence > at) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
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
      this.#note((await this.#execution.events.queryPage({ order: 'descending', limit: 1 })).events)
      this.#newest ??= { sequence: 0, isLast: false }
      this.#wake()
      return
    }
    for (;;) {
      const { events, next } = await this.#execution.events.queryPage({
        after: this.#newest.sequence,
        limit: FEED_PAGE_EVENTS,
      })
      if (events.length === 0) return
      this.#note(events)
      this.#wake()
      if (next === undefined) return
      await nextTurn()
    }
  }

  #note(events: readonly ExecutionEvent[]): void {
    const newest = events.at(-1)
    if (newest === undefined) return
    this.#newest = { sequence: newest.sequence, isLast: endsExecution(newest.type) }
    this.#events = [...this.#events, ...events].slice(-FEED_EVENTS_REMEMBERED)
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}
