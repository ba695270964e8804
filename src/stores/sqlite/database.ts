/** The file of a SQLite store: opened, checked, spoken to. libsql's calls are synchronous. */

import Database from 'libsql'
import { randomBytes } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { InvalidError, UnavailableError } from '../../base/errors.ts'
import { STORE_SQLITE_LOG_BYTES } from '../../base/limits.ts'
import { makeDirectory } from '../../base/make-directory.ts'

type SqlValue = string | number | bigint | Buffer | null

/** Marks the file as ours: "prgs". */
const APPLICATION_ID = 0x70726773
const SCHEMA_VERSION = 1
const EPOCH_BYTES = 9
/** How long SQLite itself waits for another process, with everything standing still; longer waits are ours. */
const BUSY_MS = 10

const SCHEMA = `
  CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    revision INTEGER NOT NULL,
    expires_at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX expiring ON entries (expires_at) WHERE expires_at IS NOT NULL;
  CREATE TABLE changes (
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (revision, position)
  ) WITHOUT ROWID;
  CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), epoch TEXT NOT NULL, revision INTEGER NOT NULL, forgotten INTEGER NOT NULL);
`

export class StoreDatabase {
  readonly file: string
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement>()

  constructor(file: string) {
    this.file = file
    this.#db = new Database(file)
  }

  get isOpen(): boolean {
    return this.#db.open
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
    return this.#prepare(sql).get([...values]) as Row | undefined
  }

  all<Row>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.#prepare(sql).all([...values]) as Row[]
  }

  /** Answers how many rows were changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#prepare(sql).run([...values]).changes
  }

  close(): void {
    this.#statements.clear()
    if (this.#db.open) this.#db.close()
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

  /** Without it the native side would bring the whole process down (libsql 0.5.29). */
  #refuseClosed(): void {
    if (this.#db.open) return
    throw new UnavailableError('stores/closed', `use ${this.file}: the store is closed`, {
      next: 'Open the store again.',
    })
  }
}

/** Opens the file, which is made when it is not there. */
export function openDatabase(file: string): StoreDatabase {
  let db: StoreDatabase | undefined
  try {
    makeDirectory(dirname(resolve(file)))
    db = new StoreDatabase(file)
    db.exec(`PRAGMA busy_timeout = 5000`)
    db.get('PRAGMA journal_mode = WAL')
    // With WAL, FULL is what makes a committed batch survive a power cut and not only a crash.
    db.exec('PRAGMA synchronous = FULL')
    db.exec(`PRAGMA journal_size_limit = ${STORE_SQLITE_LOG_BYTES}`)
    makeSchema(db)
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    return db
  } catch (error) {
    if (db?.isInTransaction === true) db.exec('ROLLBACK')
    db?.close()
    throw error instanceof InvalidError ? error : cannotOpen(file, error)
  }
}

/** Two processes may open a new file at the same time; the transaction lets one of them make it. */
function makeSchema(db: StoreDatabase): void {
  db.exec('BEGIN IMMEDIATE')
  const pragma = (name: string): unknown => db.get<Record<string, unknown>>(`PRAGMA ${name}`)?.[name]
  const [application, version] = [pragma('application_id'), pragma('user_version')]
  const isNew =
    application === 0 && (db.get<{ n: number }>('SELECT count(*) AS n FROM sqlite_schema')?.n ?? 0) === 0
  if (isNew) {
    db.exec(SCHEMA)
    db.run('INSERT INTO state VALUES (1, ?, 0, 0)', randomBytes(EPOCH_BYTES).toString('base64url'))
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  } else if (application !== APPLICATION_ID) {
    throw new InvalidError('stores/not-a-store', `open ${db.file}: it is no store of perago`, {
      details: { file: db.file },
      next: 'Name another file, or move this one away.',
    })
  } else if (version !== SCHEMA_VERSION) {
    throw new InvalidError(
      'stores/unsupported-version',
      `open ${db.file}: it has schema version ${String(version)}, this program knows ${SCHEMA_VERSION}`,
      { details: { file: db.file, version }, next: 'Use the version of perago that wrote it.' },
    )
  }
  db.exec('COMMIT')
}

function cannotOpen(file: string, cause: unknown): InvalidError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new InvalidError('stores/cannot-open', `open ${file} as a store: ${why}`, {
    details: { file },
    next: 'Check the path and its permissions; if the file is damaged, restore it from a copy.',
    cause,
  })
}
