/** Opening and checking the file of a SQLite store. */

import { randomBytes } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { InvalidError, UnavailableError, messageOf } from '../../base/errors.ts'
import { STORE_SQLITE_LOG_BYTES } from '../limits.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { SqliteConnection } from '../../base/sqlite-connection.ts'

/** "prgs". */
const APPLICATION_ID = 0x70726773
const SCHEMA_VERSION = 1
const EPOCH_BYTES = 9
/** How long SQLite waits for another process, blocking this one; longer waits are done without blocking. */
const BUSY_MS = 10
/** While it is opened, and for an archive always: others write there only in short transactions. */
const BUSY_OPENING_MS = 5_000

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

/** Opens the file; creates it if it does not exist. */
export function openDatabase(file: string): SqliteConnection {
  const db = openFile(file, makeSchema, (cause) => cannotOpen(file, cause))
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
  return db
}

/** The transaction around `prepare` lets one of several processes that open a new file create the schema. */
export function openFile(
  file: string,
  prepare: (db: SqliteConnection) => void,
  explain: (cause: unknown) => InvalidError,
): SqliteConnection {
  let db: SqliteConnection | undefined
  try {
    makeDirectory(dirname(resolve(file)))
    db = new SqliteConnection(file, () => isClosed(file))
    db.exec(`PRAGMA busy_timeout = ${BUSY_OPENING_MS}`)
    db.useDurableLog(STORE_SQLITE_LOG_BYTES)
    const opened = db
    opened.transaction(() => prepare(opened))
    return db
  } catch (error) {
    db?.close()
    throw error instanceof InvalidError ? error : explain(error)
  }
}

function isClosed(file: string): UnavailableError {
  return new UnavailableError('stores/closed', `use ${file}: the store is closed`, {
    next: 'Open the store again.',
  })
}

function makeSchema(db: SqliteConnection): void {
  const [application, version] = [db.pragma('application_id'), db.pragma('user_version')]
  if (application === 0 && !db.hasTables) {
    db.exec(SCHEMA)
    db.run('INSERT INTO state VALUES (1, ?, 0, 0)', randomBytes(EPOCH_BYTES).toString('base64url'))
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  } else if (application !== APPLICATION_ID) {
    throw new InvalidError('stores/not-a-store', `open ${db.file}: it is not a store of perago`, {
      details: { file: db.file },
      next: 'Use another file, or move this one away.',
    })
  } else if (version !== SCHEMA_VERSION) {
    throw new InvalidError(
      'stores/unsupported-version',
      `open ${db.file}: it has schema version ${String(version)}, this program knows ${SCHEMA_VERSION}`,
      { details: { file: db.file, version }, next: 'Use the version of perago that wrote it.' },
    )
  }
}

function cannotOpen(file: string, cause: unknown): InvalidError {
  return new InvalidError('stores/cannot-open', `open ${file} as a store: ${messageOf(cause)}`, {
    details: { file },
    next: 'Check the path and its permissions; if the file is damaged, restore it from a backup.',
    cause,
  })
}
