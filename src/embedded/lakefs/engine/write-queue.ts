/**
 * Group commit. All writes of one turn of the event loop run in one SQLite transaction, each under its own
 * savepoint, so one refusal undoes only itself; one fsync makes them all durable; then every caller is answered.
 *
 * Invariants:
 * 1. A write is answered with success only after the transaction that holds it was committed and synced.
 * 2. A write that throws leaves no trace, and what it threw is the answer.
 * 3. Writes take effect in the order of their calls.
 */

import { messageOf, UnavailableError } from '../../../base/errors.ts'
import { EMBEDDED_WRITE_BATCH_MAX, EMBEDDED_WRITE_QUEUE_MAX } from '../../limits.ts'
import type { MetadataDb } from './metadata-db.ts'
import { closedError, explainFullDisk } from './storage-errors.ts'

interface QueuedWrite {
  run(): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

export class WriteQueue {
  readonly #db: MetadataDb
  #waiting: QueuedWrite[] = []
  #flush: NodeJS.Immediate | undefined
  #closed = false

  constructor(db: MetadataDb) {
    this.#db = db
  }

  /** `task` is synchronous on purpose: nothing else can happen between what it reads and what it writes. */
  run<Result>(task: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(closedError('write metadata'))
    if (this.#waiting.length >= EMBEDDED_WRITE_QUEUE_MAX) {
      return Promise.reject(
        new UnavailableError(
          'embedded/too-many-writes',
          `write metadata: ${EMBEDDED_WRITE_QUEUE_MAX} writes are waiting already`,
          { next: 'Send fewer requests at the same time.' },
        ),
      )
    }
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ run: task, resolve: (value) => resolve(value as Result), reject })
      this.#flush ??= setImmediate(() => this.#flushBatch())
    })
  }

  /** Runs what is waiting; later writes are refused. */
  close(): void {
    this.#closed = true
    while (this.#waiting.length > 0) this.#flushBatch()
  }

  #flushBatch(): void {
    if (this.#flush !== undefined) clearImmediate(this.#flush)
    const batch = this.#waiting.slice(0, EMBEDDED_WRITE_BATCH_MAX)
    this.#waiting = this.#waiting.slice(batch.length)
    this.#flush = this.#waiting.length > 0 ? setImmediate(() => this.#flushBatch()) : undefined
    let answers: (() => void)[]
    try {
      this.#db.exec('BEGIN IMMEDIATE')
      answers = batch.map((write) => this.#runOne(write))
      this.#db.exec('COMMIT')
    } catch (error) {
      this.#db.rollBack()
      const failure = this.#explain(error)
      for (const write of batch) write.reject(failure)
      return
    }
    for (const answer of answers) answer()
  }

  #runOne(write: QueuedWrite): () => void {
    this.#db.run('SAVEPOINT one_write')
    try {
      const result = write.run()
      this.#db.run('RELEASE one_write')
      return () => write.resolve(result)
    } catch (error) {
      // On a full disk SQLite ends the whole transaction itself; then no write of the batch has happened.
      if (!this.#db.isInTransaction) throw error
      this.#db.exec('ROLLBACK TO one_write; RELEASE one_write')
      const told = explainFullDisk('write metadata', error)
      return () => write.reject(told)
    }
  }

  #explain(error: unknown): unknown {
    const told = explainFullDisk('write metadata', error)
    if (told !== error) return told
    return new UnavailableError(
      'embedded/write-failed',
      `write metadata to ${this.#db.file}: ${messageOf(error)}`,
      {
        next: 'Check the free space and the health of the disk with the data directory.',
        cause: error,
      },
    )
  }
}
