/**
 * The store in one file, through SQLite. The default: durable, nothing to install.
 *
 * A batch is checked and written in one transaction, and concurrent batches share one, with one sync to disk. Several
 * processes may open the same file; they write one at a time.
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import {
  isPeragoError,
  messageOf,
  UnavailableError,
  UncertainError,
  type PeragoError,
} from '../../base/errors.ts'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import { nextAfter, sqliteTroubleOf } from '../../base/sqlite-trouble.ts'
import {
  STORE_ANSWER_TIMEOUT_MS,
  STORE_CHANGES_KEPT,
  STORE_CLEAR_ENTRIES,
  STORE_EXPIRED_PER_SWEEP,
  STORE_WATCH_POLL_MS,
  STORE_WRITES_TOGETHER_MAX,
  STORE_WRITES_WAITING_MAX,
} from '../limits.ts'
import type { CommitOutcome, RangePage, Store, StoreChange, StoreEntry } from '../../core/ports.ts'
import type { Backend, ChangeFeed, CheckedBatch, Cleared, KeySpan, KeyStretch } from '../backend.ts'
import { bufferOf } from '../bytes.ts'
import { findUnmet } from '../conditions.ts'
import { corruptStore } from '../corruption.ts'
import { guardStore } from '../guard.ts'
import { WakeUps } from '../wake-ups.ts'
import { ChangeLog } from './change-log.ts'
import { CommitMark } from './commit-mark.ts'
import { openDatabase } from './database.ts'
import { EntryTable, showEntry } from './entry-table.ts'
import { sizeOfDatabase } from './file-size.ts'

export interface SqliteStoreOptions {
  /** Created with its directories if it does not exist. */
  readonly file: string
  /** For expiry; processes that share the file must have the same time. */
  readonly clock?: Clock
  /** Changes kept for watches that lag behind. */
  readonly changesKept?: number
}

/**
 * ```ts
 * const store = openSqliteStore({ file: '.perago/store.db' })
 * ```
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return guardStore(new SqliteBackend(openDatabase(options.file), options))
}

interface Waiting {
  readonly write: () => unknown
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
  /** What to read if the response is lost. */
  readonly keys: readonly string[]
}

const CORRUPT = 'stores/corrupt'
const BUSY_PAUSE_MS = 5
/** How often a watch polls for changes of other processes. */
const LOOK_MS = Math.min(100, STORE_WATCH_POLL_MS)
class SqliteBackend implements Backend {
  readonly name = 'sqlite'
  readonly #db: SqliteConnection
  readonly #clock: Clock
  readonly #entries: EntryTable
  readonly #changes: ChangeLog
  readonly #wakeUps = new WakeUps()
  readonly #mark: CommitMark
  #waiting: Waiting[] = []
  #flushing: Promise<void> | undefined

  constructor(db: SqliteConnection, { clock, changesKept }: SqliteStoreOptions) {
    this.#db = db
    this.#clock = clock ?? systemClock
    this.#entries = new EntryTable(db)
    this.#mark = new CommitMark(db.file)
    this.#changes = new ChangeLog(db, changesKept ?? STORE_CHANGES_KEPT)
  }

