/**
 * What a workspace was laid out from, in columns: a hundred thousand files take a dozen megabytes, and nothing is
 * looked up twice at the repository. Sorted by the bytes of the paths, as the repository lists them.
 */

import { invariant } from '../base/errors.ts'
import type { FileFacts } from '../tasks/tree-entry.ts'
import { KeyTable } from './key-table.ts'
import type { SourceObject } from './ports.ts'

/** One file of the input: where it stands in the repository and here, and what belongs to it. */
export interface ManifestEntry extends SourceObject {
  /** Relative to the prefix, and to the directory. */
  readonly path: string
}

export interface Manifest {
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** How many files were laid out. */
  readonly count: number
  readonly totalBytes: number
  /** The file system's time after the last file was laid out; see `suspect`. */
  readonly layOutEndNs: bigint
  /** Keys below the prefix that are outside the view, relative to the prefix: they exist, and stay. */
  readonly outside: KeyTable
  /** Where a path stands, or -1. */
  find(path: string): number
  path(index: number): string
  entry(index: number): ManifestEntry
  entries(): IterableIterator<ManifestEntry>
  /** What the file system said of the file after it was laid out. */
  facts(index: number): FileFacts
  /** The MD5 of the content in hexadecimal, which hashing the file again must give if it is unchanged. */
  md5(index: number): string | undefined
  sizeBytes(index: number): number
  /** Whether the content lies in the content cache already. */
  isCached(index: number): boolean
}

/** Filled while planning and laying out; nobody else writes to it. */
export class ManifestRecord implements Manifest {
  readonly prefix: string
  readonly outside: KeyTable
  layOutEndNs = 0n
  totalBytes = 0
  readonly #paths = new KeyTable()
  readonly #checksums = new ChecksumColumn()
  readonly #contentTypes = new SharedValueColumn<string>()
  readonly #metadata = new SharedValueColumn<Readonly<Record<string, string>>>()
  #sizes = new Float64Array(64)
  #mtimes = new BigInt64Array(0)
  #ctimes = new BigInt64Array(0)
  #inodes = new BigUint64Array(0)
  /** For objects whose checksum is no MD5: what was found while their files were written. */
  readonly #hashes = new Map<number, Buffer>()
  /** Of few objects, if any: those whose checksum does not tell their content. */
  readonly #addresses = new Map<number, string>()
  #cached = new Uint8Array(0)

  /** `outside` of another manifest, where it is known already which keys those are. */
  constructor(prefix: string, outside = new KeyTable()) {
    this.prefix = prefix
    this.outside = outside
  }

  get count(): number {
    return this.#paths.count
  }

