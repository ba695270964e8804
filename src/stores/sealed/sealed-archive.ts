/**
 * Encryption at rest around any archive of events. A row keeps what the keys of a sealed store show as well, its tenant,
 * execution, sequence and type, and its id and time. Its source and its payload are encrypted, as JSON text, so that the table
 * stays as it is:
 *
 * ```text
 * source_type  "sealed", which no event has
 * payload      {"sealed": BASE64}: 4 bytes CRC-32 of what follows and of what is readable, then a sealed value (see `seal.ts`)
 * ```
 *
 * - SA-1 What is readable in a row is authenticated with what is encrypted: no part can be moved to another row.
 * - SA-2 The checksum comes first: a changed bit is told as damage, whatever the keys. With a right checksum, what cannot be
 *   decrypted has another key, or was changed on purpose.
 * - SA-3 Rows that were written without a seal are read as they are, until `resealArchive` encrypts them.
 */

import { crc32 } from 'node:zlib'
import { defined } from '../../base/defined.ts'
import {
  SEALED_SOURCE,
  type EventArchive,
  type EventRow,
  type WalkableArchive,
} from '../../core/events/archive-port.ts'
import { ARCHIVE_WALK_ROWS } from '../limits.ts'
import { damagedRow, keyOfRow } from '../archive/event-rows.ts'
import { keyIdOf, openValue, sealValue, type Seal } from './seal.ts'
import { sealOf, type EncryptionOptions, type SealOptions } from './sealed-store.ts'

export type ArchiveSealOptions = SealOptions & {
  /** The keys by id, and which of them encrypts new rows. */
  readonly encryption: EncryptionOptions
}

/** A row as it was before it was sealed. Throws `stores/corrupt`, `stores/unknown-key` or `stores/damaged`. */
type OpenRow = (row: EventRow) => Promise<EventRow>

/**
 * ```ts
 * const archive = sealArchive(openSqliteArchive({ file }), { encryption: { keys: { k1: key }, use: 'k1' } })
 * ```
 */
export function sealArchive(archive: EventArchive, options: ArchiveSealOptions): EventArchive {
  const seal = sealOf(options)
  const open = openRows(archive, options)
  return {
    name: archive.name,
    write: async (rows) => archive.write(await Promise.all(rows.map((row) => sealRow(seal, row)))),
    // The database cannot tell the sources of sealed rows.
    read: async (query) => {
      const rows = await archive.read({ ...query, sourceType: undefined, sourceId: undefined })
      return Promise.all(rows.map(open))
    },
    listTypes: (place) => archive.listTypes(place),
    count: (place) => archive.count(place),
    remove: (place) => archive.remove(place),
    ...defined({ sizeBytes: archive.sizeBytes?.bind(archive) }),
    close: () => archive.close(),
  }
}

/** Encrypts every row that is not encrypted with the key in use, and returns how many those were. Can be repeated. */
export async function resealArchive(
  archive: WalkableArchive,
  { signal, ...options }: ArchiveSealOptions & { readonly signal?: AbortSignal },
): Promise<number> {
  const seal = sealOf(options)
  const open = openRows(archive, options)
  let count = 0
  for await (const rows of walkArchive(archive, signal)) {
    const old = rows.filter((row) => keyIdOfRow(row) !== seal.use)
    const anew = await Promise.all(old.map(async (row) => sealRow(seal, await open(row))))
    if (anew.length > 0) await archive.rewrite(anew)
    count += anew.length
  }
  return count
}

export async function* walkArchive(
  archive: WalkableArchive,
  signal?: AbortSignal,
): AsyncGenerator<readonly EventRow[], void, undefined> {
  for (let after: EventRow | undefined; ;) {
    signal?.throwIfAborted()
    const rows = await archive.list({ after, limit: ARCHIVE_WALK_ROWS })
    yield rows
    if (rows.length < ARCHIVE_WALK_ROWS) return
    after = rows.at(-1)
  }
}

/** Opens rows of this archive; without keys only those that are not sealed. */
export function openRows({ name }: Pick<EventArchive, 'name'>, options: SealOptions): OpenRow {
  const seal = sealOf(options)
  return async (row) => {
    if (row.payload === '') throw damagedRow(name, row)
    if (row.sourceType !== SEALED_SOURCE) return row
    const sealed = sealedOf(row)
    if (sealed === undefined) throw damagedRow(name, row, 'its encrypted part is changed')
    const text = Buffer.from(await openValue(seal, keyOfRow(row), sealed, besideOf(row))).toString()
    const end = text.indexOf('\n')
    const [sourceType, sourceId] = JSON.parse(text.slice(0, end)) as [string, string]
    return { ...row, sourceType, sourceId, payload: text.slice(end + 1) }
  }
}

async function sealRow(seal: Seal, row: EventRow): Promise<EventRow> {
  const text = `${JSON.stringify([row.sourceType, row.sourceId])}\n${row.payload}`
  const sealed = await sealValue(seal, keyOfRow(row), Buffer.from(text), besideOf(row))
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32BE(sumOf(row, sealed))
  const payload = JSON.stringify({ sealed: Buffer.concat([sum, sealed]).toString('base64') })
  return { ...row, sourceType: SEALED_SOURCE, sourceId: '', payload }
}

/** The key that a row is encrypted with; `undefined` also where that cannot be read. */
function keyIdOfRow(row: EventRow): string | undefined {
  const sealed = row.sourceType === SEALED_SOURCE ? sealedOf(row) : undefined
  return sealed && keyIdOf(sealed)
}

/** `undefined` where anything of the row is not as it was written. A value that is not encrypted was never written here. */
function sealedOf(row: EventRow): Uint8Array | undefined {
  const [, text] = /^\{"sealed": ?"([A-Za-z0-9+/=]+)"\}$/.exec(row.payload) ?? []
  const bytes = Buffer.from(text ?? '', 'base64')
  if (bytes.length <= SUM_BYTES) return undefined
  const sealed = bytes.subarray(SUM_BYTES)
  const isWhole = bytes.readUInt32BE() === sumOf(row, sealed) && keyIdOf(sealed) !== undefined
  return isWhole ? sealed : undefined
}

const SUM_BYTES = 4

function sumOf(row: EventRow, sealed: Uint8Array): number {
  return crc32(sealed, crc32(keyOfRow(row) + besideOf(row)))
}

/** What of a row is readable and not in its key. */
function besideOf({ id, type, timestamp }: EventRow): string {
  return ` ${JSON.stringify([id, type, timestamp])}`
}
