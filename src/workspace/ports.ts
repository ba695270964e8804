/** What a workspace needs of wherever its files come from. The caller owns this; publication meets it over a repository. */

import type { Readable } from 'node:stream'

/** One object of the input commit, by its full key in the repository. */
export interface SourceObject {
  readonly key: string
  /** Opaque; equal checksums mean equal content. */
  readonly checksum: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  /** Where the repository keeps the bytes, where it tells: one address, one content. */
  readonly address?: string
}

/** Takes the bytes of one try of a download, piece by piece. A promise holds the next piece back until it resolves. */
export type PieceSink = ((piece: Uint8Array) => Promise<void> | undefined) & {
  /** Hex MD5 of all it was given; asked for at the end, where the source was told that the sink knows. */
  readonly md5?: () => Promise<string>
}

export interface DownloadOptions {
  readonly sizeBytes: number
  /** `by-sink`: the source holds the MD5 that its sink gives against the checksum, and computes none. */
  readonly verify?: 'by-sink'
  readonly signal?: AbortSignal
}

export interface ObjectSource {
  /** Every object under the prefix, in byte order of the keys. */
  list(prefix: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<SourceObject>
  /** Streams one object; the stream fails when what arrives is not what was stored. */
  read(key: string, options?: { readonly signal?: AbortSignal }): Promise<Readable>
  /**
   * The whole object, handed on as it arrives, with less work than a stream takes. `open` is asked for a new sink for
   * each try. Left out by a source that has no such way.
   */
  download?(key: string, open: () => PieceSink, options: DownloadOptions): Promise<void>
}
