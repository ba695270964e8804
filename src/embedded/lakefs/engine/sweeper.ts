/**
 * Takes away, in small steps between other writes, the rows of what was deleted: staged changes of dropped branches,
 * everything of dropped repositories. A step is one bounded write, so nobody waits long behind it.
 *
 * Tree nodes and objects' bytes stay: only garbage collection, with nobody else at work, can tell who needs them.
 */

import { EMBEDDED_SWEEP_ROWS } from '../../limits.ts'
import type { EngineContext } from './engine-context.ts'
import type { MetadataDb } from './metadata-db.ts'

export class Sweeper {
  readonly #context: EngineContext
  #underWay: Promise<void> | undefined
  #isAskedAgain = false
  #isStopped = false

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** Sweeps until nothing is left; asking again while it does is fine. */
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
        while (await this.#step()) continue
      } catch {
        // Nobody waits for this. A failing disk shows itself to whoever writes next, and what was not swept is swept
        // after the next start.
        return
      }
    }
  }

  async #step(): Promise<boolean> {
    const { db, writes } = this.#context
    if (this.#isStopped || !hasWork(db)) return false
    return writes.run(() => sweepStep(db))
  }
}

/** Answers whether anything may be left. */
export function sweepStep(db: MetadataDb): boolean {
  const branch = db.get<{ bid: number }>('SELECT bid FROM dropped_stagings LIMIT 1')
  if (branch !== undefined) return sweepStaging(db, branch.bid)
  const repository = db.get<{ rid: number }>('SELECT rid FROM repositories WHERE deleted = 1 LIMIT 1')
  return repository !== undefined && sweepRepository(db, repository.rid)
}

/** A read, so that a server with nothing to sweep writes nothing. */
function hasWork(db: MetadataDb): boolean {
  return (
    db.get('SELECT 1 AS found FROM dropped_stagings LIMIT 1') !== undefined ||
    db.get('SELECT 1 AS found FROM repositories WHERE deleted = 1 LIMIT 1') !== undefined
  )
}

function sweepStaging(db: MetadataDb, bid: number): boolean {
  const swept = db.run(
    'DELETE FROM staged WHERE bid = ? AND key IN (SELECT key FROM staged WHERE bid = ? LIMIT ?)',
    bid,
    bid,
    EMBEDDED_SWEEP_ROWS,
  )
  if (swept === 0) db.run('DELETE FROM dropped_stagings WHERE bid = ?', bid)
  return true
}

function sweepRepository(db: MetadataDb, rid: number): boolean {
  const branches = db.all<{ bid: number }>(
    'SELECT bid FROM branches WHERE rid = ? LIMIT ?',
    rid,
    EMBEDDED_SWEEP_ROWS,
  )
  for (const { bid } of branches) {
    db.run('DELETE FROM branches WHERE bid = ?', bid)
    db.run('INSERT INTO dropped_stagings (bid) VALUES (?)', bid)
  }
  if (branches.length > 0) return true
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
    if (swept > 0) return true
  }
  db.run('DELETE FROM repositories WHERE rid = ?', rid)
  return true
}
