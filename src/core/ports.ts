/**
 * What the core needs of a store: an ordered space of keys, changed by atomic batches under conditions, and watched.
 *
 * Keys are ordered by their UTF-8 bytes. Everything else the core keeps (events, variables, the log, the registry) is a
 * way of choosing keys; see `keys.ts`. Every implementation passes the suite in `test/conformance/store.ts`.
 */

/** What one key holds. */
export interface StoreEntry {
  readonly key: string
  readonly value: Uint8Array
  /**
   * Tells one writing of this key from every other: a later one has a higher revision, also after the key was deleted.
   * Revisions of different keys say nothing about each other.
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
      /** After this time the entry is gone: never sooner by the store's clock, and soon after. A later put begins anew. */
      readonly ttlMs?: number
    }
  | { readonly do: 'delete'; readonly key: string }

/** All of it happens, or none. A key stands in at most one operation and in at most one condition. */
export interface StoreBatch {
  readonly conditions?: readonly StoreCondition[]
  readonly operations: readonly StoreOperation[]
}

export type CommitOutcome =
  | {
      readonly committed: true
      /** What the entries that the batch put carry from now on; means nothing where it put none. */
      readonly revision: number
    }
  | {
      readonly committed: false
      /** The conditions that did not hold, in the order of the batch, with what was found: `undefined` for absent. */
      readonly unmet: readonly { readonly key: string; readonly revision: number | undefined }[]
    }

export interface RangeRequest {
  /** Only keys that begin like this; the empty text takes all. */
  readonly prefix: string
  /** Begin behind this key, in the direction of travel. It need not exist. */
  readonly after?: string | undefined
  readonly order?: 'ascending' | 'descending' | undefined
  /** The most entries of one page; it may hold fewer when they are large. */
  readonly limit?: number | undefined
}

/** One page, as it was at one moment. */
export interface RangePage {
  readonly entries: readonly StoreEntry[]
  /** Give it as `after` for the next page; `undefined` on the last one. */
  readonly next: string | undefined
}

export interface StoreChange {
  readonly key: string
  /** An entry that expires is deleted. */
  readonly kind: 'put' | 'delete'
}

/**
 * What a watch tells. Changes of one key come in their order, and those of one batch come together; what the entries hold
 * now is for the watcher to read. A `gap` says that changes may have been missed: read the range again.
 */
export type WatchNotice =
  | { readonly kind: 'ready' | 'gap'; readonly cursor: string }
  | { readonly kind: 'changes'; readonly changes: readonly StoreChange[]; readonly cursor: string }

export interface WatchRequest {
  readonly prefix: string
  /** The cursor of an earlier notice, to go on where another watch of the same store stopped. */
  readonly after?: string
  /** Ends the watch, quietly. */
  readonly signal: AbortSignal
}

export interface StoreCallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The store under the core.
 *
 * A call that surely did nothing rejects with an error of kind `unavailable`. One whose answer was lost rejects with kind
 * `uncertain`, and says what to read: the batch may have happened, as a whole.
 *
 * ```ts
 * const outcome = await store.commit({
 *   conditions: [{ key, is: 'absent' }],
 *   operations: [{ do: 'put', key, value }],
 * })
 * if (!outcome.committed) console.log('somebody was faster')
 * ```
 */
export interface Store {
  /** What it is, for messages: `sqlite`, `redis`. */
  readonly name: string
  get(key: string, options?: StoreCallOptions): Promise<StoreEntry | undefined>
  /**
   * What `get` answers, at once and without a copy: its bytes are the store's own and must not be changed. Only a store that
   * holds everything in this process has it. Whoever wraps a store and answers `get` differently leaves it out.
   */
  readonly peek?: ((key: string) => StoreEntry | undefined) | undefined
  range(request: RangeRequest, options?: StoreCallOptions): Promise<RangePage>
  commit(batch: StoreBatch, options?: StoreCallOptions): Promise<CommitOutcome>
  /**
   * Deletes every key that begins with `prefix`, and tells how many there were. In pieces: one that is cut short may have
   * deleted some, and may be called again.
   */
  clear(prefix: string, options?: StoreCallOptions): Promise<number>
  /** Everything that is committed after its `ready` notice is told, or a `gap` is. */
  watch(request: WatchRequest): AsyncIterable<WatchNotice>
  /** May be called twice. Ends watches; later calls are refused. */
  close(): Promise<void>
}
