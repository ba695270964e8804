/** Opening the file of an archive; creates it if it does not exist. */

import { dirname, resolve } from 'node:path'
import { InvalidError } from '../../base/errors.ts'
import { STORE_SQLITE_LOG_BYTES } from '../limits.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { StoreDatabase } from '../sqlite/database.ts'

/** "prga". */
const APPLICATION_ID = 0x70726761
const SCHEMA_VERSION = 1
/** Only other instances that archive write here, in short transactions. */
const BUSY_MS = 5_000

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

export function openArchiveDatabase(file: string): StoreDatabase {
  let db: StoreDatabase | undefined
  try {
    makeDirectory(dirname(resolve(file)))
    db = new StoreDatabase(file)
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    // Archived events are deleted from the store, so they must survive a power failure.
    db.useDurableLog(STORE_SQLITE_LOG_BYTES)
    const opened = db
    opened.transaction(() => makeSchema(opened))
    return db
  } catch (cause) {
    db?.close()
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new InvalidError('stores/cannot-open-archive', `open ${file} as an archive of events: ${why}`, {
      details: { file },
      next: 'Use another file, or check the path and its permissions.',
      cause,
    })
  }
}

/** The transaction lets one of several processes that open a new file create the schema. */
function makeSchema(db: StoreDatabase): void {
  const [application, version] = [db.pragma('application_id'), db.pragma('user_version')]
  if (application === 0 && !db.hasTables) {
    db.exec(SCHEMA)
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
  } else if (application !== APPLICATION_ID || version !== SCHEMA_VERSION) {
    throw new Error('it is not an archive of this version of perago')
  }
}
