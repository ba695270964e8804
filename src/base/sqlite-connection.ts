/** One SQLite file through libsql, whose calls are synchronous, with what is needed to use libsql safely. */

import { chmodSync, closeSync, openSync } from 'node:fs'
import Database from 'libsql'

export type SqlValue = string | number | bigint | Buffer | null

export class SqliteConnection {
  readonly file: string
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement>()
  /** Apart from the others: a `get` without a row gives the last row of an `all` on the same statement (libsql 0.5.29). */
  readonly #listStatements = new Map<string, Database.Statement>()
  readonly #closedError: () => Error

  /** `closedError` makes what a call after `close()` throws. */
  constructor(file: string, closedError: () => Error) {
    this.file = file
    this.#closedError = closedError
    makePrivate(file)
    this.#db = new Database(file)
  }

  get isInTransaction(): boolean {
    return this.#db.open && this.#db.inTransaction
  }

  exec(sql: string): void {
    this.#refuseClosed()
    this.#db.exec(sql)
  }

  /** The first row, or undefined. `Row` is what our own schema says the query gives. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- names the columns where they are asked for
  get<Row>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    // Never the raw mode: where there is no row its `get` returns one of an earlier call (libsql 0.5.29).
    return this.#prepare(sql).get([...values]) as Row | undefined
  }

  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    const rows = this.#prepare(sql, this.#listStatements).all([...values]) as Record<string, unknown>[]
    // `all` gives blobs as ArrayBuffer where `get` gives Buffer (libsql 0.5.29).
    for (const row of rows) {
      for (const column in row) {
        const value = row[column]
        if (value instanceof ArrayBuffer) row[column] = Buffer.from(value)
      }
    }
    return rows as Row[]
  }

  /** Returns how many rows were changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#prepare(sql).run([...values]).changes
  }

  /** The value of a pragma that has the name of its column. */
  pragma(name: string): unknown {
    return this.get<Record<string, unknown>>(`PRAGMA ${name}`)?.[name]
  }

  /** A log beside the file, at most so large when nothing is under way; committed transactions survive a power cut. */
  useDurableLog(maxBytes: number): void {
    this.get('PRAGMA journal_mode = WAL')
    // With WAL, FULL is what makes a committed transaction survive a power cut and not only a crash.
    this.exec('PRAGMA synchronous = FULL')
    this.exec(`PRAGMA journal_size_limit = ${maxBytes}`)
  }

  /** Moves what is in the log to the file, as far as nobody else is using it. */
  emptyLog(): void {
    if (!this.#db.open) return
    try {
      this.get('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // It stays in the log, as after a crash.
    }
  }

  get hasTables(): boolean {
    return this.get('SELECT 1 AS found FROM sqlite_schema LIMIT 1') !== undefined
  }

  /** All of `work` or nothing, against other processes too. */
  transaction<Result>(work: () => Result): Result {
    this.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.exec('COMMIT')
      return result
    } catch (error) {
      this.rollBack()
      throw error
    }
  }

  /** Ends the transaction that was begun and not committed, if there is one. */
  rollBack(): void {
    if (this.isInTransaction) this.#db.exec('ROLLBACK')
  }

  close(): void {
    this.#statements.clear()
    this.#listStatements.clear()
    if (this.#db.open) this.#db.close()
  }

  /** Without it the native side would end the whole process (libsql 0.5.29). */
  #refuseClosed(): void {
    if (!this.#db.open) throw this.#closedError()
  }

  #prepare(sql: string, statements = this.#statements): Database.Statement {
    this.#refuseClosed()
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
}

const OWNER_ONLY = 0o600

/** Makes the file where there is none, for its owner alone whatever the umask; SQLite gives the files of its log the same mode. */
function makePrivate(file: string): void {
  if (file === ':memory:') return
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY))
    // A umask can take bits of the owner away.
    chmodSync(file, OWNER_ONLY)
  } catch (error) {
    // One that exists keeps its mode. What else is wrong SQLite tells when it opens the file.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EEXIST' && code !== 'EISDIR') throw error
  }
}
