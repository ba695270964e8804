/**
 * What a kind of store implements; `guard.ts` makes a `Store` of it. Arguments are checked before they reach a backend: keys
 * are valid, batches within their limits, and the signal is not aborted yet.
 */

import type { CommitOutcome, RangePage, StoreBatch, StoreChange, StoreEntry } from '../core/ports.ts'

export type CheckedBatch = Required<StoreBatch>

/** Keys from `from` (included) to `to` (excluded); without an upper bound where `to` is `undefined`. */
export interface KeyStretch {
  readonly from: string
  readonly to: string | undefined
}

export interface KeySpan extends KeyStretch {
  readonly order: 'ascending' | 'descending'
  readonly limit: number
}

export interface Backend {
  readonly name: string
  get(key: string, signal: AbortSignal | undefined): Promise<StoreEntry | undefined>
  /** As `get`, but synchronous and without a copy; only for data in this process. */
  peek?(key: string): StoreEntry | undefined
  range(span: KeySpan, signal: AbortSignal | undefined): Promise<RangePage>
  commit(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome>
  /** Deletes the first keys of the range; returns how many, and whether more are left. */
  clearSome(stretch: KeyStretch, signal: AbortSignal | undefined): Promise<Cleared>
  /** The same of several ranges, where that is one round trip. */
  clearSomeOfEach?(stretches: readonly KeyStretch[], signal: AbortSignal | undefined): Promise<ClearedOfEach>
  /** The changes of a range of keys, for one watch. */
  openFeed(stretch: KeyStretch): ChangeFeed
  /** What it takes on its disk, about; only where that is cheap to know. */
  sizeBytes?(signal: AbortSignal | undefined): Promise<number>
  close(): Promise<void>
}

export interface Cleared {
  readonly count: number
  readonly more: boolean
}

export interface ClearedOfEach {
  readonly counts: readonly number[]
  readonly more: boolean
}

/** Changes after a cursor, whole batches only. */
export interface ChangeRead {
  readonly changes: readonly StoreChange[]
  readonly cursor: string
  /** Whether to read again at once. */
  readonly more: boolean
}

/** The source of one watch. A cursor is a position between two batches. */
export interface ChangeFeed {
  /** The cursor after the last batch. */
  end(signal: AbortSignal): Promise<string>
  /** `lost`: changes after the cursor are no longer stored, or the cursor is from another store. */
  read(cursor: string, signal: AbortSignal): Promise<ChangeRead | 'lost'>
  /** Resolves when there may be more changes, at the latest after the poll interval. */
  wait(cursor: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
