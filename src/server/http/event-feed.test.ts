// The feed over a log that is moved by hand: what is read, how often, and who gets what.
import { describe, expect, test } from 'vitest'
import {
  FEED_EVENTS_REMEMBERED,
  FEED_FOLLOWERS_MAX,
  FEED_GROUP_MAX_BYTES,
  FEED_PAGE_KEPT_MS,
  FEED_PAGE_EVENTS,
  FEED_REMEMBERED_MAX_BYTES,
  FEEDS_REMEMBERED_MAX_BYTES,
} from '../limits.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { EventFeeds, type FollowedExecution } from './event-feed.ts'
import { bytesOf, type SentEvent } from './sent-event.ts'

class Log {
  readonly events: ExecutionEvent[] = []
  readonly reads: EventFilter[] = []
  watches = 0
  failing: Error | undefined
  #wake: (() => void) | undefined
  #ready = false

  append(...types: string[]): void {
    for (const type of types) this.appendLarge(type, 0)
  }

  appendLarge(type: string, bytes: number): void {
    this.events.push({
      sequence: this.events.length + 1,
      type,
      source: {},
      payload: { text: 'x'.repeat(bytes) },
    } as unknown as ExecutionEvent)
    this.tell()
  }

  tell(): void {
    this.#ready = true
    this.#wake?.()
  }

  /** A page may have fewer events than were asked for. */
  pageMax = Infinity

