/**
 * The uncommitted changes of a branch: one row for each path that was written or deleted since its head.
 *
 * Each row has the number of the write that made it. A commit clears the rows it has read and no later ones, so an
 * upload that was answered meanwhile stays staged on the new head.
 *
 * An update that begins seals what is staged, and one that fails leaves it sealed, as in lakeFS. Sealed rows are a copy that
 * only a hard reset looks at: while one of them differs from the head, the branch cannot be moved.
 */

import { EMBEDDED_STAGING_READ_ROWS } from '../../limits.ts'
import { isSameEntry } from './entry-codec.ts'
import type { MetadataDb } from './metadata-db.ts'
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

export class Staging {
  readonly #db: MetadataDb
  #lastNumber: number

  /** Numbers must rise across restarts as well, hence one row that counts the starts. */
  constructor(db: MetadataDb) {
    this.#db = db
    // Not in the schema: directories of earlier versions have no such table.
    db.exec(
      'CREATE TABLE IF NOT EXISTS sealed (bid INTEGER NOT NULL, key BLOB NOT NULL, value BLOB, PRIMARY KEY (bid, key)) WITHOUT ROWID',
    )
    db.run(
      `INSERT INTO meta (name, value) VALUES ('starts', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`,
    )
    const starts = db.get<{ value: number }>(`SELECT value FROM meta WHERE name = 'starts'`)?.value ?? 1
    this.#lastNumber = starts * WRITES_PER_START
  }

  /** The number of the newest write. */
  get lastNumber(): number {
    return this.#lastNumber
  }

  find(branch: number, key: ByteKey): StagedChange | undefined {
    const sql = 'SELECT value FROM staged WHERE bid = ? AND key = ?'
    const row = this.#db.get<{ value: Buffer | null }>(sql, branch, keyToBytes(key))
    return row && { key, value: row.value ?? undefined }
  }

  put(branch: number, key: ByteKey, value: Buffer | undefined): void {
    this.#lastNumber += 1
    this.#db.run(
      'INSERT OR REPLACE INTO staged (bid, key, seq, value) VALUES (?, ?, ?, ?)',
      branch,
      keyToBytes(key),
      this.#lastNumber,
      value ?? null,
    )
  }

  /** Clears what was staged up to that write, and nothing newer. */
  clear(branch: number, throughNumber: number): void {
    this.#db.run('DELETE FROM staged WHERE bid = ? AND seq <= ?', branch, throughNumber)
  }

  seal(branch: number): void {
    this.dropSealed(branch)
    this.#db.run(
      'INSERT INTO sealed (bid, key, value) SELECT bid, key, value FROM staged WHERE bid = ?',
      branch,
    )
  }

  dropSealed(branch: number): void {
    this.#db.run('DELETE FROM sealed WHERE bid = ?', branch)
  }

  stream(branch: number, table: StagingTable = 'staged'): SortedStream<StagedChange> {
    return new StagedStream(this.#db, branch, table)
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
  #page: { key: Buffer; value: Buffer | null }[] = []
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
    this.#page = this.#db.all(
      `SELECT key, value FROM ${this.#table} WHERE bid = ? AND key ${this.#isInclusive ? '>=' : '>'} ? ORDER BY key LIMIT ?`,
      this.#branch,
      this.#from,
      EMBEDDED_STAGING_READ_ROWS,
    )
    this.#at = 0
    this.#isDone = this.#page.length < EMBEDDED_STAGING_READ_ROWS
    this.#from = this.#page.at(-1)?.key ?? this.#from
    this.#isInclusive = false
  }
}
