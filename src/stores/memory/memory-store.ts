/** The store in memory of one process. It is also the reference implementation of a store. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { STORE_PAGE_MAX_BYTES } from '../../core/limits.ts'
import {
  STORE_CHANGES_KEPT,
  STORE_CLEAR_ENTRIES,
  STORE_EXPIRED_PER_SWEEP,
  STORE_WATCH_POLL_MS,
} from '../limits.ts'
import type { CommitOutcome, RangePage, Store, StoreChange, StoreEntry } from '../../core/ports.ts'
import type {
  Backend,
  ChangeFeed,
  ChangeRead,
  CheckedBatch,
  Cleared,
  KeySpan,
  KeyStretch,
} from '../backend.ts'
import { findUnmet } from '../conditions.ts'
import { guardStore } from '../guard.ts'
import { compareKeys, isWithin } from '../key-order.ts'
import { SortedKeys } from '../sorted-keys.ts'
import { WakeUps } from '../wake-ups.ts'

export interface MemoryStoreOptions {
  /** For expiry. */
  readonly clock?: Clock
  /** Changes kept for watches that lag behind. */
  readonly changesKept?: number
  /** Data shared with other memory stores of this process. Default: new and empty. */
  readonly space?: MemorySpace
}

/** The data of memory stores; two stores on one space are like two processes on one server. */
export interface MemorySpace {
  readonly backend: Backend
}

export function createMemorySpace(options: Omit<MemoryStoreOptions, 'space'> = {}): MemorySpace {
  return {
    backend: new MemoryBackend(options.clock ?? systemClock, options.changesKept ?? STORE_CHANGES_KEPT),
  }
}

/**
 * ```ts
 * const store = openMemoryStore()
 * ```
 */
export function openMemoryStore(options: MemoryStoreOptions = {}): Store {
  return guardStore((options.space ?? createMemorySpace(options)).backend)
}

interface Held extends StoreEntry {
  /** By the monotonic clock; infinite if it does not expire. */
  readonly expiresAtMs: number
}

interface Logged extends StoreChange {
  readonly revision: number
}

class MemoryBackend implements Backend {
  readonly name = 'memory'
  readonly #clock: Clock
  readonly #changesKept: number
  readonly #held = new Map<string, Held>()
  readonly #keys = new SortedKeys()
  /** `time key` of every entry that expires, the next first. */
  readonly #expiries = new SortedKeys()
  readonly #wakeUps = new WakeUps()
  /** The last changes, oldest first, and the revision before the first of them. Those of a batch have its revision. */
  #log: Logged[] = []
  #logStart = 0
  #revision = 0
  /** Free memory for the next small values. */
  #block = new Uint8Array(0)

  /** Made once, as it is needed with every batch. */
  readonly #revisionOf = (key: string): number | undefined => this.peek(key)?.revision

  constructor(clock: Clock, changesKept: number) {
    this.#clock = clock
    this.#changesKept = changesKept
  }

  get(key: string): Promise<StoreEntry | undefined> {
    const held = this.peek(key)
    return Promise.resolve(held && copy(held))
  }

  peek(key: string): Held | undefined {
    const held = this.#held.get(key)
    return held !== undefined && this.#isAlive(held) ? held : undefined
  }