  /** `false` when the object does not come after the last one in byte order. */
  append(path: string, object: SourceObject): boolean {
    const index = this.count
    if (!this.#paths.append(path)) return false
    if (index === this.#sizes.length) {
      const longer = new Float64Array(index * 2)
      longer.set(this.#sizes)
      this.#sizes = longer
    }
    this.#sizes[index] = object.sizeBytes
    this.#checksums.append(object.checksum)
    this.#contentTypes.append(object.contentType, object.contentType)
    this.#metadata.append(metadataKey(object.metadata), object.metadata)
    if (object.address !== undefined && !looksLikeMd5(object.checksum))
      this.#addresses.set(index, object.address)
    this.totalBytes += object.sizeBytes
    return true
  }

  /** No further object follows. */
  seal(): void {
    this.#paths.trim()
    this.outside.trim()
    this.#sizes = this.#sizes.slice(0, this.count)
    this.#checksums.trim()
    this.#contentTypes.trim()
    this.#metadata.trim()
    this.#mtimes = new BigInt64Array(this.count)
    this.#ctimes = new BigInt64Array(this.count)
    this.#inodes = new BigUint64Array(this.count)
    this.#cached = new Uint8Array(this.count)
  }

  recordCached(index: number): void {
    this.#cached[index] = 1
  }

  isCached(index: number): boolean {
    return this.#cached[index] === 1
  }

  sizeBytes(index: number): number {
    return this.#sizes[index] ?? 0
  }

  recordFacts(index: number, facts: FileFacts): void {
    invariant(facts.sizeBytes === this.#sizes[index], 'a file is laid out with the size of its object')
    this.#mtimes[index] = facts.mtimeNs
    this.#ctimes[index] = facts.ctimeNs
    this.#inodes[index] = facts.inode
  }

  recordMd5(index: number, md5: string): void {
    this.#hashes.set(index, Buffer.from(md5, 'hex'))
  }

  find(path: string): number {
    return this.#paths.find(path)
  }

  firstBelow(prefix: string): string | undefined {
    return this.#paths.firstBelow(prefix)
  }

  path(index: number): string {
    return this.#paths.at(index)
  }

  entry(index: number): ManifestEntry {
    const path = this.path(index)
    const address = this.#addresses.get(index)
    return {
      ...(address === undefined ? {} : { address }),
      path,
      key: this.prefix + path,
      checksum: this.#checksums.at(index),
      sizeBytes: this.#sizes[index] ?? 0,
      contentType: this.#contentTypes.at(index),
      metadata: this.#metadata.at(index),
    }
  }

  *entries(): IterableIterator<ManifestEntry> {
    for (let index = 0; index < this.count; index++) yield this.entry(index)
  }

  facts(index: number): FileFacts {
    return {
      sizeBytes: this.#sizes[index] ?? 0,
      mtimeNs: this.#mtimes[index] ?? 0n,
      ctimeNs: this.#ctimes[index] ?? 0n,
      inode: this.#inodes[index] ?? 0n,
    }
  }

  /** What was recorded, because the checksum is no MD5. */
  ownMd5(index: number): string | undefined {
    return this.#hashes.get(index)?.toString('hex')
  }

  md5(index: number): string | undefined {
    return this.#hashes.get(index)?.toString('hex') ?? this.#checksums.md5At(index)
  }
}

const MD5_BYTES = 16
const MD5_FORM = /^[0-9a-f]{32}$/

/** Whether a checksum has the form of an MD5. On most stores it then is one; see `docs/concepts/workspace.md`. */
export function looksLikeMd5(checksum: string): boolean {
  return MD5_FORM.test(checksum)
}

function metadataKey(metadata: Readonly<Record<string, string>>): string {
  const keys = Object.keys(metadata)
  return keys.length === 0 ? '' : JSON.stringify(keys.sort().map((key) => [key, metadata[key]]))
}

/** Checksums in the form of an MD5 as their sixteen bytes, others as they are. */
class ChecksumColumn {
  #bytes = Buffer.alloc(64 * MD5_BYTES)
  #count = 0
  readonly #others = new Map<number, string>()

  append(checksum: string): void {
    const begin = this.#count * MD5_BYTES
    if (begin === this.#bytes.length) this.#resize(begin * 2)
    if (looksLikeMd5(checksum)) this.#bytes.write(checksum, begin, 'hex')
    else this.#others.set(this.#count, checksum)
    this.#count++
  }

  at(index: number): string {
    return this.md5At(index) ?? this.#others.get(index) ?? ''
  }

  md5At(index: number): string | undefined {
    if (this.#others.has(index)) return undefined
    return this.#bytes.toString('hex', index * MD5_BYTES, (index + 1) * MD5_BYTES)
  }

  trim(): void {
    this.#resize(this.#count * MD5_BYTES)
  }

  #resize(length: number): void {
    const resized = Buffer.alloc(length)
    this.#bytes.copy(resized)
    this.#bytes = resized
  }
}

/** Values that many rows have in common, such as content types: each once, and a number for each row. */
class SharedValueColumn<T> {
  readonly #values: T[] = []
  readonly #numbers = new Map<string, number>()
  #rows = new Uint32Array(64)
  #count = 0

  append(name: string, value: T): void {
    let number = this.#numbers.get(name)
    if (number === undefined) {
      number = this.#values.push(value) - 1
      this.#numbers.set(name, number)
    }
    if (this.#count === this.#rows.length) this.#resize(this.#count * 2)
    this.#rows[this.#count++] = number
  }

  at(index: number): T {
    const value = this.#values[this.#rows[index] ?? -1]
    invariant(value !== undefined, 'a manifest is read within its bounds')
    return value
  }

  trim(): void {
    this.#resize(this.#count)
    this.#numbers.clear()
  }

  #resize(length: number): void {
    const resized = new Uint32Array(length)
    resized.set(this.#rows.subarray(0, Math.min(length, this.#rows.length)))
    this.#rows = resized
  }
}
