/**
 * Removes, in small steps between other writes, the rows of what was deleted: staged changes of deleted branches,
 * everything of deleted repositories. A step is one bounded write, so other writes do not wait long for it.
 *
 * Tree nodes and objects' bytes stay: only garbage collection, while no server runs, can tell which are still needed.
 */

import { EMBEDDED_SWEEP_ROWS } from '../../limits.ts'
import type { MetadataDb } from './metadata-db.ts'
import { insertSummed } from './row-sums.ts'
import type { WriteQueue } from './write-queue.ts'

export class Sweeper {
  readonly #db: MetadataDb
  readonly #writes: WriteQueue
  #underWay: Promise<void> | undefined
  #isAskedAgain = false
  #isStopped = false

  constructor(db: MetadataDb, writes: WriteQueue) {
    this.#db = db
    this.#writes = writes
  }

  /** Sweeps until nothing is left. May be called while it does. */
  start(): void {
    this.#isAskedAgain = true
    this.#underWay ??= this.#sweep().finally(() => (this.#underWay = undefined))
  }

  /** What is left is swept after the next start of the server. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#underWay
  }

  async #sweep(): Promise<void> {
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false
      try {
        // Read first, so that a server with nothing to sweep writes nothing.
        while (!this.#isStopped && findDeleted(this.#db) !== undefined) {
          await this.#writes.run(() => sweepStep(this.#db))
        }
      } catch {
        // Nobody waits for this. The next write reports a failing disk, and the rest is swept after the next start.
        return
      }
    }
  }
}

/** Returns whether anything may be left. */
export function sweepStep(db: MetadataDb): boolean {
  const deleted = findDeleted(db)
  if (deleted?.bid !== undefined) sweepStaging(db, deleted.bid)
  if (deleted?.rid !== undefined) sweepRepository(db, deleted.rid)
  return deleted !== undefined
}

/** A deleted branch, otherwise a deleted repository. */
function findDeleted(
  db: MetadataDb,
):
  | { readonly bid: number; readonly rid?: never }
  | { readonly rid: number; readonly bid?: never }
  | undefined {
  return (
    db.get<{ bid: number }>('SELECT bid FROM dropped_stagings LIMIT 1') ??
    db.get<{ rid: number }>('SELECT rid FROM repositories WHERE deleted = 1 LIMIT 1')
  )
}

function sweepStaging(db: MetadataDb, bid: number): void {
  const sql = 'DELETE FROM staged WHERE bid = ? AND key IN (SELECT key FROM staged WHERE bid = ? LIMIT ?)'
  db.run('DELETE FROM sealed WHERE bid = ?', bid)
  const swept = db.run(sql, bid, bid, EMBEDDED_SWEEP_ROWS)
  if (swept === 0) db.run('DELETE FROM dropped_stagings WHERE bid = ?', bid)
}

function sweepRepository(db: MetadataDb, rid: number): void {
  const sql = 'SELECT bid FROM branches WHERE rid = ? LIMIT ?'
  const branches = db.all<{ bid: number }>(sql, rid, EMBEDDED_SWEEP_ROWS)
  for (const { bid } of branches) {
    db.run('DELETE FROM branches WHERE bid = ?', bid)
    insertSummed(db, 'dropped_stagings', { bid })
  }
  if (branches.length > 0) return
  for (const [table, key] of [
    ['tags', 'name'],
    ['addresses', 'address'],
    ['commits', 'id'],
  ] as const) {
    const swept = db.run(
      `DELETE FROM ${table} WHERE rid = ? AND ${key} IN (SELECT ${key} FROM ${table} WHERE rid = ? LIMIT ?)`,
      rid,
      rid,
      EMBEDDED_SWEEP_ROWS,
    )
    if (swept > 0) return
  }
  db.run('DELETE FROM repositories WHERE rid = ?', rid)
}
