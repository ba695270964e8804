/**
 * The data directory: which files are ours, which process uses it, and what is wrong when it cannot be used.
 *
 * `perago-lakefs.json` marks a directory as ours and is written last when one is made, so a first start that was
 * interrupted can be repeated. `lock.sqlite` is locked by the process that serves the directory; the operating system
 * releases the lock when the process ends, however it ends.
 */

import Database from 'libsql'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  InvalidError,
  isPeragoError,
  messageOf,
  MissingError,
  RefusedError,
  type PeragoError,
} from '../../../base/errors.ts'
import { makeDirectory } from '../../../base/make-directory.ts'
import { syncDirectory } from '../../../base/sync-directory.ts'
import { sqliteTroubleOf } from '../../../base/sqlite-trouble.ts'
import { makeOwnDirectoryPrivate, makePrivate, makePrivateFile } from '../private-files.ts'
import { writeDurably } from '../write-durably.ts'
import { openMetadataDb, openUnchecked, type MetadataDb } from './metadata-db.ts'
import { corrupt, unavailable, unsupported } from './storage-errors.ts'

const FORMAT_FILE = 'perago-lakefs.json'
const FORMAT = 'perago-lakefs'
const FORMAT_VERSION = 1
const LOCK_FILE = 'lock.sqlite'
const METADATA_FILE = 'metadata.sqlite'
const OBJECTS_DIR = 'objects'
const TEMP_DIR = 'temp'
const INCOMING_DIR = 'incoming'

/** What may be in a directory that is being made; `credentials.json` may be there first. */
const OUR_NAMES =
  /^(?:lock\.sqlite|metadata\.sqlite|perago-lakefs\.json|credentials\.json)(?:-\w+|\.\w+)*$|^(?:objects|temp|incoming)$/

interface OpenDataDir {
  readonly db: MetadataDb
  readonly objectsDir: string
  readonly tempDir: string
  /** Journals of small objects. */
  readonly incomingDir: string
  /** Closes the database, then releases the lock of the directory. */
  close(): void
}

/** Makes the directory when there is none, unless it `mustExist`; one that exists must be complete. */
export async function openDataDir(
  dataDir: string,
  options: { readonly mustExist?: boolean } = {},
): Promise<OpenDataDir> {
  const names = listFiles(dataDir, options.mustExist ?? false)
  const isOurs = names.includes(FORMAT_FILE)
  if (isOurs) readFormat(join(dataDir, FORMAT_FILE))
  else refuseForeign(dataDir, names)
  closeToOthers(dataDir, names)
  const unlock = lock(dataDir)
  let db: MetadataDb | undefined
  try {
    const metadataFile = join(dataDir, METADATA_FILE)
    const objectsDir = join(dataDir, OBJECTS_DIR)
    const tempDir = join(dataDir, TEMP_DIR)
    if (isOurs) {
      for (const name of [METADATA_FILE, OBJECTS_DIR, TEMP_DIR]) {
        if (!names.includes(name)) throw corrupt(join(dataDir, name), 'it is missing')
      }
      db = openMetadataDb(metadataFile, 'open')
    } else {
      db = await make(dataDir, { metadataFile, objectsDir, tempDir })
    }
    const incomingDir = join(dataDir, INCOMING_DIR)
    // Those of an earlier version have none.
    if (makeDirectory(incomingDir) !== undefined) await syncDirectory(dataDir)
    const opened = db
    return { db, objectsDir, tempDir, incomingDir, close: () => closeAll(opened, unlock) }
  } catch (error) {
    db?.close()
    unlock()
    throw isPeragoError(error) ? error : unwritable(dataDir, error)
  }
}

/** For a check: goes on where a start would stop, and beside a running server. `tell` gets what is wrong with files. */
export function openForCheck(
  dataDir: string,
  tell: (file: string, what: string) => void,
): {
  readonly objectsDir: string
  readonly incomingDir: string
  /** Undefined when it cannot be opened. */
  readonly db: MetadataDb | undefined
  readonly isServed: boolean
  close(): void
} {
  const names = listFiles(dataDir, true)
  const tryFile = <Result>(name: string, work: (file: string) => Result): Result | undefined => {
    try {
      return work(join(dataDir, name))
    } catch (error) {
      if (isPeragoError(error) && error.code === 'embedded/data-dir-in-use') throw error
      tell(join(dataDir, name), messageOf(error))
      return undefined
    }
  }
  for (const name of [METADATA_FILE, OBJECTS_DIR, TEMP_DIR]) {
    if (!names.includes(name)) tell(join(dataDir, name), 'it is missing')
  }
  tryFile(FORMAT_FILE, readFormat)
  let unlock: (() => void) | undefined
  let isServed = false
  try {
    unlock = tryFile(LOCK_FILE, () => lock(dataDir))
  } catch {
    isServed = true
  }
  const db = names.includes(METADATA_FILE) ? tryFile(METADATA_FILE, openUnchecked) : undefined
  return {
    objectsDir: join(dataDir, OBJECTS_DIR),
    incomingDir: join(dataDir, INCOMING_DIR),
    db,
    isServed,
    close: () => {
      db?.rollBack()
      db?.close()
      unlock?.()
    },
  }
}

