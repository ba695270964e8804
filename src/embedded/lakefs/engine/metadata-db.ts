/**
 * The metadata database: SQLite through libsql's synchronous calls, so that a decision and the write it leads to can
 * never be torn apart by another turn of the event loop.
 */

import { statSync } from 'node:fs'
import { InvalidError, UnavailableError } from '../../../base/errors.ts'
import { EMBEDDED_DB_CACHE_KIB, EMBEDDED_DB_LOG_BYTES } from '../../limits.ts'
import { SqliteConnection } from '../../../base/sqlite-connection.ts'

/** Marks the file as ours, for `file` and for our own check: "prgo". */
const APPLICATION_ID = 0x7072676f
const SCHEMA_VERSION = 1

const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE repositories (
    rid INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    storage_namespace TEXT NOT NULL,
    default_branch TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    read_only INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    protection TEXT
  );
  CREATE UNIQUE INDEX living_repositories ON repositories (name) WHERE deleted = 0;
  CREATE TABLE namespaces (namespace TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE branches (
    bid INTEGER PRIMARY KEY AUTOINCREMENT,
    rid INTEGER NOT NULL,
    name TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX branch_names ON branches (rid, name);
  CREATE TABLE tags (rid INTEGER NOT NULL, name TEXT NOT NULL, commit_id TEXT NOT NULL, PRIMARY KEY (rid, name)) WITHOUT ROWID;
  CREATE TABLE commits (seq INTEGER PRIMARY KEY AUTOINCREMENT, rid INTEGER NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL);
  CREATE UNIQUE INDEX commit_ids ON commits (rid, id);
  CREATE TABLE staged (
    bid INTEGER NOT NULL,
    key BLOB NOT NULL,
    seq INTEGER NOT NULL,
    value BLOB,
    PRIMARY KEY (bid, key)
  ) WITHOUT ROWID;
  CREATE TABLE dropped_stagings (bid INTEGER PRIMARY KEY);
  CREATE TABLE nodes (number INTEGER PRIMARY KEY, id BLOB NOT NULL, bytes BLOB NOT NULL);
  CREATE UNIQUE INDEX node_ids ON nodes (id);
  CREATE TABLE addresses (
    rid INTEGER NOT NULL,
    address TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    PRIMARY KEY (rid, address)
  ) WITHOUT ROWID;
`

/** Small tables that everything else hangs on: worth a full check at every start. */
const CHECKED_TABLES = ['meta', 'repositories', 'namespaces', 'branches', 'tags', 'dropped_stagings']

export class MetadataDb extends SqliteConnection {
  constructor(file: string) {
    super(
      file,
      () =>
        new UnavailableError('embedded/closed', `read ${file}: the storage is closed`, {
          next: 'Start the server again.',
        }),
    )
  }
}

/** Makes a new database, or opens one that is surely ours and whole. */
export function openMetadataDb(file: string, mode: 'create' | 'open'): MetadataDb {
  let db: MetadataDb | undefined
  try {
    db = new MetadataDb(file)
    configure(db)
    if (mode === 'create') createSchema(db)
    else check(db)
    return db
  } catch (error) {
    db?.close()
    throw error instanceof InvalidError ? error : corrupt(file, describe(error), error)
  }
}

function configure(db: MetadataDb): void {
  db.get('PRAGMA journal_mode = WAL')
  // With WAL, FULL is what makes a committed transaction survive a power cut and not only a crash.
  db.exec('PRAGMA synchronous = FULL')
  db.exec(`PRAGMA cache_size = -${EMBEDDED_DB_CACHE_KIB}`)
  // One huge commit must not leave a huge log behind for ever.
  db.exec(`PRAGMA journal_size_limit = ${EMBEDDED_DB_LOG_BYTES}`)
  db.exec('PRAGMA temp_store = FILE')
}

function createSchema(db: MetadataDb): void {
  db.exec(
    `BEGIN IMMEDIATE; ${SCHEMA} PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`,
  )
}

function check(db: MetadataDb): void {
  const pragma = (name: string): unknown => db.get<Record<string, unknown>>(`PRAGMA ${name}`)?.[name]
  if (pragma('application_id') !== APPLICATION_ID) throw corrupt(db.file, 'it is not marked as ours')
  const version = pragma('user_version')
  if (version !== SCHEMA_VERSION) {
    throw new InvalidError(
      'embedded/unsupported-data-dir',
      `open ${db.file}: it has schema version ${String(version)}, this program knows ${SCHEMA_VERSION}`,
      { details: { file: db.file, version }, next: 'Use the version of perago that wrote this directory.' },
    )
  }
  // What a crash left in the log goes into the file first, so that the file ought to have all its pages.
  db.get('PRAGMA wal_checkpoint(TRUNCATE)')
  const pages = pragma('page_count')
  const pageBytes = pragma('page_size')
  if (statSync(db.file).size < Number(pages) * Number(pageBytes)) throw corrupt(db.file, 'its end is missing')
  // A full quick_check reads every page, which a start cannot afford on a large repository. Tree nodes are checked
  // against their hash whenever they are read, so the small tables are what is left to look at here.
  for (const table of CHECKED_TABLES) {
    for (const row of db.all<{ quick_check: string }>(`PRAGMA quick_check(${table})`)) {
      if (row.quick_check !== 'ok') throw corrupt(db.file, row.quick_check)
    }
  }
}

export function corrupt(file: string, what: string, cause?: unknown): InvalidError {
  return new InvalidError('embedded/corrupt-data-dir', `open ${file}: ${what}`, {
    details: { file },
    next: 'Restore the data directory from a copy, or move it away to start with an empty one.',
    cause,
  })
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
