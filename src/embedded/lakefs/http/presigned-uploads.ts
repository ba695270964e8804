/**
 * What was uploaded through presigned addresses and is not linked to a path yet. Single uploads are durable at their
 * address; this class remembers their digests. Multi-part uploads end with the process: parts have to be sent again.
 */

import { createHash, randomBytes } from 'node:crypto'

import { BoundedMap } from '../../../base/bounded-map.ts'
import { EMBEDDED_PRESIGNED_UPLOADS_MAX } from '../../limits.ts'
import type { StoredBlob } from '../engine/engine.ts'
import { HttpProblem } from './answer.ts'

export interface MultipartUpload {
  readonly id: string
  readonly repository: string
  readonly physicalAddress: string
  readonly parts: Map<number, StoredBlob>
}

const BOUNDS = { max: EMBEDDED_PRESIGNED_UPLOADS_MAX, evict: 'oldest' } as const

export class PresignedUploads {
  readonly #digests = new BoundedMap<string, string>(BOUNDS)
  readonly #linked = new BoundedMap<string, true>(BOUNDS)
  readonly #multipart = new BoundedMap<string, MultipartUpload>(BOUNDS)

  /** Refuses bytes for an address that is linked to a path: they would change an object that may be committed. */
  checkNotLinked(physicalAddress: string): void {
    if (this.#linked.has(physicalAddress)) {
      throw new HttpProblem(409, 'this address is linked to a path already: ask for a new one')
    }
  }

  stored(physicalAddress: string, blob: StoredBlob): void {
    this.#digests.set(physicalAddress, blob.md5)
  }

  /** The MD5 of what was uploaded to the address; undefined when that was before the server started. */
  digestOf(physicalAddress: string): string | undefined {
    return this.#digests.get(physicalAddress)
  }

  linked(physicalAddress: string): void {
    this.#linked.set(physicalAddress, true)
  }

  open(repository: string, physicalAddress: string): MultipartUpload {
    const upload = {
      id: randomBytes(24).toString('base64url'),
      repository,
      physicalAddress,
      parts: new Map(),
    }
    this.#multipart.set(upload.id, upload)
    return upload
  }

  get(id: string, repository: string, physicalAddress: string): MultipartUpload {
    const upload = this.#multipart.get(id)
    if (upload?.repository !== repository || upload.physicalAddress !== physicalAddress) {
      throw new HttpProblem(404, 'multipart upload: there is none of this id for this address')
    }
    return upload
  }

  close(id: string): void {
    this.#multipart.delete(id)
  }
}

/** The named parts in their order; refuses what an object store refuses. */
export function chooseParts(
  upload: MultipartUpload,
  named: readonly { readonly part_number: number; readonly etag: string }[],
): readonly StoredBlob[] {
  let previous = 0
  return named.map(({ part_number: partNumber, etag }) => {
    if (partNumber <= previous) {
      throw new HttpProblem(400, 'complete multipart upload: parts must be in ascending order')
    }
    previous = partNumber
    const part = upload.parts.get(partNumber)
    if (part?.md5 !== stripQuotes(etag)) {
      throw new HttpProblem(
        400,
        `complete multipart upload: part ${String(partNumber)} was not uploaded with this etag`,
      )
    }
    return part
  })
}

export function stripQuotes(etag: string): string {
  return etag.replaceAll(/^[\s"]+|[\s"]+$/g, '')
}

/** The etag of a multi-part object: the digest of the parts' digests and their number. It is not the MD5 of the content. */
export function multipartEtag(parts: readonly StoredBlob[]): string {
  const digests = createHash('md5')
  for (const part of parts) digests.update(part.md5, 'hex')
  return `${digests.digest('hex')}-${String(parts.length)}`
}
