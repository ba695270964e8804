/**
 * How far a store had come, in a small file beside it, `FILE-mark`. SQLite's log ends at the first part of it that is damaged: what
 * was committed after that is silently as if it had never been. Here that is noticed, by the number of the last revision.
 *
 * - CM-1 The mark is written after the disk has the batch and before the batch is acknowledged. So it is never ahead of the store.
 * - CM-2 It is not synced: a process that is killed leaves it, a power cut may leave an older one, which notices less.
 * - CM-3 A store that is closed has all in its file, and no mark: an older copy of the file may be put in its place.
 */

import { chmodSync, closeSync, fstatSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import type { DefectError } from '../../base/errors.ts'
import { corruptStore } from '../corruption.ts'

/** A place in the list of changes, as `ChangeLog.end` gives it. */
interface Marked {
  readonly epoch: string
  readonly revision: number
}

const MARK_BYTES = 64
const OWNER_ONLY = 0o600

export class CommitMark {
  readonly #file: string
  #descriptor: number | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** `end`: of the changes, as committed. A mark that cannot be written notices less, and the batch is on the disk. */
  note(end: string): void {
    if (this.#file === ':memory:') return
    try {
      this.#descriptor = this.#open()
      writeSync(this.#descriptor, `${end} ${crc32(end)}\n`.padEnd(MARK_BYTES), 0)
    } catch {
      this.#release()
    }
  }

  /** The store is closed. */
  end(): void {
    this.#release()
    try {
      if (isEmpty(`${this.#file}-wal`)) rmSync(pathOf(this.#file), { force: true })
    } catch {
      // It stays, as after a kill.
    }
  }

  #open(): number {
    // Another process that closed the store has removed it.
    if (this.#descriptor !== undefined && fstatSync(this.#descriptor).nlink > 0) return this.#descriptor
    this.#release()
    const path = pathOf(this.#file)
    try {
      const made = openSync(path, 'wx', OWNER_ONLY)
      chmodSync(path, OWNER_ONLY)
      return made
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      return openSync(path, 'r+')
    }
  }

  #release(): void {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Read before the store is opened: others may commit meanwhile. `undefined` also where it cannot be read. */
export function readMark(file: string): Marked | undefined {
  try {
    const [end = '', sum] = readFileSync(pathOf(file), 'latin1').trimEnd().split(' ')
    const [epoch = '', revision] = end.split('.')
    return Number(sum) === crc32(end) && end !== '' ? { epoch, revision: Number(revision) } : undefined
  } catch {
    return undefined
  }
}

/** Throws `stores/corrupt` where the store has not come so far. `isNew`: it has no tables. */
export function checkMark(db: SqliteConnection, marked: Marked, isNew: boolean): void {
  if (isNew) throw logLost(db.file, marked, 0)
  const state = db.get<{ epoch: Buffer; revision: number }>(
    "SELECT coalesce(CAST(epoch AS BLOB), x'') AS epoch, CAST(revision AS INTEGER) AS revision FROM state",
  )
  // Where the epoch differs, the mark belonged to another file that was here.
  if (state === undefined || state.epoch.toString() !== marked.epoch || state.revision >= marked.revision)
    return
  throw logLost(db.file, marked, state.revision)
}

function logLost(file: string, marked: Marked, revision: number): DefectError {
  return corruptStore({
    where: file,
    doing: 'open it as a store',
    what: `what was acknowledged after revision ${revision}, up to ${marked.revision}, is lost: ${file}-wal is damaged or missing. To go on without it, or with an older copy of the file, remove ${pathOf(file)}`,
  })
}

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0
}

function pathOf(file: string): string {
  return `${file}-mark`
}