  range({ from, to, order, limit }: KeySpan): Promise<RangePage> {
    const entries: StoreEntry[] = []
    let bytes = 0
    const keys = order === 'ascending' ? this.#keys.ascending(from) : this.#keys.descending(to)
    for (const key of keys) {
      if (order === 'ascending' ? to !== undefined && compareKeys(key, to) >= 0 : compareKeys(key, from) < 0)
        break
      const held = this.#held.get(key)
      if (held === undefined || !this.#isAlive(held)) continue
      if (entries.length === limit || bytes >= STORE_PAGE_MAX_BYTES) {
        return Promise.resolve({ entries, next: entries.at(-1)?.key })
      }
      entries.push(copy(held))
      bytes += held.value.byteLength
    }
    return Promise.resolve({ entries, next: undefined })
  }

  commit({ conditions, operations }: CheckedBatch): Promise<CommitOutcome> {
    this.#removeExpired()
    const unmet = findUnmet(conditions, this.#revisionOf)
    if (unmet.length > 0) return Promise.resolve({ committed: false, unmet })
    const revision = this.#revision + 1
    let isNoted = false
    // An event is put under several keys, but its bytes are stored once.
    let given: Uint8Array | undefined
    let kept = EMPTY
    for (const operation of operations) {
      const { key } = operation
      if (operation.do === 'put') {
        if (operation.value !== given) {
          given = operation.value
          kept = this.#keep(given)
        }
        this.#put(key, { value: kept, revision, ttlMs: operation.ttlMs })
      } else if (!this.#drop(key)) continue
      this.#log.push({ key, kind: operation.do, revision })
      isNoted = true
    }
    if (isNoted) this.#tell(revision)
    return Promise.resolve({ committed: true, revision })
  }

  clearSome({ from, to }: KeyStretch): Promise<Cleared> {
    this.#removeExpired(Infinity)
    const keys: string[] = []
    for (const key of this.#keys.ascending(from)) {
      if ((to !== undefined && compareKeys(key, to) >= 0) || keys.length > STORE_CLEAR_ENTRIES) break
      keys.push(key)
    }
    const some = keys.slice(0, STORE_CLEAR_ENTRIES)
    for (const key of some) this.#drop(key)
    this.#noteDeletes(some)
    return Promise.resolve({ count: some.length, more: keys.length > some.length })
  }

  openFeed(stretch: KeyStretch): ChangeFeed {
    const isInside = ({ key }: StoreChange): boolean => isWithin(stretch, key)
    return {
      end: () => Promise.resolve(String(this.#revision)),
      read: (cursor) => Promise.resolve(this.#readChanges(Number(cursor), isInside)),
      wait: (cursor, signal) => {
        if (Number(cursor) < this.#revision) return Promise.resolve()
        return this.#wakeUps.wait(STORE_WATCH_POLL_MS, signal)
      },
      close: () => Promise.resolve(),
    }
  }

  /** Nothing to do: other stores may use the same space. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  #isAlive({ expires, expiresAtMs }: Held): boolean {
    return !expires || expiresAtMs > this.#clock.monotonicMs()
  }

  #put(
    key: string,
    {
      value,
      revision,
      ttlMs,
    }: { readonly value: Uint8Array; readonly revision: number; readonly ttlMs: number | undefined },
  ): void {
    const expiresAtMs = ttlMs === undefined ? Infinity : this.#clock.monotonicMs() + ttlMs
    // Overwritten in place: a Map rebuilds itself often if keys are deleted and added again.
    const before = this.#held.get(key)
    if (before === undefined) this.#keys.add(key)
    else if (before.expires) this.#expiries.delete(expiryOf(key, before.expiresAtMs))
    this.#held.set(key, {
      key,
      value,
      revision,
      expires: ttlMs !== undefined,
      expiresAtMs,
    })
    if (expiresAtMs !== Infinity) this.#expiries.add(expiryOf(key, expiresAtMs))
  }

  /** A copy, since the caller may change its bytes later. */
  #keep(value: Uint8Array): Uint8Array {
    const { byteLength } = value
    if (byteLength > KEPT_TOGETHER_MAX_BYTES) return new Uint8Array(value)
    // A separate allocation for each small value would cost more than the rest of the write.
    if (this.#block.byteLength < byteLength) this.#block = new Uint8Array(BLOCK_BYTES)
    const copied = this.#block.subarray(0, byteLength)
    copied.set(value)
    this.#block = this.#block.subarray(byteLength)
    return copied
  }

  #drop(key: string): boolean {
    const held = this.#held.get(key)
    if (held === undefined) return false
    this.#held.delete(key)
    this.#keys.delete(key)
    if (held.expiresAtMs !== Infinity) this.#expiries.delete(expiryOf(key, held.expiresAtMs))
    return true
  }

  #removeExpired(most = STORE_EXPIRED_PER_SWEEP): void {
    if (this.#expiries.size === 0) return
    const behindNow = String(Math.floor(this.#clock.monotonicMs() * 1000) + 1).padStart(EXPIRY_DIGITS, '0')
    const keys: string[] = []
    for (const expiry of this.#expiries.ascending('')) {
      if (expiry >= behindNow || keys.length === most) break
      keys.push(expiry.slice(EXPIRY_DIGITS + 1))
    }
    for (const key of keys) this.#drop(key)
    this.#noteDeletes(keys)
  }

  #noteDeletes(keys: readonly string[]): void {
    if (keys.length === 0) return
    const revision = this.#revision + 1
    for (const key of keys) this.#log.push({ key, kind: 'delete', revision })
    this.#tell(revision)
  }

  /** Of the changes that were just noted. */
  #tell(revision: number): void {
    this.#revision = revision
    // Deleted in large pieces: removing the first element of a long array is slow.
    if (this.#log.length > 2 * this.#changesKept) {
      const kept = this.#log[this.#log.length - this.#changesKept]?.revision ?? revision
      this.#log = this.#log.slice(this.#placeBehind(kept - 1))
      this.#logStart = kept - 1
    }
    this.#wakeUps.wake()
  }

  #readChanges(after: number, isInside: (change: StoreChange) => boolean): ChangeRead | 'lost' {
    this.#removeExpired()
    if (!(after >= this.#logStart && after <= this.#revision)) return 'lost'
    const changes: StoreChange[] = []
    for (let at = this.#placeBehind(after); at < this.#log.length; at += 1) {
      const change = this.#log[at]
      if (change !== undefined && isInside(change)) changes.push({ key: change.key, kind: change.kind })
    }
    return { changes, cursor: String(this.#revision), more: false }
  }

  /** The place of the first change behind a revision. */
  #placeBehind(revision: number): number {
    let [low, high] = [0, this.#log.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#log[middle]?.revision ?? 0) <= revision) low = middle + 1
      else high = middle
    }
    return low
  }
}

const EMPTY: Uint8Array = new Uint8Array(0)
const EXPIRY_DIGITS = 20
/** Small, because one remaining value keeps the whole block in memory. */
const BLOCK_BYTES = 4096
const KEPT_TOGETHER_MAX_BYTES = 512

function expiryOf(key: string, atMs: number): string {
  return `${String(Math.ceil(atMs * 1000)).padStart(EXPIRY_DIGITS, '0')} ${key}`
}

function copy({ key, value, revision, expires }: Held): StoreEntry {
  return { key, value: new Uint8Array(value), revision, expires }
}
