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

export interface ObjectSource {
  /** Every object under the prefix, in byte order of the keys. */
  list(prefix: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<SourceObject>
  /** Streams one object; the stream fails if the content is not what was stored. */
  read(key: string, options?: { readonly signal?: AbortSignal }): Promise<Readable>
  /**
   * Downloads the whole object with less work than a stream. `open` makes a sink for each try. Optional.
   */
  download?(key: string, open: () => PieceSink, options: DownloadOptions): Promise<void>
}
