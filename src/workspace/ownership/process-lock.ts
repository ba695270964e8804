/**
 * A lock that is released when its process ends, in whatever way. Node has none, so it is SQLite's: an exclusive
 * transaction on an empty database is a record lock of the operating system. It works across containers on one machine, and
 * across machines if the file system supports locks.
 *
 * A process that holds the lock must not open its file in another way: closing any handle of it releases the lock.
 */

import { UnavailableError } from '../../base/errors.ts'

export interface ProcessLock {
  /** May be called twice. */
  release(): void
}

/**
 * Takes the lock without waiting; `undefined` if it is held.
 *
 * ```ts
 * const lock = await takeProcessLock('/var/lib/perago/supervisor.lock')
 * ```
 */
export async function takeProcessLock(path: string): Promise<ProcessLock | undefined> {
  // Loaded when it is needed: most commands need no database.
  const { default: Database } = await import('libsql')
  let database: InstanceType<typeof Database> | undefined
  try {
    database = new Database(path, { timeout: 0 })
    // Nothing is written, so no journal is needed.
    database.exec('PRAGMA journal_mode = OFF')
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    throw new UnavailableError(
      'workspace/lock-failed',
      `lock ${JSON.stringify(path)}: the file system refused`,
      {
        cause: error,
        details: { path },
        next: 'Put the directory on a file system that has file locks, such as a local disk.',
      },
    )
  }
  return new DatabaseLock(database)
}

interface Closable {
  exec(sql: string): unknown
  close(): void
}

class DatabaseLock implements ProcessLock {
  #database: Closable | undefined

  constructor(database: Closable) {
    this.#database = database
  }

  release(): void {
    const database = this.#database
    this.#database = undefined
    if (database === undefined) return
    database.exec('ROLLBACK')
    database.close()
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'SQLITE_BUSY'
}
