/**
 * The metadata database: SQLite through libsql's synchronous calls, so that nothing can happen in this process between
 * what a write reads and what it writes.
 */

import { statSync } from 'node:fs'
import { isPeragoError, messageOf } from '../../../base/errors.ts'
import { SqliteConnection } from '../../../base/sqlite-connection.ts'
import { sqliteTroubleOf } from '../../../base/sqlite-trouble.ts'
import { EMBEDDED_DB_CACHE_KIB, EMBEDDED_DB_LOG_BYTES } from '../../limits.ts'
import { addSums, checkSchema, checkSmallTables, checkStructure, recordSchema } from './metadata-check.ts'
import { closedError, corrupt, unavailable, unsupported } from './storage-errors.ts'

/** Marks the file as ours, for `file` and for our own check: "prgo". */
const APPLICATION_ID = 0x7072676f
const SCHEMA_VERSION = 2

const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL, sum INTEGER) WITHOUT ROWID;
  CREATE TABLE repositories (
    rid INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    storage_namespace TEXT NOT NULL,
    default_branch TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    read_only INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    protection TEXT,
    sum INTEGER
  );
  CREATE UNIQUE INDEX living_repositories ON repositories (name) WHERE deleted = 0;
  CREATE TABLE namespaces (namespace TEXT PRIMARY KEY, sum INTEGER) WITHOUT ROWID;
  CREATE TABLE branches (
    bid INTEGER PRIMARY KEY AUTOINCREMENT,
    rid INTEGER NOT NULL,
    name TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    sum INTEGER
  );
  CREATE UNIQUE INDEX branch_names ON branches (rid, name);
  CREATE TABLE tags (rid INTEGER NOT NULL, name TEXT NOT NULL, commit_id TEXT NOT NULL, sum INTEGER, PRIMARY KEY (rid, name)) WITHOUT ROWID;
  CREATE TABLE commits (seq INTEGER PRIMARY KEY AUTOINCREMENT, rid INTEGER NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, sum INTEGER);
  CREATE UNIQUE INDEX commit_ids ON commits (rid, id);
  CREATE TABLE staged (
    bid INTEGER NOT NULL,
    key BLOB NOT NULL,
    seq INTEGER NOT NULL,
    value BLOB,
    sum INTEGER,
    PRIMARY KEY (bid, key)
  ) WITHOUT ROWID;
  CREATE TABLE sealed (
    bid INTEGER NOT NULL,
    key BLOB NOT NULL,
    seq INTEGER NOT NULL,
    value BLOB,
    sum INTEGER,
    PRIMARY KEY (bid, key)
  ) WITHOUT ROWID;
  CREATE TABLE dropped_stagings (bid INTEGER PRIMARY KEY, sum INTEGER);
  CREATE TABLE nodes (number INTEGER PRIMARY KEY, id BLOB NOT NULL, bytes BLOB NOT NULL);
  CREATE UNIQUE INDEX node_ids ON nodes (id);
  CREATE TABLE addresses (
    rid INTEGER NOT NULL,
    address TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    sum INTEGER,
    PRIMARY KEY (rid, address)
  ) WITHOUT ROWID;
`

export type MetadataDb = SqliteConnection

/**
 * Opens a database after checking that it is ours and complete. With `create` an empty one gets its schema: a first start
 * may have been interrupted before that, or after.
 */
export function openMetadataDb(file: string, mode: 'create' | 'open'): MetadataDb {
  let db: MetadataDb | undefined
  try {
    if (mode === 'open' && statSync(file).size === 0) throw corrupt(file, 'it is empty')
    db = new SqliteConnection(file, () => closedError(`read ${file}`))
    configure(db)
    if (mode === 'create' && !db.hasTables) createSchema(db)
    else check(db)
    return db
  } catch (error) {
    db?.close()
    if (isPeragoError(error)) throw error
    const trouble = sqliteTroubleOf(error)
    const isDamaged = trouble === undefined || trouble === 'corrupt'
    throw isDamaged ? corrupt(file, messageOf(error), error) : unavailable(file, trouble, error)
  }
}

/** For a check that names all that is wrong: one read transaction, so that a running server is seen at one moment. */
export function openUnchecked(file: string): MetadataDb {
  const db = new SqliteConnection(file, () => closedError(`read ${file}`))
  try {
    db.exec('BEGIN')
    if (db.pragma('application_id') !== APPLICATION_ID) throw corrupt(file, 'it is not a database of perago')
    const version = db.pragma('user_version')
    if (version !== SCHEMA_VERSION) throw unsupported(file, 'schema', version, SCHEMA_VERSION)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function configure(db: MetadataDb): void {
  db.useDurableLog(EMBEDDED_DB_LOG_BYTES)
  db.exec(`PRAGMA cache_size = -${EMBEDDED_DB_CACHE_KIB}`)
  db.exec('PRAGMA temp_store = FILE')
}

function createSchema(db: MetadataDb): void {
  db.transaction(() => {
    db.exec(`${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`)
    recordSchema(db)
  })
}

function check(db: MetadataDb): void {
  if (db.pragma('application_id') !== APPLICATION_ID) throw corrupt(db.file, 'it is not a database of perago')
  const version = db.pragma('user_version')
  if (version !== 1 && version !== SCHEMA_VERSION) {
    throw unsupported(db.file, 'schema', version, SCHEMA_VERSION)
  }
  // What a crash left in the log goes into the file first, so that the file must have all its pages.
  db.get('PRAGMA wal_checkpoint(TRUNCATE)')
  const bytes = Number(db.pragma('page_count')) * Number(db.pragma('page_size'))
  if (statSync(db.file).size < bytes) throw corrupt(db.file, 'its end is missing')
  if (version === SCHEMA_VERSION) checkSchema(db)
  checkStructure(db, bytes)
  if (version === 1) addSums(db, SCHEMA_VERSION)
  checkSmallTables(db)
}
