/**
 * The entries of a SQLite store, checked whenever they are read.
 *
 * - SQ-1 Each entry is in the table and in the index `witness`, which share no page. A read asks both, and refuses what differs.
 * - SQ-2 The checksum covers key, value, revision and time of expiry. An entry without one was written by an earlier version.
 * - SQ-3 Every column is cast: libsql 0.5.29 ends the process on text that is not UTF-8, and damage can make text of any value.
 */

import { crc32 } from 'node:zlib'
import { sqliteTroubleOf } from '../../base/sqlite-trouble.ts'
import type { SqliteConnection } from '../../base/sqlite-connection.ts'
import { STORE_PAGE_MAX_BYTES } from '../../core/limits.ts'
import type { RangePage, StoreEntry } from '../../core/ports.ts'
import type { KeySpan, KeyStretch } from '../backend.ts'
import { corruptStore } from '../corruption.ts'

export interface StoredEntry {
  readonly value: Buffer
  readonly revision: number
  readonly expiresAt: number | null
}

/** What both places hold of an entry. */
interface Mark {
  readonly revision: number | null
  readonly expires_at: number | null
  readonly sum: number | null
}

interface KeyedMark extends Mark {
  readonly key: Buffer
}

const ASKED_TOGETHER = 8
const ALIVE = '(expires_at IS NULL OR expires_at > ?)'
const TABLE = 'entries NOT INDEXED'
const WITNESS = 'entries INDEXED BY witness'
const MARK =
  'CAST(revision AS INTEGER) AS revision, CAST(expires_at AS INTEGER) AS expires_at, CAST(sum AS INTEGER) AS sum'
const KEY = "coalesce(CAST(key AS BLOB), x'') AS key"
const GET = `SELECT CAST(value AS BLOB) AS value, ${MARK} FROM ${TABLE} WHERE key = ?
  UNION ALL SELECT NULL, ${MARK} FROM ${WITNESS} WHERE key = ?`

const GET_VALUE = `SELECT CAST(value AS BLOB) AS value FROM ${TABLE} WHERE key = ?`

export class EntryTable {
  readonly #db: SqliteConnection

  constructor(db: SqliteConnection) {
    this.#db = db
  }

  /** Also one that has expired and was not removed yet. */
  get(key: string): StoredEntry | undefined {
    const rows = this.#db.all<Mark & { readonly value: Buffer | null }>(GET, key, key)
    if (rows.length === 0) return undefined
    const [row, witness] = rows
    if (rows.length !== 2 || row === undefined || witness === undefined || !areEqual(row, witness)) {
      throw this.#corrupt(key, 'the entry and its entry in the index differ')
    }
    return this.#checked(key, row)
  }

