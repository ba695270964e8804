/**
 * A lock that is released when its process ends, in whatever way. Node has none, so it is SQLite's: an exclusive
 * transaction on an empty database is a record lock of the operating system. It works across containers on one machine, and
 * across machines if the file system supports locks.
 *
 * A process that holds the lock must not open its file in another way: closing any handle of it releases the lock.
 */

import { closeSync, existsSync, openSync } from 'node:fs'
import { UnavailableError } from '../../base/errors.ts'
import { nodeFaultOf } from '../../base/node-fault.ts'
import { once } from '../../base/once.ts'
import { diskError } from '../disk-errors.ts'

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
    makeFile(path)
    const opened = new Database(path, { timeout: 0 })
    database = opened
    // Nothing is written, so no journal is needed.
    opened.exec('PRAGMA journal_mode = OFF')
    opened.exec('BEGIN EXCLUSIVE')
    const release = once(() => {
      opened.exec('ROLLBACK')
      opened.close()
    })
    return { release }
  } catch (error) {
    database?.close()
    if (isBusy(error)) return undefined
    if (nodeFaultOf(error) !== undefined) throw diskError(`lock ${JSON.stringify(path)}`, error)
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
}

/** SQLite would not say why it cannot make it, such as that the disk is full. Nobody here can hold it yet. */
function makeFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a'))
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'SQLITE_BUSY'
}
