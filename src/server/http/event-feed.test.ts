// The feed over a log that is moved by hand: what is read, how often, and who gets what.
import { describe, expect, test } from 'vitest'
import { FEED_EVENTS_REMEMBERED, FEED_FOLLOWERS_MAX, FEED_PAGE_EVENTS } from '../limits.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import { EventFeeds, type FollowedExecution } from './event-feed.ts'

class Log {
  readonly events: ExecutionEvent[] = []
  readonly reads: EventFilter[] = []
  watches = 0
  failing: Error | undefined
  #wake: (() => void) | undefined
  #ready = false

  append(...types: string[]): void {
    for (const type of types) {
      this.events.push({ sequence: this.events.length + 1, type } as unknown as ExecutionEvent)
    }
    this.tell()
  }

  tell(): void {
    this.#ready = true
    this.#wake?.()
  }

  /** A page of large events has fewer of them. */
  pageMax = Infinity

  readonly execution = {
    events: {
      queryPage: (filter: EventFilter) => {
        this.reads.push(filter)
        if (this.failing !== undefined) return Promise.reject(this.failing)
        const { after, limit = Infinity, order } = filter
        const found = this.events.filter(({ sequence }) => after === undefined || sequence > after)
        if (order === 'descending') found.reverse()
        const events = found.slice(0, Math.min(limit, this.pageMax))
        return Promise.resolve({
          events,
          next: events.length < found.length ? events.at(-1)?.sequence : undefined,
        })
      },
    },
    changes: (signal: AbortSignal) => this.#changes(signal),
  } as FollowedExecution

  async *#changes(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
    this.watches++
    yield 'ready'
    while (!signal.aborted) {
      if (!this.#ready) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
          signal.onabort = () => resolve()
        })
      }
      this.#ready = false
      yield 'changes'
    }
    this.watches--
  }
}

async function take(
  bunches: AsyncIterable<readonly ExecutionEvent[]>,
  count = Infinity,
): Promise<readonly number[]> {
  const got: number[] = []
  for await (const bunch of bunches) {
    got.push(...bunch.map(({ sequence }) => sequence))
    if (got.length >= count) break
  }
  return got
}

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

