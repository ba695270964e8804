/** One file of SQLite through libsql, whose calls are synchronous, and what has to be known to use libsql safely. */

import Database from 'libsql'

export type SqlValue = string | number | bigint | Buffer | null

export class SqliteConnection {
  readonly file: string
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement>()
  readonly #refusal: () => Error

  /** `refusal` is what a call after the end throws. */
  constructor(file: string, refusal: () => Error) {
    this.file = file
    this.#refusal = refusal
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
    // Never the raw mode: its `get` answers a miss with the row of an earlier call (libsql 0.5.29).
    return this.#prepare(sql).get([...values]) as Row | undefined
  }

  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    const rows = this.#prepare(sql).all([...values]) as Record<string, unknown>[]
    // `all` gives blobs as ArrayBuffer where `get` gives Buffer (libsql 0.5.29).
    for (const row of rows) {
      for (const column in row) {
        const value = row[column]
        if (value instanceof ArrayBuffer) row[column] = Buffer.from(value)
      }
    }
    return rows as Row[]
  }

  /** Answers how many rows were changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#prepare(sql).run([...values]).changes
  }

  /** What was begun and not committed; nothing when nothing was. */
  rollBack(): void {
    if (this.isInTransaction) this.#db.exec('ROLLBACK')
  }

  close(): void {
    this.#statements.clear()
    if (this.#db.open) this.#db.close()
  }

  /** Without it the native side would bring the whole process down (libsql 0.5.29). */
  #refuseClosed(): void {
    if (!this.#db.open) throw this.#refusal()
  }

  #prepare(sql: string): Database.Statement {
    this.#refuseClosed()
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}
