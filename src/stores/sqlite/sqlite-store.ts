/**
 * The store in one file, through SQLite. The default: durable, nothing to install.
 *
 * A batch is checked and written in one transaction, and concurrent batches share one, with one sync to disk. Several
 * processes may open the same file; they write one at a time.
 */

import { systemClock, type Clock } from '../../base/clock.ts'
import { isPeragoError, messageOf, UnavailableError, UncertainError } from '../../base/errors.ts'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import { STORE_PAGE_MAX_BYTES } from '../../core/limits.ts'
import {
  STORE_ANSWER_TIMEOUT_MS,
  STORE_CHANGES_KEPT,
  STORE_CHANGES_PAGE,
  STORE_CLEAR_ENTRIES,
  STORE_EXPIRED_PER_SWEEP,
  STORE_WATCH_POLL_MS,
  STORE_WRITES_TOGETHER_MAX,
  STORE_WRITES_WAITING_MAX,
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
import { bufferOf } from '../bytes.ts'
import { findUnmet } from '../conditions.ts'
import { guardStore } from '../guard.ts'
import { WakeUps } from '../wake-ups.ts'
import { openDatabase } from './database.ts'

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

interface Row {
  readonly key: string
  readonly value: Buffer
  readonly revision: number
  readonly expires_at: number | null
}

interface State {
  readonly epoch: string
  readonly revision: number
  readonly forgotten: number
}

interface Waiting {
  readonly write: () => unknown
  readonly resolve: (outcome: unknown) => void
  readonly reject: (error: unknown) => void
  /** What to read if the response is lost. */
  readonly keys: readonly string[]
}

const BUSY_PAUSE_MS = 5
/** How often a watch polls for changes of other processes. */
const LOOK_MS = Math.min(100, STORE_WATCH_POLL_MS)
/** Old changes are deleted once per this many revisions. */
const FORGET_EVERY = 64
const ASKED_TOGETHER = 8
const ALIVE = '(expires_at IS NULL OR expires_at > ?)'

class SqliteBackend implements Backend {
  readonly name = 'sqlite'
  readonly #db: SqliteConnection
  readonly #clock: Clock
  readonly #changesKept: number
  readonly #wakeUps = new WakeUps()
  #waiting: Waiting[] = []
  #flushing: Promise<void> | undefined

  constructor(db: SqliteConnection, { clock, changesKept }: SqliteStoreOptions) {
    this.#db = db
    this.#clock = clock ?? systemClock
    this.#changesKept = changesKept ?? STORE_CHANGES_KEPT
  }

  get(key: string): Promise<StoreEntry | undefined> {
    const sql = `SELECT key, value, revision, expires_at FROM entries WHERE key = ? AND ${ALIVE}`
    const read = (): StoreEntry | undefined => {
      const row = this.#db.get<Row>(sql, key, this.#now())
      return row && show(row)
    }
    return this.#ask(`read key ${JSON.stringify(key)}`, read)
  }

  range(span: KeySpan): Promise<RangePage> {
    const { order, limit } = span
    return this.#read('read a range', () => {
      const direction = order === 'ascending' ? 'ASC' : 'DESC'
      // Sizes first, so that a page of huge values is never read at once.
      const sql = `SELECT key, length(value) AS bytes FROM entries WHERE ${inStretch(span)} AND ${ALIVE} ORDER BY key ${direction} LIMIT ?`
      const sizes = this.#db.all<{ key: string; bytes: number }>(sql, ...keysIn(span), this.#now(), limit + 1)
      let [count, bytes] = [0, 0]
      while (count < Math.min(limit, sizes.length) && bytes < STORE_PAGE_MAX_BYTES)
        bytes += sizes[count++]?.bytes ?? 0
      const page = sizes.slice(0, count).map(({ key }) => key)
      const entries = page.flatMap((key) => {
        const row = this.#db.get<Row>(
          'SELECT key, value, revision, expires_at FROM entries WHERE key = ?',
          key,
        )
        return row === undefined ? [] : [show(row)]
      })
      return { entries, next: count < sizes.length ? page.at(-1) : undefined }
    })
  }

  commit(batch: CheckedBatch): Promise<CommitOutcome> {
    const keys = batch.operations.map(({ key }) => key)
    return this.#write(keys, () => this.#apply(batch)) as Promise<CommitOutcome>
  }

  clearSome(stretch: KeyStretch): Promise<Cleared> {
    return this.#write([stretch.from], (): Cleared => {
      this.#removeExpired(-1)
      const sql = `SELECT key FROM entries WHERE ${inStretch(stretch)} ORDER BY key LIMIT ?`
      const found = this.#db.all<{ key: string }>(sql, ...keysIn(stretch), STORE_CLEAR_ENTRIES + 1)
      const some = found.slice(0, STORE_CLEAR_ENTRIES).map(({ key }) => key)
      this.#removeAll(some)
      return { count: some.length, more: found.length > some.length }
    }) as Promise<Cleared>
  }

  openFeed(stretch: KeyStretch): ChangeFeed {
    return {
      end: () => this.#ask('watch', () => cursorOf(this.#state())),
      read: async (cursor) => {
        // Expired entries are removed here if nobody writes.
        if (this.#hasExpired()) await this.#write([], () => this.#removeExpired(STORE_EXPIRED_PER_SWEEP))
        return this.#read('watch', () => this.#readChanges(cursor, stretch))
      },
      wait: async (cursor, signal) => {
        const end = performance.now() + STORE_WATCH_POLL_MS
        while (!signal.aborted && performance.now() < end) {
          if (cursorOf(this.#state()) !== cursor || this.#hasExpired()) return
          await this.#wakeUps.wait(LOOK_MS, signal)
        }
      },
      close: () => Promise.resolve(),
    }
  }

  async close(): Promise<void> {
    await this.#flushing
    this.#db.close()
  }

  #apply({ conditions, operations }: CheckedBatch): CommitOutcome {
    const now = this.#now()
    const revisions = this.#revisionsOf(
      conditions.map(({ key }) => key),
      now,
    )
    const unmet = findUnmet(conditions, (key) => revisions.get(key))
    if (unmet.length > 0) return { committed: false, unmet }
    const revision = operations.length === 0 ? 0 : this.#nextRevision()
    const changes: StoreChange[] = []
    for (const operation of operations) {
      const { key } = operation
      if (operation.do === 'put') {
        const expiresAt = operation.ttlMs === undefined ? null : now + operation.ttlMs
        const value = bufferOf(operation.value)
        this.#db.run('INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)', key, value, revision, expiresAt)
      } else if (this.#db.run('DELETE FROM entries WHERE key = ?', key) === 0) continue
      changes.push({ key, kind: operation.do })
    }
    this.#tell(changes, revision)
    return { committed: true, revision }
  }

  /** Several keys per query: a query costs more than a key. */
  #revisionsOf(keys: readonly string[], now: number): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (let at = 0; at < keys.length; at += ASKED_TOGETHER) {
      const some = keys.slice(at, at + ASKED_TOGETHER)
      const columns = some.map(
        (_, place) => `(SELECT revision FROM entries WHERE key = ? AND ${ALIVE}) AS r${place}`,
      )
      const row = this.#db.get<Readonly<Record<string, number | null>>>(
        `SELECT ${columns.join(', ')}`,
        ...some.flatMap((key) => [key, now]),
      )
      for (const [place, key] of some.entries()) {
        const revision = row?.[`r${place}`] ?? null
        if (revision !== null) found.set(key, revision)
      }
    }
    return found
  }

  #hasExpired(): boolean {
    return this.#db.get('SELECT 1 FROM entries WHERE expires_at <= ? LIMIT 1', this.#now()) !== undefined
  }

  #removeExpired(most: number): void {
    const sql = 'SELECT key FROM entries WHERE expires_at <= ? ORDER BY expires_at LIMIT ?'
    this.#removeAll(this.#db.all<{ key: string }>(sql, this.#now(), most).map(({ key }) => key))
  }

  #removeAll(keys: readonly string[]): void {
    if (keys.length === 0) return
    for (const key of keys) this.#db.run('DELETE FROM entries WHERE key = ?', key)
    this.#tell(
      keys.map((key) => ({ key, kind: 'delete' })),
      this.#nextRevision(),
    )
  }

  /** An unused revision does no harm. */
  #nextRevision(): number {
    const row = this.#db.get<{ revision: number }>(
      'UPDATE state SET revision = revision + 1 RETURNING revision',
    )
    if (row === undefined) throw this.#broken()
    return row.revision
  }

  #tell(changes: readonly StoreChange[], revision: number): void {
    for (const [position, { key, kind }] of changes.entries()) {
      this.#db.run('INSERT INTO changes VALUES (?, ?, ?, ?)', revision, position, key, kind)
    }
    const forgotten = revision - this.#changesKept
    if (revision % FORGET_EVERY !== 0 || forgotten <= 0) return
    this.#db.run('DELETE FROM changes WHERE revision <= ?', forgotten)
    this.#db.run('UPDATE state SET forgotten = ?', forgotten)
  }

  #readChanges(cursor: string, stretch: KeyStretch): ChangeRead | 'lost' {
    const state = this.#state()
    const [epoch, text] = cursor.split('.')
    const after = Number(text)
    if (epoch !== state.epoch || !(after >= state.forgotten && after <= state.revision)) return 'lost'
    const upTo = Math.min(state.revision, after + STORE_CHANGES_PAGE)
    const changes = this.#db.all<StoreChange>(
      `SELECT key, kind FROM changes WHERE revision > ? AND revision <= ? AND ${inStretch(stretch)} ORDER BY revision, position`,
      after,
      upTo,
      ...keysIn(stretch),
    )
    return {
      changes: changes.map(({ key, kind }) => ({ key, kind })),
      cursor: cursorOf({ ...state, revision: upTo }),
      more: upTo < state.revision,
    }
  }

  #state(): State {
    const state = this.#db.get<State>('SELECT epoch, revision, forgotten FROM state')
    if (state === undefined) throw this.#broken()
    return state
  }

  #broken(): UnavailableError {
    return new UnavailableError('stores/broken', `use ${this.#db.file}: its state is missing`)
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
        if (this.#hasExpired()) this.#removeExpired(STORE_EXPIRED_PER_SWEEP)
        const outcomes = together.map(({ write }) => write())
        isCommitting = true
        this.#db.exec('COMMIT')
        for (const [at, { resolve }] of together.entries()) resolve(outcomes[at])
        return
      } catch (error) {
        this.#db.rollBack()
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

  #failed(doing: string, cause: unknown): UnavailableError {
    if (isPeragoError(cause) && cause instanceof UnavailableError) return cause
    return new UnavailableError(
      'stores/not-done',
      `${doing} (${this.#db.file}): ${messageOf(cause)}; nothing was written`,
      {
        details: { file: this.#db.file },
        next: 'Try again. If it persists, check the disk and which other processes use the file.',
        cause,
      },
    )
  }

  /** The commit failed on disk. */
  #lost(keys: readonly string[], cause: unknown): UncertainError {
    return new UncertainError('stores/answer-lost', `write a batch (${this.#db.file}): ${messageOf(cause)}`, {
      read: `the key ${JSON.stringify(keys[0] ?? '')}`,
      details: { file: this.#db.file, keys },
      next: 'Read a key of the batch: it was written as a whole or not at all.',
      cause,
    })
  }
}

function inStretch({ to }: KeyStretch): string {
  return to === undefined ? 'key >= ?' : 'key >= ? AND key < ?'
}

function keysIn({ from, to }: KeyStretch): readonly string[] {
  return to === undefined ? [from] : [from, to]
}

function cursorOf({ epoch, revision }: Pick<State, 'epoch' | 'revision'>): string {
  return `${epoch}.${revision}`
}

function show({ key, value, revision, expires_at: expiresAt }: Row): StoreEntry {
  // A Buffer may be a view of larger memory; the caller gets a copy.
  return { key, value: Uint8Array.from(value), revision, expires: expiresAt !== null }
}

function isBusy(error: unknown): boolean {
  return (
    error instanceof Error &&
    /SQLITE_BUSY|database is locked/.test(`${String((error as { code?: unknown }).code)} ${error.message}`)
  )
}