describe('a follower', () => {
  test('DO-12 gets every event behind its start, once and in order, and then the end', async () => {
    const log = new Log()
    log.append('pipeline.started', 'a.started')
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const all = take(feeds.follow({ key: 'x', execution: log.execution, after: 0, signal }))
    const late = take(feeds.follow({ key: 'x', execution: log.execution, after: 2, signal }))
    const step = () => new Promise((resolve) => setImmediate(resolve))
    await step()
    log.append('a.completed')
    await step()
    log.append('b.started', 'b.completed')
    log.append('pipeline.completed')
    expect(await all).toEqual(numbers(1, 6))
    expect(await late).toEqual(numbers(3, 6))
    expect([log.watches, feeds.followers]).toEqual([0, 0])
  })

  test('DO-12 of an execution that has ended gets what is left, and nothing is waited for', async () => {
    const log = new Log()
    log.append('pipeline.started', 'a.failed', 'pipeline.failed')
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const follow = (after: number) =>
      take(feeds.follow({ key: 'x', execution: log.execution, after, signal }))
    expect(await follow(0)).toEqual([1, 2, 3])
    expect(await follow(2)).toEqual([3])
    expect(await follow(3)).toEqual([])
    expect(await follow(99)).toEqual([])
  })

  test('DO-13 that lags behind everything remembered reads from the log and misses nothing', async () => {
    const log = new Log()
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const slow = feeds.follow({ key: 'x', execution: log.execution, after: 0, signal })
    log.append('pipeline.started')
    expect((await slow.next()).value).toHaveLength(1)
    const quick = take(feeds.follow({ key: 'x', execution: log.execution, after: 0, signal }))
    const total = FEED_EVENTS_REMEMBERED * 2 + FEED_PAGE_EVENTS + 7
    for (let count = 1; count < total - 1; count++) log.append('a.task.running')
    log.append('pipeline.completed')
    expect(await quick).toEqual(numbers(1, total))
    expect(await take(slow)).toEqual(numbers(2, total))
    expect(log.reads.every(({ limit = Infinity }) => limit <= FEED_PAGE_EVENTS)).toBe(true)
  })

  test('DO-92 of large events gets short pages, and takes none of them for the end', async () => {
    const log = new Log()
    log.pageMax = 3
    log.append('pipeline.started', ...numbers(1, 20).map(() => 'a.task.running'))
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const early = take(feeds.follow({ key: 'x', execution: log.execution, after: 0, signal }))
    await new Promise((resolve) => setTimeout(resolve, 20))
    const late = take(feeds.follow({ key: 'x', execution: log.execution, after: 21, signal }))
    await new Promise((resolve) => setImmediate(resolve))
    log.append(...numbers(1, 20).map(() => 'a.task.running'), 'pipeline.completed')
    expect(await early).toEqual(numbers(1, 42))
    expect(await late).toEqual(numbers(22, 42))
  })

  test('DO-92 that reads a long log gives others their turn between two pages', async () => {
    const log = new Log()
    log.append('pipeline.started', ...numbers(1, 10 * FEED_PAGE_EVENTS).map(() => 'a.task.running'))
    log.append('pipeline.completed')
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const keys = numbers(1, 20)
    const following = keys.map((key) =>
      take(feeds.follow({ key: String(key), execution: log.execution, after: 0, signal })),
    )
    const inTurn: number[] = []
    let isOver = false
    const all = Promise.all(following).finally(() => (isOver = true))
    while (!isOver) {
      const before = log.reads.length
      await new Promise((resolve) => setImmediate(resolve))
      inTurn.push(log.reads.length - before)
    }
    expect((await all).map((got) => got.length)).toEqual(keys.map(() => log.events.length))
    // Each has begun at once. Two where the count and the reading change places within a turn.
    expect(Math.max(...inTurn.slice(1))).toBeLessThanOrEqual(2)
    expect(inTurn.length).toBeGreaterThan(5 * keys.length)
  })

  test('DO-13 is one of many for whom new events are watched and read once', async () => {
    const log = new Log()
    log.append('pipeline.started')
    const feeds = new EventFeeds()
    const followers = numbers(1, 500).map(() =>
      take(
        feeds.follow({ key: 'x', execution: log.execution, after: 0, signal: new AbortController().signal }),
      ),
    )
    await new Promise((resolve) => setImmediate(resolve))
    const before = log.reads.length
    for (let count = 0; count < 20; count++) {
      log.append('a.task.running')
      await new Promise((resolve) => setImmediate(resolve))
    }
    log.append('pipeline.completed')
    for (const got of await Promise.all(followers)) expect(got).toEqual(numbers(1, 22))
    expect(log.reads.length - before).toBeLessThanOrEqual(2 * 21)
    expect(log.watches).toBe(0)
  })

  test('DO-12 that goes leaves nothing behind; the last one ends the watch', async () => {
    const log = new Log()
    log.append('pipeline.started')
    const feeds = new EventFeeds()
    const [one, other] = [new AbortController(), new AbortController()]
    const first = take(feeds.follow({ key: 'x', execution: log.execution, after: 1, signal: one.signal }))
    const second = take(feeds.follow({ key: 'x', execution: log.execution, after: 1, signal: other.signal }))
    await new Promise((resolve) => setImmediate(resolve))
    expect([log.watches, feeds.followers]).toEqual([1, 2])
    one.abort()
    await expect(first).rejects.toBe(one.signal.reason)
    expect([log.watches, feeds.followers]).toEqual([1, 1])
    other.abort()
    await expect(second).rejects.toBe(other.signal.reason)
    expect([log.watches, feeds.followers]).toEqual([0, 0])
  })

  test('DO-13 is turned away at once when there are too many', async () => {
    const log = new Log()
    log.append('pipeline.started')
    const feeds = new EventFeeds()
    const stop = new AbortController()
    const follow = (signal: AbortSignal) =>
      feeds.follow({ key: 'x', execution: log.execution, after: 1, signal })
    const following = Array.from({ length: FEED_FOLLOWERS_MAX }, () =>
      take(follow(AbortSignal.any([stop.signal]))).catch(() => 'let go'),
    )
    expect(() => follow(stop.signal)).toThrow(expect.objectContaining({ code: 'api/too-many-followers' }))
    stop.abort()
    await Promise.all(following)
    expect(feeds.followers).toBe(0)
  })

  test('DO-12 hears of a log that cannot be read, and the next one begins anew', async () => {
    const log = new Log()
    log.append('pipeline.started')
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const following = take(feeds.follow({ key: 'x', execution: log.execution, after: 1, signal }))
    await new Promise((resolve) => setImmediate(resolve))
    log.failing = new Error('the store is away')
    log.tell()
    await expect(following).rejects.toThrow('the store is away')
    log.failing = undefined
    const again = take(feeds.follow({ key: 'x', execution: log.execution, after: 0, signal }))
    log.append('pipeline.cancelled')
    expect(await again).toEqual([1, 2])
    expect(feeds.followers).toBe(0)
  })
})
