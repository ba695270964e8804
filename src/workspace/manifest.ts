/**
 * The objects that a workspace was laid out from, in columns: a hundred thousand files take a dozen megabytes. Sorted by the
 * bytes of the paths, as the repository lists them.
 */

import { invariant } from '../base/errors.ts'
import type { FileFacts } from '../tasks/tree-entry.ts'
import { KeyTable } from './key-table.ts'
import type { SourceObject } from './ports.ts'

/** One file of the input. */
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
  /** Keys below the prefix that the globs leave out, relative to the prefix. */
  readonly outside: KeyTable
  /** The index of a path, or -1. */
  find(path: string): number
  path(index: number): string
  entry(index: number): ManifestEntry
  entries(): IterableIterator<ManifestEntry>
  /** What the file system said about the file after it was laid out. */
  facts(index: number): FileFacts
  /** The MD5 of the content, in hexadecimal, if the checksum is what it looks like. */
  md5(index: number): string | undefined
  /** The MD5 of the content that was laid out, which the checksum need not be. */
  laidOutMd5(index: number): string | undefined
  sizeBytes(index: number): number
  /** Whether the content is in the content cache. */
  isCached(index: number): boolean
}

/** Written only while planning and laying out. */
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
  /** For objects whose checksum is not an MD5: computed when their files were written. */
  readonly #hashes = new Map<number, Buffer>()
  /** … and for those whose checksum only looks like one, if they were hashed. */
  readonly #unlike = new Map<number, Buffer>()
  /** Of the few objects whose checksum does not identify their content. */
  readonly #addresses = new Map<number, string>()
  #cached = new Uint8Array(0)

  constructor(prefix: string, outside = new KeyTable()) {
    this.prefix = prefix
    this.outside = outside
  }

  get count(): number {
    return this.#paths.count
  }

  /** `false` if the object does not come after the last one in byte order. */
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

  /** To be called after the last object. */
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
    const checksum = this.#checksums.md5At(index)
    if (checksum === md5) return
    const hashes = checksum === undefined ? this.#hashes : this.#unlike
    hashes.set(index, Buffer.from(md5, 'hex'))
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

  /** Whether a file had this inode when it was laid out. */
  hasInode(inode: bigint): boolean {
    return this.#inodes.includes(inode)
  }

  /** The recorded MD5, for an object whose checksum is not one. */
  ownMd5(index: number): string | undefined {
    return this.#hashes.get(index)?.toString('hex')
  }

  md5(index: number): string | undefined {
    return this.ownMd5(index) ?? this.#checksums.md5At(index)
  }

  laidOutMd5(index: number): string | undefined {
    return this.#unlike.get(index)?.toString('hex') ?? this.md5(index)
  }
}

const MD5_BYTES = 16
const MD5_FORM = /^[0-9a-f]{32}$/

/** Whether a checksum has the form of an MD5. On most stores it is one then; see `docs/concepts/workspace.md`. */
export function looksLikeMd5(checksum: string): boolean {
  return MD5_FORM.test(checksum)
}

function metadataKey(metadata: Readonly<Record<string, string>>): string {
  const keys = Object.keys(metadata)
  return keys.length === 0 ? '' : JSON.stringify(keys.sort().map((key) => [key, metadata[key]]))
}

/** Checksums in the form of an MD5 as 16 bytes, others as strings. */
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

/** Values that many rows share, such as content types: each is stored once, with a number for each row. */
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