  readonly execution = {
    events: {
      queryPage: (filter: EventFilter) => {
        this.reads.push(filter)
        if (this.failing !== undefined) return Promise.reject(this.failing)
        const { after, limit = Infinity, order, bytesMax = Infinity } = filter
        const found = this.events.filter(({ sequence }) => after === undefined || sequence > after)
        if (order === 'descending') found.reverse()
        const page = found.slice(0, Math.min(limit, this.pageMax))
        let bytes = 0
        const last = page.findIndex((event) => (bytes += JSON.stringify(event).length) >= bytesMax)
        const events = last === -1 ? page : page.slice(0, last + 1)
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
  groups: AsyncIterable<readonly SentEvent[]>,
  count = Infinity,
): Promise<readonly number[]> {
  const got: number[] = []
  for await (const group of groups) {
    got.push(...group.map(({ sequence }) => sequence))
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

  test('DO-61 holds one group of bounded size, wherever it reads from, and asks the log for no more', async () => {
    const log = new Log()
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const LARGE = 30_000
    log.append('pipeline.started')
    for (let count = 0; count < 100; count++) log.appendLarge('external.a.b', LARGE)
    const follower = feeds.follow({ key: 'x', execution: log.execution, after: 0, signal })
    const sizes: number[] = []
    const got: number[] = []
    for (let read = 0; got.length < 102; read++) {
      // Half of it arrives while the follower is behind.
      if (read === 10) {
        for (let count = 0; count < 100; count++) log.appendLarge('external.a.b', LARGE)
        log.append('pipeline.completed')
        await new Promise((resolve) => setImmediate(resolve))
      }
      const { value } = await follower.next()
      sizes.push(bytesOf(value!))
      got.push(...value!.map(({ sequence }) => sequence))
    }
    got.push(...(await take(follower)))
    expect(got).toEqual(numbers(1, 202))
    expect(Math.max(...sizes)).toBeLessThan(FEED_GROUP_MAX_BYTES + LARGE + 1_000)
    expect(log.reads.every(({ bytesMax, order }) => bytesMax === FEED_GROUP_MAX_BYTES || order)).toBe(true)
    // Not a page of two hundred each time of which two are passed on.
    expect(log.reads.slice(-5).every(({ limit = Infinity }) => limit <= 4)).toBe(true)
  })

  test('DO-67 that is behind shares its reads with those at the same place, and leaves the loop to others between', async () => {
    const log = new Log()
    const feeds = new EventFeeds()
    log.append('pipeline.started')
    for (let count = 0; count < 3_000; count++) log.append('a.task.running')
    log.append('pipeline.completed')
    const { signal } = new AbortController()
    let turn = 0
    const readsIn: number[] = []
    const countTurns = (): void => {
      turn += 1
      timer = setImmediate(countTurns)
    }
    let timer = setImmediate(countTurns)
    const execution: FollowedExecution = {
      ...log.execution,
      events: {
        queryPage: (filter) => {
          readsIn[turn] = (readsIn[turn] ?? 0) + 1
          return log.execution.events.queryPage(filter)
        },
      },
    }
    // From three places.
    const following = numbers(1, 60).map((at) =>
      take(feeds.follow({ key: 'x', execution, after: (at % 3) * 7, signal })),
    )
    for (const [at, got] of (await Promise.all(following)).entries()) {
      expect(got).toEqual(numbers(((at + 1) % 3) * 7 + 1, 3_002))
    }
    clearImmediate(timer)
    const [first = 0, ...others] = readsIn.filter((reads) => reads > 0)
    // At each place one begins at once; the watch reads at its start and at the first change.
    expect(first).toBeLessThanOrEqual(3 + 2)
    // Two where the count and the reading change places within a turn.
    expect(Math.max(...others)).toBeLessThanOrEqual(2)
    const pages = Math.ceil(3_000 / FEED_PAGE_EVENTS) + 3
    expect(log.reads.length).toBeLessThanOrEqual(3 * pages)
  })

  test('DO-79 that is behind is given the page that another one has just read, and reads it anew a second later', async () => {
    const log = new Log()
    for (let count = 0; count < 100; count++) log.append('a.task.running')
    const clock = new ManualClock()
    const feeds = new EventFeeds({ clock })
    const { signal } = new AbortController()
    const follow = () => feeds.follow({ key: 'x', execution: log.execution, after: 0, signal })
    const [first, second, third] = [follow(), follow(), follow()]
    const group = (await first.next()).value
    const before = log.reads.length
    expect((await second.next()).value).toBe(group)
    expect(log.reads.length).toBe(before)
    await clock.advance(FEED_PAGE_KEPT_MS)
    expect((await third.next()).value?.[0]).toEqual(group?.[0])
    expect(log.reads.length).toBe(before + 1)
    await Promise.all([first, second, third].map((one) => one.return()))
  })

  test('DO-63 whose event was forgotten, for its size or for other executions, reads it from the log', async () => {
    const feeds = new EventFeeds()
    const { signal } = new AbortController()
    const LARGE = 200_000
    const each = Math.ceil(FEED_REMEMBERED_MAX_BYTES / LARGE) + 3
    const many = Math.ceil(FEEDS_REMEMBERED_MAX_BYTES / FEED_REMEMBERED_MAX_BYTES) + 20
    const logs = numbers(1, many).map(() => new Log())
    const readsOf = (log: Log) => log.reads.filter(({ order }) => order === undefined).length
    const followers = logs.map((log, at) => {
      log.append('pipeline.started')
      return feeds.follow({ key: `x${at}`, execution: log.execution, after: 1, signal })
    })
    const step = () => new Promise((resolve) => setImmediate(resolve))
    const firsts = followers.map((follower) => follower.next())
    await step()
    for (const log of logs) {
      for (let count = 0; count < each; count++) log.appendLarge('external.a.b', LARGE)
      // The watch reads them one by one, each in a turn of its own.
      for (let count = 0; count < each + 1; count++) await step()
    }
    await Promise.all(firsts)
    for (const [at, log] of logs.entries()) {
      const before = readsOf(log)
      const late = feeds.follow({ key: `x${at}`, execution: log.execution, after: each - 1, signal })
      expect((await late.next()).value!.map(({ sequence }) => sequence)).toEqual([each])
      // The newest two events: remembered of the executions that had theirs last, forgotten of those that had them first.
      if (at < 10) expect(readsOf(log) - before).toBe(1)
      if (at >= many - 10) expect(readsOf(log) - before).toBe(0)
      const early = feeds.follow({ key: `x${at}`, execution: log.execution, after: 1, signal })
      expect((await early.next()).value!.map(({ sequence }) => sequence)).toEqual([2])
      // Those before are forgotten by all.
      expect(readsOf(log) - before).toBeGreaterThan(0)
      await Promise.all([late.return(), early.return()])
    }
    await Promise.all(followers.map((follower) => follower.return()))
    expect(feeds.followers).toBe(0)
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
