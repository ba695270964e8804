/**
 * The uncommitted changes of a branch: one row for each path that was written or deleted since its head.
 *
 * Each row has the number of the write that made it. A commit clears the rows it has read and no later ones, so an
 * upload that was answered meanwhile stays staged on the new head.
 *
 * An update that begins seals what is staged, and one that fails leaves it sealed, as in lakeFS. Sealed rows are a copy that
 * only a hard reset looks at: while one of them differs from the head, the branch cannot be moved.
 */

import { BoundedMap } from '../../../base/bounded-map.ts'
import { EMBEDDED_CHECKED_STAGINGS_MAX, EMBEDDED_STAGING_READ_ROWS } from '../../limits.ts'
import { isSameEntry } from './entry-codec.ts'
import type { MetadataDb } from './metadata-db.ts'
import { checkRow, insertSummed, sumAgain, summedColumns, type RawRow } from './row-sums.ts'
import { bytesToKey, keyToBytes, type ByteKey } from './tree/byte-key.ts'
import { lookUp, type NodeStore } from './tree/node-store.ts'
import type { SortedStream } from './tree/sorted-stream.ts'
import type { NodeId } from './tree/tree-node.ts'

export interface StagedChange {
  readonly key: ByteKey
  /** Undefined for a deletion. */
  readonly value: Buffer | undefined
}

/** 2^32 writes between two starts; 2^21 starts before numbers lose precision. */
const WRITES_PER_START = 2 ** 32

type StagingTable = 'staged' | 'sealed'

interface StagedRow {
  key: Buffer
  value: Buffer | null
}

export class Staging {
  readonly #db: MetadataDb
  /** Branches of which every row was read: a damaged key is not where it is looked for. */
  readonly #checked = new BoundedMap<string, true>({
    max: EMBEDDED_CHECKED_STAGINGS_MAX,
    evict: 'least-recently-used',
  })
  #lastNumber: number

  /** Numbers must rise across restarts as well, hence one row that counts the starts. */
  constructor(db: MetadataDb) {
    this.#db = db
    db.run(
      `INSERT INTO meta (name, value) VALUES ('starts', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`,
    )
    sumAgain(db, 'meta', 'name = ?', 'starts')
    const starts = db.get<{ value: number }>(`SELECT value FROM meta WHERE name = 'starts'`)?.value ?? 1
    this.#lastNumber = starts * WRITES_PER_START
  }

  /** The number of the newest write. */
  get lastNumber(): number {
    return this.#lastNumber
  }

  find(branch: number, key: ByteKey): StagedChange | undefined {
    this.#requireIntact(branch, 'staged')
    const sql = `SELECT ${summedColumns('staged')} FROM staged WHERE bid = ? AND key = ?`
    const row = this.#db.get<RawRow>(sql, branch, keyToBytes(key))
    return row && { key, value: checkRow<StagedRow>(this.#db, 'staged', row).value ?? undefined }
  }

  put(branch: number, key: ByteKey, value: Buffer | undefined): void {
    this.#lastNumber += 1
    const row = { bid: branch, key: keyToBytes(key), seq: this.#lastNumber, value: value ?? null }
    insertSummed(this.#db, 'staged', row, 'REPLACE')
  }

  /** Clears what was staged up to that write, and nothing newer. */
  clear(branch: number, throughNumber: number): void {
    this.#db.run('DELETE FROM staged WHERE bid = ? AND seq <= ?', branch, throughNumber)
  }

  /** Clears everything without reading it, so that damaged changes can be discarded. */
  drop(branch: number): void {
    this.#db.run('DELETE FROM staged WHERE bid = ?', branch)
    this.dropSealed(branch)
  }

  seal(branch: number): void {
    this.dropSealed(branch)
    this.#db.run(
      'INSERT INTO sealed (bid, key, seq, value, sum) SELECT bid, key, seq, value, sum FROM staged WHERE bid = ?',
      branch,
    )
  }

  dropSealed(branch: number): void {
    this.#db.run('DELETE FROM sealed WHERE bid = ?', branch)
  }

  stream(branch: number, table: StagingTable = 'staged'): SortedStream<StagedChange> {
    this.#requireIntact(branch, table)
    return new StagedStream(this.#db, branch, table)
  }

  /** Reads all rows at the first use of a branch; each row is checked again whenever it is read. */
  #requireIntact(branch: number, table: StagingTable): void {
    const known = `${table} ${String(branch)}`
    if (this.#checked.get(known) === true) return
    const rows = new StagedStream(this.#db, branch, table)
    while (rows.next() !== undefined);
    this.#checked.set(known, true)
  }
}

/** Whether anything staged differs from the committed tree. The same content uploaded again does not. */
export function hasUncommittedChanges(
  staged: SortedStream<StagedChange>,
  committed: { readonly store: NodeStore; readonly root: NodeId },
): boolean {
  for (let change = staged.next(); change !== undefined; change = staged.next()) {
    if (isRealChange(change, lookUp(committed.store, committed.root, change.key))) return true
  }
  return false
}

export function isRealChange(change: StagedChange, committed: Buffer | undefined): boolean {
  if (change.value === undefined || committed === undefined) return change.value !== committed
  return !isSameEntry(change.value, committed)
}

/** Reads page by page, so that no statement stays open between two reads and memory stays constant. */
class StagedStream implements SortedStream<StagedChange> {
  readonly #db: MetadataDb
  readonly #branch: number
  readonly #table: StagingTable
  #page: StagedRow[] = []
  #at = 0
  #from: Buffer = Buffer.alloc(0)
  #isInclusive = true
  #isDone = false

  constructor(db: MetadataDb, branch: number, table: StagingTable) {
    this.#db = db
    this.#branch = branch
    this.#table = table
  }

  next(): StagedChange | undefined {
    if (this.#at === this.#page.length) this.#readPage()
    const row = this.#page[this.#at]
    if (row === undefined) return undefined
    this.#at += 1
    return { key: bytesToKey(row.key), value: row.value ?? undefined }
  }

  seek(key: ByteKey): void {
    while (this.#at < this.#page.length) {
      const row = this.#page[this.#at]
      if (row !== undefined && bytesToKey(row.key) >= key) return
      this.#at += 1
    }
    const from = keyToBytes(key)
    if (Buffer.compare(from, this.#from) <= 0) return
    this.#from = from
    this.#isInclusive = true
  }

  #readPage(): void {
    if (this.#isDone) return
    const rows = this.#db.all<RawRow>(
      `SELECT ${summedColumns(this.#table)} FROM ${this.#table} WHERE bid = ? AND key ${this.#isInclusive ? '>=' : '>'} ? ORDER BY key LIMIT ?`,
      this.#branch,
      this.#from,
      EMBEDDED_STAGING_READ_ROWS,
    )
    this.#page = rows.map((row) => checkRow<StagedRow>(this.#db, this.#table, row))
    this.#at = 0
    this.#isDone = this.#page.length < EMBEDDED_STAGING_READ_ROWS
    this.#from = this.#page.at(-1)?.key ?? this.#from
    this.#isInclusive = false
  }
}