function closeAll(db: MetadataDb, unlock: () => void): void {
  try {
    // So that a directory without a server has one database file and not three.
    db.get('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // A full disk has no room for it. Then the log stays, with everything in it, and the next start does this.
  } finally {
    db.close()
    unlock()
  }
}

async function make(
  dataDir: string,
  paths: { readonly metadataFile: string; readonly objectsDir: string; readonly tempDir: string },
): Promise<MetadataDb> {
  for (const directory of [paths.objectsDir, paths.tempDir]) makeDirectory(directory)
  const db = openMetadataDb(paths.metadataFile, 'create')
  try {
    await writeDurably(
      join(dataDir, FORMAT_FILE),
      `${JSON.stringify({ format: FORMAT, version: FORMAT_VERSION })}\n`,
    )
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Objects' files are private since they were made. The credentials are looked at when they are read. */
function closeToOthers(dataDir: string, names: readonly string[]): void {
  try {
    makeOwnDirectoryPrivate(dataDir)
    for (const name of names) {
      if (OUR_NAMES.test(name) && !name.startsWith('credentials')) makePrivate(join(dataDir, name))
    }
    for (const name of [LOCK_FILE, METADATA_FILE]) {
      // One that is missing in a directory of ours is told as such.
      if (!names.includes(FORMAT_FILE) || names.includes(name)) makePrivateFile(join(dataDir, name))
    }
  } catch (error) {
    throw isPeragoError(error) ? error : unwritable(dataDir, error)
  }
}

function readFormat(file: string): void {
  let format: unknown
  try {
    format = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw corrupt(file, messageOf(error), error)
  }
  const { format: name, version } = (format ?? {}) as { format?: unknown; version?: unknown }
  if (name !== FORMAT) throw corrupt(file, `it does not say "format": "${FORMAT}"`)
  if (version !== FORMAT_VERSION) throw unsupported(file, 'format', version, FORMAT_VERSION)
}

function listFiles(dataDir: string, mustExist: boolean): string[] {
  try {
    if (!mustExist) makeDirectory(resolve(dataDir))
    const names = existsSync(dataDir) ? readdirSync(dataDir) : []
    if (!mustExist || names.includes(FORMAT_FILE)) return names
  } catch (error) {
    throw unwritable(dataDir, error)
  }
  throw new MissingError('embedded/no-data-dir', `open ${dataDir}: it is not a data directory of perago`, {
    details: { dataDir },
    next: 'Name the directory that the server was started with.',
  })
}

function refuseForeign(dataDir: string, names: readonly string[]): void {
  const foreign = names.filter((name) => !OUR_NAMES.test(name))
  if (foreign.length === 0) return
  throw new InvalidError(
    'embedded/foreign-data-dir',
    `open ${dataDir}: it is not a data directory of perago: it has ${foreign.length} other files, such as ${JSON.stringify(foreign[0])}`,
    { details: { dataDir }, next: 'Name an empty directory, or one that does not exist yet.' },
  )
}

/** Returns the function that releases the lock. */
function lock(dataDir: string): () => void {
  let db: Database.Database | undefined
  try {
    db = new Database(join(dataDir, LOCK_FILE))
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'SQLITE_BUSY') {
      throw new RefusedError('embedded/data-dir-in-use', `open ${dataDir}: another server is using it`, {
        details: { dataDir },
        next: 'Stop the other server, or name another directory.',
        cause: error,
      })
    }
    if (code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT') {
      throw corrupt(join(dataDir, LOCK_FILE), 'it is not a lock file of perago', error)
    }
    throw unwritable(dataDir, error)
  }
  const held = db
  return () => {
    held.exec('ROLLBACK')
    held.close()
  }
}

function unwritable(dataDir: string, error: unknown): PeragoError {
  const trouble = sqliteTroubleOf(error)
  if (trouble === 'full' || trouble === 'io' || trouble === 'read-only')
    return unavailable(dataDir, trouble, error)
  return new InvalidError('embedded/unwritable-data-dir', `open ${dataDir}: ${messageOf(error)}`, {
    details: { dataDir },
    next: 'Name a directory that this user may create and write.',
    cause: error,
  })
}
