/**
 * What the core needs of a store: an ordered space of keys, changed by atomic batches under conditions, and watched.
 *
 * Keys are ordered by their UTF-8 bytes. `keys.ts` maps events, variables, the log and the registry to keys. Every
 * implementation passes the suite in `test/conformance/store.ts`.
 */

/** One key and its value. */
export interface StoreEntry {
  readonly key: string
  readonly value: Uint8Array
  /**
   * A later write of this key has a higher revision, also after the key was deleted. Revisions of different keys cannot be
   * compared.
   */
  readonly revision: number
  /** Whether it was put with a time to live. */
  readonly expires: boolean
}

export type StoreCondition =
  | { readonly key: string; readonly is: 'absent' | 'present' }
  | { readonly key: string; readonly is: 'at'; readonly revision: number }

export type StoreOperation =
  | {
      readonly do: 'put'
      readonly key: string
      readonly value: Uint8Array
      /** The entry expires after this time: not earlier by the store's clock, and soon after. A later put replaces it. */
      readonly ttlMs?: number | undefined
    }
  | { readonly do: 'delete'; readonly key: string }

export type StorePut = Extract<StoreOperation, { do: 'put' }>

/** Atomic. A key may be in at most one operation and in at most one condition. */
export interface StoreBatch {
  readonly conditions?: readonly StoreCondition[]
  readonly operations: readonly StoreOperation[]
}

export type CommitOutcome =
  | {
      readonly committed: true
      /** The revision of all entries that the batch put; meaningless if it put none. */
      readonly revision: number
    }
  | {
      readonly committed: false
      /** The conditions that did not hold, in the order of the batch, with the revision found: `undefined` for absent. */
      readonly unmet: readonly { readonly key: string; readonly revision: number | undefined }[]
    }

export interface RangeRequest {
  /** Only keys that begin with this; the empty string matches all. */
  readonly prefix: string
  /** Start after this key, in the given order. The key need not exist. */
  readonly after?: string | undefined
  readonly order?: 'ascending' | 'descending' | undefined
  /** The most entries per page; a page of large entries may have fewer. */
  readonly limit?: number | undefined
}

/** One page: a consistent view of one moment. */
export interface RangePage {
  readonly entries: readonly StoreEntry[]
  /** Pass it as `after` to read the next page; `undefined` on the last page. */
  readonly next: string | undefined
}

export interface StoreChange {
  readonly key: string
  /** An entry that expires is deleted. */
  readonly kind: 'put' | 'delete'
}

/**
 * A notice of a watch. Changes of one key come in order, and those of one batch together, without values: the watcher reads
 * them. `gap`: changes may have been missed; read the range again.
 */
export type WatchNotice =
  | { readonly kind: 'ready' | 'gap'; readonly cursor: string }
  | { readonly kind: 'changes'; readonly changes: readonly StoreChange[]; readonly cursor: string }

export interface WatchRequest {
  readonly prefix: string
  /** The cursor of an earlier notice, to continue where another watch of the same store stopped. */
  readonly after?: string
  /** Ends the watch without an error. */
  readonly signal: AbortSignal
}

export interface StoreCallOptions {
  /** Stops waiting for the call. A write that was sent may still take effect. */
  readonly signal?: AbortSignal | undefined
}

/**
 * The store under the core.
 *
 * A call that did nothing rejects with an error of kind `unavailable`. One whose response was lost rejects with kind
 * `uncertain`, and says what to read: the batch happened as a whole or not at all.
 *
 * ```ts
 * const outcome = await store.commit({
 *   conditions: [{ key, is: 'absent' }],
 *   operations: [{ do: 'put', key, value }],
 * })
 * if (!outcome.committed) console.log('another writer was faster')
 * ```
 */
export interface Store {
  /** The kind of store, for messages: `sqlite`, `redis`. */
  readonly name: string
  get(key: string, options?: StoreCallOptions): Promise<StoreEntry | undefined>
  /**
   * As `get`, but synchronous and without a copy: the bytes belong to the store and must not be changed. Only a store whose
   * data is in this process has it. A wrapper that changes what `get` returns must omit it.
   */
  readonly peek?: ((key: string) => StoreEntry | undefined) | undefined
  range(request: RangeRequest, options?: StoreCallOptions): Promise<RangePage>
  commit(batch: StoreBatch, options?: StoreCallOptions): Promise<CommitOutcome>
  /**
   * Deletes every key that begins with `prefix`, and returns how many there were. Not atomic: an interrupted call may have
   * deleted some keys, and can be repeated.
   */
  clear(prefix: string, options?: StoreCallOptions): Promise<number>
  /**
   * As `clear`, of several prefixes in fewer round trips; returns how many keys each had. No prefix may begin with another. A wrapper
   * that changes what `clear` does must omit it.
   */
  readonly clearEach?:
    ((prefixes: readonly string[], options?: StoreCallOptions) => Promise<readonly number[]>) | undefined
  /** Reports every change that is committed after its `ready` notice, or a `gap`. */
  watch(request: WatchRequest): AsyncIterable<WatchNotice>
  /** What it takes on its disk, about. Only a store that knows it without reading everything has it. */
  readonly sizeBytes?: ((options?: StoreCallOptions) => Promise<number>) | undefined
  /** May be called twice. Ends watches; later calls throw. */
  close(): Promise<void>
}