  put(key: string, stored: StoredEntry): void {
    const { value, revision, expiresAt } = stored
    const sum = sumOf(key, stored)
    this.#db.run(
      'INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)',
      key,
      value,
      revision,
      expiresAt,
      sum,
    )
  }

  /** Whether there was one. */
  remove(key: string): boolean {
    return this.#db.run('DELETE FROM entries WHERE key = ?', key) > 0
  }

  range(span: KeySpan, now: number): RangePage {
    const { limit } = span
    const marks = this.#marksIn(span, now)
    // Sizes first, so that a page of huge values is never read at once.
    let [count, bytes] = [0, 0]
    while (count < Math.min(limit, marks.length) && bytes < STORE_PAGE_MAX_BYTES) {
      bytes += marks[count]?.bytes ?? 0
      count += 1
    }
    const entries = marks.slice(0, count).map((mark) => {
      const key = mark.key.toString()
      const row = this.#db.get<{ value: Buffer | null }>(GET_VALUE, key)
      return showEntry(key, this.#checked(key, { ...mark, value: row?.value ?? null }))
    })
    return { entries, next: count < marks.length ? entries.at(-1)?.key : undefined }
  }

  /** The first keys of a range, in both places. */
  keysIn(stretch: KeyStretch, limit: number): readonly string[] {
    return this.#list(TABLE, { ...stretch, order: 'ascending', limit }, undefined).map(({ key }) =>
      key.toString(),
    )
  }

  /** The revision that each key has now. Several keys per query: a query costs more than a key. */
  revisionsOf(keys: readonly string[], now: number): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (let at = 0; at < keys.length; at += ASKED_TOGETHER) {
      const some = keys.slice(at, at + ASKED_TOGETHER)
      const columns = some.flatMap((_, place) => [
        revisionIn(TABLE, `t${place}`),
        revisionIn(WITNESS, `w${place}`),
      ])
      const row = this.#db.get<Readonly<Record<string, number | null>>>(
        `SELECT ${columns.join(', ')}`,
        ...some.flatMap((key) => [key, now, key, now]),
      )
      for (const [place, key] of some.entries()) {
        const revision = row?.[`t${place}`] ?? null
        if (revision !== (row?.[`w${place}`] ?? null))
          throw this.#corrupt(key, 'the entry and its entry in the index differ')
        if (revision !== null) found.set(key, revision)
      }
    }
    return found
  }

  hasExpired(now: number): boolean {
    return (
      this.#db.get(
        'SELECT 1 AS found FROM entries INDEXED BY expiring WHERE expires_at <= ? LIMIT 1',
        now,
      ) !== undefined
    )
  }

  /** The index alone does not have an entry removed: it may be damaged, and the entry be one that stays. */
  expired(now: number, most: number): readonly string[] {
    const sql = `SELECT ${KEY} FROM entries INDEXED BY expiring WHERE expires_at <= ? ORDER BY expires_at LIMIT ?`
    return this.#db.all<{ key: Buffer }>(sql, now, most).map((row) => {
      const key = row.key.toString()
      const expiresAt = this.get(key)?.expiresAt ?? null
      if (expiresAt === null || expiresAt > now)
        throw this.#corrupt(key, 'the index of expiring entries is wrong about it')
      return key
    })
  }

  /**
   * Where a part of the file cannot be read: what the other place names, up to the first entry that cannot be read, or the key of
   * that entry where it is the first one. No key where neither place can be listed.
   */
  rangeUpToDamage(span: KeySpan, now: number): RangePage | { readonly damaged: string | undefined } {
    const named = this.#namedIn(span)
    if (named === undefined) return { damaged: undefined }
    const entries: StoreEntry[] = []
    for (const key of named.slice(0, span.limit)) {
      const stored = this.#tryGet(key)
      if (stored === undefined) {
        return entries.length === 0 ? { damaged: key } : { entries, next: entries.at(-1)?.key }
      }
      if (stored.expiresAt === null || stored.expiresAt > now) entries.push(showEntry(key, stored))
    }
    return { entries, next: named.length > span.limit ? named[span.limit - 1] : undefined }
  }

  /** By the place that can be listed. */
  #namedIn(span: KeySpan): readonly string[] | undefined {
    for (const place of [WITNESS, TABLE]) {
      try {
        return this.#list(place, span, undefined).map(({ key }) => key.toString())
      } catch (error) {
        if (sqliteTroubleOf(error) !== 'corrupt') throw error
      }
    }
    return undefined
  }

  #tryGet(key: string): StoredEntry | undefined {
    try {
      return this.get(key)
    } catch {
      return undefined
    }
  }

  #checked(key: string, row: Mark & { readonly value: Buffer | null }): StoredEntry {
    const { value, revision, expires_at: expiresAt, sum } = row
    if (value === null || revision === null) throw this.#corrupt(key, 'its value is missing')
    const stored = { value, revision, expiresAt }
    if (sum !== null && sum !== sumOf(key, stored)) throw this.#corrupt(key, 'its checksum does not match')
    return stored
  }

  #marksIn(span: KeySpan, now: number): readonly (KeyedMark & { readonly bytes: number })[] {
    const marks = this.#list(TABLE, span, now)
    const witnesses = this.#list(WITNESS, span, now)
    // The one beyond the limit only tells that there are more; the next page checks it.
    for (let at = 0; at < Math.min(span.limit, Math.max(marks.length, witnesses.length)); at += 1) {
      const [mark, witness] = [marks[at], witnesses[at]]
      if (
        mark !== undefined &&
        witness !== undefined &&
        mark.key.equals(witness.key) &&
        areEqual(mark, witness)
      )
        continue
      throw this.#corrupt(firstOf(span, mark, witness), 'the entry and its entry in the index differ')
    }
    return marks.length < witnesses.length ? [...marks, ...marks.slice(-1)] : marks
  }

  /** One more than the limit, which tells whether there are more. Without `now` also those that have expired. */
  #list(place: string, span: KeySpan, now: number | undefined): (KeyedMark & { readonly bytes: number })[] {
    const { from, to, order, limit } = span
    const bytes = place === TABLE ? 'length(value)' : '0'
    return this.#db.all(
      `SELECT ${KEY}, ${bytes} AS bytes, ${MARK} FROM ${place}
        WHERE key >= ?${to === undefined ? '' : ' AND key < ?'}${now === undefined ? '' : ` AND ${ALIVE}`}
        ORDER BY entries.key ${order === 'ascending' ? 'ASC' : 'DESC'} LIMIT ?`,
      ...(to === undefined ? [from] : [from, to]),
      ...(now === undefined ? [] : [now]),
      limit + 1,
    )
  }

  #corrupt(key: string | undefined, what: string): Error {
    const doing = key === undefined ? 'read a range' : `read key ${JSON.stringify(key)}`
    return corruptStore({ where: this.#db.file, doing, what, key })
  }
}

export function showEntry(key: string, { value, revision, expiresAt }: StoredEntry): StoreEntry {
  // A Buffer may be a view of larger memory; the caller gets a copy.
  return { key, value: Uint8Array.from(value), revision, expires: expiresAt !== null }
}

function revisionIn(place: string, name: string): string {
  return `(SELECT CAST(revision AS INTEGER) FROM ${place} WHERE key = ? AND ${ALIVE}) AS ${name}`
}

function areEqual(one: Mark, other: Mark): boolean {
  return one.revision === other.revision && one.expires_at === other.expires_at && one.sum === other.sum
}

/** Of two entries where only one should be, the one that comes first: the other may be right. */
function firstOf(
  { order }: KeySpan,
  mark: KeyedMark | undefined,
  witness: KeyedMark | undefined,
): string | undefined {
  const [one, other] = [mark?.key, witness?.key]
  if (one === undefined || other === undefined) return (one ?? other)?.toString()
  return (Buffer.compare(one, other) <= 0 === (order === 'ascending') ? one : other).toString()
}

/** Found by it: every change of up to 32 bits in a row, and of any others all but one in four thousand million. */
function sumOf(key: string, { value, revision, expiresAt }: StoredEntry): number {
  return crc32(value, crc32(`${key}\n${revision}\n${expiresAt ?? ''}`))
}
