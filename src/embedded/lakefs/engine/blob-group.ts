/**
 * Small objects, stored in groups: what has arrived while one group was made durable is the next one. The files of a group
 * are synced in parallel, then named, then one sync of the directory serves all; then all are answered in one turn, so that
 * the entries that follow share a transaction.
 *
 * Invariants:
 * 1. A file gets its final name after its own bytes were synced.
 * 2. A blob is answered after the directory was synced, later than its name was made.
 * 3. What fails for one file fails for this content alone; what fails for the directory fails for the group.
 */

import { closeSync, fsync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EMBEDDED_BLOB_GROUP_MAX } from '../../limits.ts'
import type { DirectorySyncer } from './directory-syncer.ts'

const syncFile = promisify(fsync)

interface WaitingBlob {
  readonly bytes: Buffer
  /** Where it belongs. */
  readonly file: string
  /** The file is there and undamaged; only its name may not be durable. */
  readonly isThere: boolean
  resolve(): void
  reject(error: unknown): void
}

/** One content of a group, for all who sent it. */
interface Draft {
  readonly tempFile: string
  readonly file: string
  /** Undefined when it is closed. */
  handle: number | undefined
  failure: { readonly error: unknown } | undefined
}

export class BlobGroup {
  readonly #tempDir: string
  readonly #syncer: DirectorySyncer
  #waiting: WaitingBlob[] = []
  #isRunning = false
  #drafts = 0

  constructor(options: { readonly tempDir: string; readonly syncer: DirectorySyncer }) {
    this.#tempDir = options.tempDir
    this.#syncer = options.syncer
  }

  /** Resolves when the bytes are durable under that name. */
  store(blob: Pick<WaitingBlob, 'bytes' | 'file' | 'isThere'>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...blob, resolve, reject })
      if (this.#isRunning) return
      this.#isRunning = true
      // Not before the other bodies of this turn are here.
      setImmediate(() => void this.#runAll())
    })
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.slice(0, EMBEDDED_BLOB_GROUP_MAX)
      this.#waiting = this.#waiting.slice(group.length)
      await this.#run(group)
    }
    this.#isRunning = false
  }

  async #run(group: readonly WaitingBlob[]): Promise<void> {
    const drafts = new Map<string, Draft>()
    for (const { isThere, file, bytes } of group) {
      if (!isThere && !drafts.has(file)) drafts.set(file, this.#draft(file, bytes))
    }
    try {
      await Promise.all(Array.from(drafts.values(), syncDraft))
      for (const draft of drafts.values()) nameDraft(draft)
      await this.#syncer.sync()
    } catch (error) {
      for (const blob of group) blob.reject(error)
      return
    }
    for (const blob of group) {
      const failure = blob.isThere ? undefined : drafts.get(blob.file)?.failure
      if (failure === undefined) blob.resolve()
      else blob.reject(failure.error)
    }
  }

  /** In one go: for a small file the way to another thread and back costs more than the write. */
  #draft(file: string, bytes: Buffer): Draft {
    this.#drafts += 1
    const tempFile = join(this.#tempDir, this.#drafts.toString(16).padStart(16, '0'))
    const draft: Draft = { tempFile, file, handle: undefined, failure: undefined }
    try {
      draft.handle = openSync(tempFile, 'wx', 0o600)
      for (let written = 0; written < bytes.length;)
        written += writeSync(draft.handle, bytes, written)
    } catch (error) {
      discard(draft, error)
    }
    return draft
  }
}

async function syncDraft(draft: Draft): Promise<void> {
  if (draft.handle === undefined) return
  try {
    await syncFile(draft.handle)
  } catch (error) {
    discard(draft, error)
  }
}

function nameDraft(draft: Draft): void {
  if (draft.handle === undefined) return
  try {
    const { handle } = draft
    draft.handle = undefined
    closeSync(handle)
    renameSync(draft.tempFile, draft.file)
  } catch (error) {
    discard(draft, error)
  }
}

function discard(draft: Draft, error: unknown): void {
  draft.failure = { error }
  const { handle } = draft
  draft.handle = undefined
  try {
    // A full disk may show only now, again; what matters is the first error.
    if (handle !== undefined) closeSync(handle)
  } catch {
    // See above.
  }
  try {
    rmSync(draft.tempFile, { force: true })
  } catch {
    // The next start removes it.
  }
}