  get(key: string): Promise<StoreEntry | undefined> {
    return this.#ask(`read key ${JSON.stringify(key)}`, () => {
      const stored = this.#entries.get(key)
      const isGone = stored === undefined || (stored.expiresAt !== null && stored.expiresAt <= this.#now())
      return isGone ? undefined : showEntry(key, stored)
    })
  }

  sizeBytes(): Promise<number> {
    return this.#ask('measure the store', () => sizeOfDatabase(this.#db.file))
  }

  async range(span: KeySpan): Promise<RangePage> {
    try {
      return await this.#read('read a range', () => this.#entries.range(span, this.#now()))
    } catch (cause) {
      if (!isPeragoError(cause) || cause.code !== CORRUPT || cause.details['key'] !== undefined) throw cause
      // Not in a transaction: SQLite commits none in which it has met damage.
      const page = await this.#ask('read a range', () => this.#entries.rangeUpToDamage(span, this.#now()))
      if ('entries' in page) return page
      const { damaged: key } = page
      throw corruptStore({
        where: this.#db.file,
        doing: 'read a range',
        what: 'a part of the file is damaged',
        key,
        cause,
      })
    }
  }

  commit(batch: CheckedBatch): Promise<CommitOutcome> {
    const keys = batch.operations.map(({ key }) => key)
    return this.#write(keys, () => this.#apply(batch)) as Promise<CommitOutcome>
  }

  clearSome(stretch: KeyStretch): Promise<Cleared> {
    return this.#write([stretch.from], (): Cleared => {
      this.#removeExpired(-1)
      const found = this.#entries.keysIn(stretch, STORE_CLEAR_ENTRIES)
      const some = found.slice(0, STORE_CLEAR_ENTRIES)
      this.#removeAll(some)
      return { count: some.length, more: found.length > some.length }
    }) as Promise<Cleared>
  }

  openFeed(stretch: KeyStretch): ChangeFeed {
    return {
      end: () => this.#ask('watch', () => this.#changes.end()),
      read: async (cursor) => {
        // Expired entries are removed here if nobody writes.
        const hasExpired = await this.#ask('watch', () => this.#entries.hasExpired(this.#now()))
        if (hasExpired) await this.#write([], () => this.#removeExpired(STORE_EXPIRED_PER_SWEEP))
        return this.#read('watch', () => this.#changes.read(cursor, stretch))
      },
      wait: async (cursor, signal) => {
        const end = performance.now() + STORE_WATCH_POLL_MS
        while (!signal.aborted && performance.now() < end) {
          const isNew = () => this.#changes.end() !== cursor || this.#entries.hasExpired(this.#now())
          if (await this.#ask('watch', isNew)) return
          await this.#wakeUps.wait(LOOK_MS, signal)
        }
      },
      close: () => Promise.resolve(),
    }
  }

  async close(): Promise<void> {
    await this.#flushing
    this.#db.emptyLog()
    this.#db.close()
    this.#mark.end()
  }

  #apply({ conditions, operations }: CheckedBatch): CommitOutcome {
    const now = this.#now()
    const revisions = this.#entries.revisionsOf(
      conditions.map(({ key }) => key),
      now,
    )
    const unmet = findUnmet(conditions, (key) => revisions.get(key))
    if (unmet.length > 0) return { committed: false, unmet }
    const revision = operations.length === 0 ? 0 : this.#changes.nextRevision()
    const changes: StoreChange[] = []
    for (const operation of operations) {
      const { key } = operation
      if (operation.do === 'put') {
        const expiresAt = operation.ttlMs === undefined ? null : now + operation.ttlMs
        this.#entries.put(key, { value: bufferOf(operation.value), revision, expiresAt })
      } else if (!this.#entries.remove(key)) continue
      changes.push({ key, kind: operation.do })
    }
    this.#changes.add(changes, revision)
    return { committed: true, revision }
  }

  #removeExpired(most: number): void {
    this.#removeAll(this.#entries.expired(this.#now(), most))
  }

  #removeAll(keys: readonly string[]): void {
    if (keys.length === 0) return
    for (const key of keys) this.#entries.remove(key)
    this.#changes.add(
      keys.map((key) => ({ key, kind: 'delete' })),
      this.#changes.nextRevision(),
    )
  }

  #now(): number {
    return this.#clock.now().getTime()
  }

  /** Several statements that see the same state. */
  #read<T>(doing: string, read: () => T): Promise<T> {
    return this.#ask(doing, () => {
      this.#db.exec('BEGIN')
      const result = read()
      this.#db.exec('COMMIT')
      return result
    })
  }

  /** A read of one statement. */
  async #ask<T>(doing: string, read: () => T): Promise<T> {
    const deadline = performance.now() + STORE_ANSWER_TIMEOUT_MS
    for (;;) {
      try {
        return read()
      } catch (error) {
        this.#db.rollBack()
        if (isPeragoError(error)) throw error
        if (!isBusy(error) || performance.now() > deadline) throw this.#failed(doing, error)
        await this.#clock.sleep(BUSY_PAUSE_MS)
      }
    }
  }

  #write(keys: readonly string[], write: () => unknown): Promise<unknown> {
    if (this.#waiting.length >= STORE_WRITES_WAITING_MAX) {
      const waiting = `${this.#waiting.length} batches are waiting already`
      return Promise.reject(
        new UnavailableError('stores/overloaded', `write to ${this.#db.file}: ${waiting}`, {
          next: 'Write less in parallel, or in larger batches.',
        }),
      )
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject, keys })
      this.#flushing ??= this.#flushAll()
    })
  }

  async #flushAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Writes of the same turn of the event loop share the transaction.
      await new Promise((resolve) => setImmediate(resolve))
      const together = this.#waiting.splice(0, STORE_WRITES_TOGETHER_MAX)
      await this.#flush(together)
      this.#wakeUps.wake()
    }
    // No await before this: a new write would wait for a flush that has ended.
    this.#flushing = undefined
  }

  async #flush(together: readonly Waiting[]): Promise<void> {
    const deadline = performance.now() + STORE_ANSWER_TIMEOUT_MS
    for (;;) {
      let isCommitting = false
      try {
        this.#db.exec('BEGIN IMMEDIATE')
        if (this.#entries.hasExpired(this.#now())) this.#removeExpired(STORE_EXPIRED_PER_SWEEP)
        const outcomes = together.map(({ write }) => write())
        const end = this.#changes.end()
        isCommitting = true
        this.#db.exec('COMMIT')
        this.#mark.note(end)
        for (const [at, { resolve }] of together.entries()) resolve(outcomes[at])
        return
      } catch (error) {
        this.#db.rollBack()
        if (isCorrupt(error) && together.length > 1) {
          // The others may have nothing to do with what is damaged.
          for (const one of together) await this.#flush([one])
          return
        }
        const busy = isBusy(error)
        if (!busy || performance.now() > deadline) {
          for (const { reject, keys } of together) {
            reject(isCommitting && !busy ? this.#lost(keys, error) : this.#failed('write a batch', error))
          }
          return
        }
        await this.#clock.sleep(BUSY_PAUSE_MS)
      }
    }
  }

  #failed(doing: string, cause: unknown): PeragoError {
    if (isPeragoError(cause) && (cause instanceof UnavailableError || isCorrupt(cause))) return cause
    const { file } = this.#db
    const trouble = sqliteTroubleOf(cause)
    if (isCorrupt(cause)) return corruptStore({ where: file, doing, what: messageOf(cause), cause })
    return new UnavailableError(
      'stores/not-done',
      `${doing} (${file}): ${messageOf(cause)}; nothing was written`,
      {
        details: { file },
        next:
          trouble === undefined || trouble === 'busy'
            ? 'Try again. If it persists, check the disk and which other processes use the file.'
            : nextAfter(trouble, file),
        cause,
      },
    )
  }

  /** The commit failed on disk. */
  #lost(keys: readonly string[], cause: unknown): UncertainError {
    return new UncertainError('stores/answer-lost', `write a batch (${this.#db.file}): ${messageOf(cause)}`, {
      read: `the key ${JSON.stringify(keys[0] ?? '')}`,
      details: { file: this.#db.file, keys },
      next: `Read a key of the batch: it was written as a whole or not at all.${isFull(cause) ? ` ${nextAfter('full', this.#db.file)}` : ''}`,
      cause,
    })
  }
}

function isBusy(error: unknown): boolean {
  return sqliteTroubleOf(error) === 'busy'
}

function isCorrupt(error: unknown): boolean {
  return isPeragoError(error) ? error.code === CORRUPT : sqliteTroubleOf(error) === 'corrupt'
}

function isFull(error: unknown): boolean {
  return sqliteTroubleOf(error) === 'full'
}
