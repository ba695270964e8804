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
}

export interface ObjectSource {
  /** Every object under the prefix, in byte order of the keys. */
  list(prefix: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<SourceObject>
  /** Streams one object; the stream fails when what arrives is not what was stored. */
  read(key: string, options?: { readonly signal?: AbortSignal }): Promise<Readable>
}
