/** Opening the file of an archive; creates it if it does not exist. */

import { InvalidError, messageOf, UnavailableError, type PeragoError } from '../../base/errors.ts'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import { nextAfter, sqliteTroubleOf } from '../../base/sqlite-trouble.ts'
import { corruptStore } from '../corruption.ts'
import { openFile } from '../sqlite/database.ts'

/** "prga". */
const APPLICATION_ID = 0x70726761
const SCHEMA_VERSION = 1

const SCHEMA = `
  CREATE TABLE events (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    execution_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    source_type TEXT NOT NULL,
    source_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    payload BLOB NOT NULL,
    timestamp TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX events_by_execution ON events (execution_id, tenant, sequence);
  CREATE INDEX events_by_type ON events (event_type, execution_id, tenant, sequence);
`

export function openArchiveDatabase(file: string): SqliteConnection {
  const db = openFile(file, makeSchema, (cause) => cannotOpen(file, cause))
  // What is removed, or sealed later, does not stay in the file as free space.
  db.get('PRAGMA secure_delete = ON')
  return db
}

function makeSchema(db: SqliteConnection): void {
  const [application, version] = [db.pragma('application_id'), db.pragma('user_version')]
  if (application === 0 && !db.hasTables) {
    db.exec(SCHEMA)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  } else if (application !== APPLICATION_ID || version !== SCHEMA_VERSION) {
    throw new Error('it is not an archive of this version of perago')
  }
}

function cannotOpen(file: string, cause: unknown): PeragoError {
  const trouble = sqliteTroubleOf(cause)
  if (trouble === 'corrupt')
    return corruptStore({ where: file, doing: 'open it as an archive', what: messageOf(cause), cause })
  const message = `open ${file} as an archive of events: ${messageOf(cause)}`
  if (trouble === undefined) {
    return new InvalidError('stores/not-an-archive', message, {
      details: { file },
      next: 'Use another file, or the version of perago that wrote it.',
      cause,
    })
  }
  return new UnavailableError('stores/cannot-open-archive', message, {
    details: { file },
    next: nextAfter(trouble, file),
    cause,
  })
}
