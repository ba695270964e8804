/**
 * Revisions, and the changes that watches read, of a SQLite store. Both numbers of the state are stored twice; a change has a checksum.
 * Every column is cast, as in `entry-table.ts`.
 */

import { crc32 } from 'node:zlib'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import { STORE_CHANGES_PAGE } from '../limits.ts'
import type { StoreChange } from '../../core/ports.ts'
import type { ChangeRead, KeyStretch } from '../backend.ts'
import { corruptStore } from '../corruption.ts'
import { isWithin } from '../key-order.ts'

interface State {
  readonly epoch: string
  readonly revision: number
  readonly forgotten: number
}

/** Old changes are deleted once per this many revisions. */
const FORGET_EVERY = 64

export class ChangeLog {
  readonly #db: SqliteConnection
  readonly #kept: number

  constructor(db: SqliteConnection, kept: number) {
    this.#db = db
    this.#kept = kept
  }

  /** A place between two batches. */
  end(): string {
    return cursorOf(this.#state())
  }

  /** An unused revision does no harm. */
  nextRevision(): number {
    const row = this.#db.get<{ revision: unknown; again: unknown }>(
      `UPDATE state SET revision = revision + 1, revision_again = revision_again + 1
        RETURNING CAST(revision AS INTEGER) AS revision, CAST(revision_again AS INTEGER) AS again`,
    )
    return this.#checked(row?.revision, row?.again)
  }

  add(changes: readonly StoreChange[], revision: number): void {
    for (const [position, { key, kind }] of changes.entries()) {
      const sum = sumOf({ revision, position, key, kind })
      this.#db.run('INSERT INTO changes VALUES (?, ?, ?, ?, ?)', revision, position, key, kind, sum)
    }
    const forgotten = revision - this.#kept
    if (revision % FORGET_EVERY !== 0 || forgotten <= 0) return
    this.#db.run('DELETE FROM changes WHERE revision <= ?', forgotten)
    this.#db.run('UPDATE state SET forgotten = ?, forgotten_again = ?', forgotten, forgotten)
  }

  /** `lost` also where a change is damaged: the watch reads the whole range again, and then what is damaged there is told. */
  read(cursor: string, stretch: KeyStretch): ChangeRead | 'lost' {
    const state = this.#state()
    const [epoch, text] = cursor.split('.')
    const after = Number(text)
    if (epoch !== state.epoch || !(after >= state.forgotten && after <= state.revision)) return 'lost'
    const upTo = Math.min(state.revision, after + STORE_CHANGES_PAGE)
    const rows = this.#db.all<{
      key: Buffer
      kind: Buffer
      revision: number
      position: number
      sum: number | null
    }>(
      `SELECT CAST(revision AS INTEGER) AS revision, CAST(position AS INTEGER) AS position, coalesce(CAST(key AS BLOB), x'') AS key,
          coalesce(CAST(kind AS BLOB), x'') AS kind, CAST(sum AS INTEGER) AS sum
        FROM changes WHERE revision > ? AND revision <= ? ORDER BY changes.revision, changes.position`,
      after,
      upTo,
    )
    const changes: StoreChange[] = []
    for (const { sum, ...row } of rows) {
      const [key, kind] = [row.key.toString(), row.kind.toString() === 'put' ? 'put' : 'delete'] as const
      if (sum !== null && sum !== sumOf({ ...row, key, kind })) return 'lost'
      if (isWithin(stretch, key)) changes.push({ key, kind })
    }
    return {
      changes,
      cursor: cursorOf({ ...state, revision: upTo }),
      more: upTo < state.revision,
    }
  }

  #state(): State {
    const row = this.#db.get<
      Readonly<Record<'revision' | 'revision2' | 'forgotten' | 'forgotten2', unknown>> & { epoch: Buffer }
    >(
      `SELECT coalesce(CAST(epoch AS BLOB), x'') AS epoch, CAST(revision AS INTEGER) AS revision, CAST(revision_again AS INTEGER) AS revision2,
        CAST(forgotten AS INTEGER) AS forgotten, CAST(forgotten_again AS INTEGER) AS forgotten2 FROM state`,
    )
    return {
      epoch: row?.epoch.toString() ?? '',
      revision: this.#checked(row?.revision, row?.revision2),
      forgotten: this.#checked(row?.forgotten, row?.forgotten2),
    }
  }

  #checked(value: unknown, again: unknown): number {
    if (typeof value === 'number' && value === again) return value
    throw corruptStore({ where: this.#db.file, doing: 'read its state', what: 'it is missing or changed' })
  }
}

function cursorOf({ epoch, revision }: Pick<State, 'epoch' | 'revision'>): string {
  return `${epoch}.${revision}`
}

function sumOf(change: StoreChange & { readonly revision: number; readonly position: number }): number {
  return crc32(`${change.revision}.${change.position} ${change.kind} ${change.key}`)
}
