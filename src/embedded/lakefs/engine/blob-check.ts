/**
 * Whether a file still holds the bytes it is named for. A disk can give back other bytes than were written and say nothing,
 * so nothing read from a file is taken for right before its SHA-256 was compared with its name.
 */

import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync, type BigIntStats } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { BoundedMap } from '../../../base/bounded-map.ts'
import { InvalidError, isPeragoError } from '../../../base/errors.ts'
import {
  EMBEDDED_BLOB_CHECKS_MAX,
  EMBEDDED_BLOB_GROUPED_MAX_BYTES,
  EMBEDDED_BLOB_READ_BYTES,
  EMBEDDED_BLOB_WHOLE_MAX_BYTES,
} from '../../limits.ts'

/** One file of bytes, and the SHA-256 that they must have. */
export interface NamedFile {
  readonly file: string
  readonly sha256: string
}

/** The whole content, checked before anything of it is given out. */
export async function readChecked({ file, sha256 }: NamedFile, sizeBytes: number): Promise<Buffer> {
  // For a small one the way to another thread takes longer than reading it.
  const bytes = sizeBytes <= EMBEDDED_BLOB_GROUPED_MAX_BYTES ? readFileSync(file) : await readFile(file)
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw damagedBlob({ file, sha256 })
  return bytes
}

/**
 * The content piece by piece. The last piece is held back until all were checked, so that damaged content is never complete:
 * the stream fails before its end.
 */
async function* streamChecked({ file, sha256 }: NamedFile): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let held: Buffer | undefined
  for await (const piece of pieces(file)) {
    hash.update(piece)
    if (held !== undefined) yield held
    held = piece
  }
  if (hash.digest('hex') !== sha256) throw damagedBlob({ file, sha256 })
  if (held !== undefined) yield held
}

/** One that cannot be read is as bad as one with other bytes. */
export async function isIntact(named: NamedFile, sizeBytes: number): Promise<boolean> {
  try {
    if (sizeBytes <= EMBEDDED_BLOB_WHOLE_MAX_BYTES) await readChecked(named, sizeBytes)
    else await readToEnd(streamChecked(named))
    return true
  } catch {
    return false
  }
}

/**
 * Remembers which large files were read to their end, so that a range does not cost reading all of it again. What is known of
 * a file holds until the file system changes it; damage below the file system after that is noticed by reads of the whole.
 */
export class CheckedFiles {
  readonly #known = new BoundedMap<string, { readonly state: string; readonly isIntact: boolean }>({
    max: EMBEDDED_BLOB_CHECKS_MAX,
    evict: 'least-recently-used',
  })
  readonly #underWay = new Map<string, Promise<void>>()

  /** As `streamChecked`. What it finds, the next read is told at its start. */
  async *stream(named: NamedFile): AsyncGenerator<Buffer> {
    // Looked at before the first byte: the file may be replaced by a good one meanwhile.
    const state = stateOf(named.file)
    try {
      yield* streamChecked(named)
    } catch (error) {
      if (isPeragoError(error)) this.#known.set(named.sha256, { state, isIntact: false })
      throw error
    }
    this.#known.set(named.sha256, { state, isIntact: true })
  }

  /** Throws when an earlier check found damage, and the file is still the same. */
  refuseKnownDamage(named: NamedFile): void {
    const known = this.#known.get(named.sha256)
    if (known?.isIntact === false && known.state === stateOf(named.file)) throw damagedBlob(named)
  }

  /** Checks the whole file unless that was done. All who ask meanwhile wait for one check. */
  async requireIntact(named: NamedFile): Promise<void> {
    if (this.#known.get(named.sha256)?.state !== stateOf(named.file)) {
      let check = this.#underWay.get(named.sha256)
      if (check === undefined) {
        check = this.#check(named).finally(() => this.#underWay.delete(named.sha256))
        this.#underWay.set(named.sha256, check)
      }
      await check
    }
    this.refuseKnownDamage(named)
  }

  async #check(named: NamedFile): Promise<void> {
    await readToEnd(this.stream(named))
  }
}

async function readToEnd(pieces: AsyncGenerator<Buffer>): Promise<void> {
  while ((await pieces.next()).done !== true);
}

/** Changes whenever the file is written or replaced through the file system. */
function stateOf(file: string): string {
  const stats: BigIntStats | undefined = statSync(file, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return 'missing'
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')
}

function pieces(file: string): AsyncIterable<Buffer> {
  return createReadStream(file, { highWaterMark: EMBEDDED_BLOB_READ_BYTES })
}

function damagedBlob({ file, sha256 }: NamedFile): InvalidError {
  return new InvalidError(
    'embedded/damaged-object',
    `read the bytes ${sha256}: the stored bytes are damaged. Upload the object again, or restore ${file} from a copy`,
    { details: { file, sha256 }, next: 'Upload the object again, or restore the file from a copy.' },
  )
}
