/** Where the files of a workspace come from. Owned by this room; publication implements it over a repository. */

import type { Readable } from 'node:stream'

/** One object of the input commit, by its full key in the repository. */
export interface SourceObject {
  readonly key: string
  /** Opaque; equal checksums mean equal content. */
  readonly checksum: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  /** Where the repository stores the bytes, if it says so: one address, one content. */
  readonly address?: string
}

/** Gets the bytes of one try of a download, piece by piece. The next piece comes when a returned promise has resolved. */
export type PieceSink = ((piece: Uint8Array) => Promise<void> | undefined) & {
  /** The MD5 of all pieces, in hexadecimal; called at the end if `verify` is `by-sink`. */
  readonly md5?: () => Promise<string>
}

export interface DownloadOptions {
  readonly sizeBytes: number
  /** `by-sink`: the source compares the MD5 of its sink with the checksum, and computes none. */
  readonly verify?: 'by-sink'
  readonly signal?: AbortSignal
}

/** An object that is to become a file. */
export interface WantedFile {
  /** Unlike any other of the same call. */
  readonly id: number
  readonly key: string
  /** Absolute. Nothing is there, and its directory is. */
  readonly path: string
  readonly sizeBytes: number
  readonly checksum: string
  readonly wantsMd5: boolean
}

/** A new file, and what the file system says about it. */
export interface FilledFile {
  readonly id: number
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
  /** In hexadecimal; set if it was wanted. */
  readonly md5: string | undefined
}

export interface FillOptions {
  /** How many files and bytes there are. */
  readonly files: number
  readonly bytes: number
  /** How many are fetched in parallel at most. */
  readonly inFlight?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ObjectSource {
  /** Every object under the prefix, in byte order of the keys. */
  list(prefix: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<SourceObject>
  /** Streams one object; the stream fails if the content is not what was stored. */
  read(key: string, options?: { readonly signal?: AbortSignal }): Promise<Readable>
  /**
   * Downloads the whole object with less work than a stream. `open` makes a sink for each try. Optional.
   */
  download?(key: string, open: () => PieceSink, options: DownloadOptions): Promise<void>
  /**
   * Makes new files of many whole objects, verified like any download, as far as that goes without any trouble. Of an object for
   * which `onFile` was not called nothing is left, and it is to be downloaded. When this has ended, nothing is written any
   * more; only an abort is an error. Optional.
   */
  fill?(files: Iterable<WantedFile>, onFile: (file: FilledFile) => void, options: FillOptions): Promise<void>
}
