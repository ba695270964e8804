/**
 * What one kind of store has to do; `guard.ts` makes a `Store` of it. What reaches a backend was checked: it has legal
 * keys, batches within their limits, and a signal that is not aborted yet.
 */

import type {
  CommitOutcome,
  RangePage,
  StoreChange,
  StoreCondition,
  StoreEntry,
  StoreOperation,
} from '../core/ports.ts'

/** A batch within its limits, its lists there. */
export interface CheckedBatch {
  readonly conditions: readonly StoreCondition[]
  readonly operations: readonly StoreOperation[]
}

/** Keys from `from` on and below `to`; nothing bounds them where `to` is `undefined`. */
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
  /** As `get`, at once and without a copy; only where nothing has to be waited for. */
  peek?(key: string): StoreEntry | undefined
  range(span: KeySpan, signal: AbortSignal | undefined): Promise<RangePage>
  commit(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome>
  /** Deletes some keys of the stretch, those from its beginning, and tells how many, and whether more are left. */
  clearSome(stretch: KeyStretch, signal: AbortSignal | undefined): Promise<Cleared>
  /** The changes of one stretch of keys, for one watch. */
  openFeed(stretch: KeyStretch): ChangeFeed
  close(): Promise<void>
}

export interface Cleared {
  readonly count: number
  readonly more: boolean
}

/** The changes after a place in a store's history, whole batches only. */
export interface ChangeRead {
  readonly changes: readonly StoreChange[]
  readonly cursor: string
  /** Whether it is worth asking again at once. */
  readonly more: boolean
}

/** Where one watch reads. A cursor is a place between two batches. */
export interface ChangeFeed {
  /** The place behind the last batch. */
  end(signal: AbortSignal): Promise<string>
  /** `lost` when changes after the cursor are no longer known, or the cursor is of another history. */
  read(cursor: string, signal: AbortSignal): Promise<ChangeRead | 'lost'>
  /** Resolves when there may be more, at the latest after the time between two looks. */
  wait(cursor: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
