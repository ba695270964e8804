/** Opening and checking the file of a SQLite store. */

import { dirname, resolve } from 'node:path'
import { isPeragoError, messageOf, UnavailableError, type PeragoError } from '../../base/errors.ts'
import { STORE_SQLITE_LOG_BYTES } from '../limits.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { SqliteConnection } from '../../base/sqlite-connection.ts'
import { nextAfter, sqliteTroubleOf } from '../../base/sqlite-trouble.ts'
import { corruptStore } from '../corruption.ts'
import { checkMark, readMark } from './commit-mark.ts'
import { prepareSchema } from './schema.ts'

/** How long SQLite waits for another process, blocking this one; longer waits are done without blocking. */
const BUSY_MS = 10
/** While it is opened, and for an archive always: others write there only in short transactions. */
const BUSY_OPENING_MS = 5_000

/** Opens the file; creates it if it does not exist. */
export function openDatabase(file: string): SqliteConnection {
  const marked = readMark(file)
  const prepare = (db: SqliteConnection): void => {
    const isNew = !db.hasTables
    if (!isNew || marked === undefined) prepareSchema(db)
    if (marked !== undefined) checkMark(db, marked, isNew)
  }
  const db = openFile(file, prepare, (cause) => cannotOpen(file, cause))
  db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
  return db
}

/** The transaction around `prepare` lets one of several processes that open a new file create the schema. */
export function openFile(
  file: string,
  prepare: (db: SqliteConnection) => void,
  explain: (cause: unknown) => PeragoError,
): SqliteConnection {
  let db: SqliteConnection | undefined
  try {
    makeDirectory(dirname(resolve(file)))
    db = new SqliteConnection(file, () => isClosed(file))
    db.exec(`PRAGMA busy_timeout = ${BUSY_OPENING_MS}`)
    db.useDurableLog(STORE_SQLITE_LOG_BYTES)
    // Some damage of pages is told only with it.
    db.exec('PRAGMA cell_size_check = ON')
    // Nothing of the data is in temporary files.
    db.exec('PRAGMA temp_store = MEMORY')
    const opened = db
    opened.transaction(() => prepare(opened))
    return db
  } catch (error) {
    db?.close()
    throw isPeragoError(error) ? error : explain(error)
  }
}

function isClosed(file: string): UnavailableError {
  return new UnavailableError('stores/closed', `use ${file}: the store is closed`, {
    next: 'Open the store again.',
  })
}

function cannotOpen(file: string, cause: unknown): PeragoError {
  const trouble = sqliteTroubleOf(cause)
  if (trouble === 'corrupt') {
    return corruptStore({ where: file, doing: 'open it as a store', what: messageOf(cause), cause })
  }
  return new UnavailableError('stores/cannot-open', `open ${file} as a store: ${messageOf(cause)}`, {
    details: { file },
    next: nextAfter(trouble, file),
    cause,
  })
}
