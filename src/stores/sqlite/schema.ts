/**
 * The tables of a SQLite store, and what may have become of them.
 *
 * Version 2 added what tells damage: each entry has a checksum, and the index `witness` holds each key, revision, time of expiry and
 * checksum once more, in other pages of the file. An entry that is lost or changed in one of the two is seen in the other.
 */

import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { InvalidError } from '../../base/errors.ts'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import { corruptStore } from '../corruption.ts'

/** "prgs". */
const APPLICATION_ID = 0x70726773
const SCHEMA_VERSION = 2
const EPOCH_BYTES = 9

const FIRST_SCHEMA = `
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

/** Entries that are there already get their checksum when they are written again; in the index they are at once. */
const SECOND_SCHEMA = `
  ALTER TABLE entries ADD COLUMN sum INTEGER;
  CREATE INDEX witness ON entries (key, revision, expires_at, sum);
  ALTER TABLE changes ADD COLUMN sum INTEGER;
  ALTER TABLE state ADD COLUMN revision_again INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE state ADD COLUMN forgotten_again INTEGER NOT NULL DEFAULT 0;
  UPDATE state SET revision_again = revision, forgotten_again = forgotten;
`

/** Of the definitions of both schemas, as SQLite keeps them. */
const SUMS: Readonly<Record<number, number>> = { 1: 0xf1061cee, 2: 0x8a21d81e }

/** Makes the tables where there are none, and brings those of an earlier version up to date. */
export function prepareSchema(db: SqliteConnection): void {
  const [application, version] = [db.pragma('application_id'), Number(db.pragma('user_version'))]
  if (application === 0 && !db.hasTables) {
    db.exec(FIRST_SCHEMA)
    db.run(
      'INSERT INTO state (one, epoch, revision, forgotten) VALUES (1, ?, 0, 0)',
      randomBytes(EPOCH_BYTES).toString('base64url'),
    )
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    update(db)
    return
  }
  checkMarks(db, application, version)
  if (version < SCHEMA_VERSION) update(db)
}

function update(db: SqliteConnection): void {
  db.exec(SECOND_SCHEMA)
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
}

function checkMarks(db: SqliteConnection, application: unknown, version: number): void {
  const sum = sumOfSchema(db)
  const isOurs = Object.values(SUMS).includes(sum)
  if (application === APPLICATION_ID && SUMS[version] === sum) return
  const isKnown = application === APPLICATION_ID && version in SUMS
  if (isOurs || isKnown) {
    throw corruptStore({
      where: db.file,
      doing: 'open it as a store',
      what: 'its marks or its tables are damaged',
    })
  }
  if (application !== APPLICATION_ID) {
    throw new InvalidError('stores/not-a-store', `open ${db.file}: it is not a store of perago`, {
      details: { file: db.file },
      next: 'Use another file, or move this one away.',
    })
  }
  throw new InvalidError(
    'stores/unsupported-version',
    `open ${db.file}: it has schema version ${String(version)}, this program knows ${SCHEMA_VERSION}`,
    { details: { file: db.file, version }, next: 'Use the version of perago that wrote it.' },
  )
}

/** A changed definition would have SQLite read the right bytes in the wrong way. Tables of others may be beside ours. */
function sumOfSchema(db: SqliteConnection): number {
  const rows = db.all<{ definition: Buffer | null }>(
    `SELECT CAST(type || ' ' || name || ' ' || tbl_name || ' ' || sql AS BLOB) AS definition FROM sqlite_schema
      WHERE name IN ('entries', 'expiring', 'witness', 'changes', 'state') ORDER BY name`,
  )
  // How SQLite sets out what it has altered is its own affair.
  return rows.reduce(
    (sum, { definition }) => crc32((definition ?? '?').toString().replaceAll(/\s/g, ''), sum),
    0,
  )
}
