/** Objects of a commit in memory, listed in byte order as a repository lists them. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ObjectSource, SourceObject } from '../../../src/workspace/ports.ts'

export interface StoredObject {
  readonly content: string | Uint8Array
  readonly contentType?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** The MD5 of the content unless given. */
  readonly checksum?: string
  readonly address?: string
  /** What the listing says, if wrong. */
  readonly sizeBytes?: number
}

export interface MemorySource extends ObjectSource {
  readonly lists: readonly string[]
  readonly reads: readonly string[]
}

export function md5Of(content: string | Uint8Array): string {
  return createHash('md5').update(content).digest('hex')
}

export function memorySource(
  objects: Readonly<Record<string, string | Uint8Array | StoredObject>>,
): MemorySource {
  const stored = new Map(
    Object.entries(objects).map(([key, value]) => [
      key,
      typeof value === 'string' || value instanceof Uint8Array ? { content: value } : value,
    ]),
  )
  const lists: string[] = []
  const reads: string[] = []
  return {
    lists,
    reads,
    // eslint-disable-next-line @typescript-eslint/require-await -- the port is asynchronous
    async *list(prefix) {
      lists.push(prefix)
      const keys = [...stored.keys()].filter((key) => key.startsWith(prefix))
      for (const key of keys.sort(compareBytes)) yield describe(key, stored.get(key)!)
    },
    read(key) {
      reads.push(key)
      const { content } = stored.get(key)!
      return Promise.resolve(
        Readable.from(content.length === 0 ? [] : [Buffer.from(content)], { objectMode: false }),
      )
    },
  }
}

export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function describe(key: string, object: StoredObject): SourceObject {
  return {
    key,
    checksum: object.checksum ?? md5Of(object.content),
    sizeBytes: object.sizeBytes ?? Buffer.byteLength(object.content),
    contentType: object.contentType ?? 'application/octet-stream',
    metadata: object.metadata ?? {},
    ...(object.address === undefined ? {} : { address: object.address }),
  }
}
