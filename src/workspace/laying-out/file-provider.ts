/**
 * How the content of one object gets into one file. Laying out knows only this: fetching from the repository is one
 * way, taking it from where it lies already is another.
 */

import { createHash } from 'node:crypto'
import { DefectError, invariant, UnavailableError } from '../../base/errors.ts'
import { WORKSPACE_SMALL_FILE_MAX_BYTES } from '../limits.ts'
import { hashBeside, type FileHash } from './hash-beside.ts'
import type { ObjectSource, PieceSink, SourceObject } from '../ports.ts'
import { openStreamedFile, writeNewFile } from './write-files.ts'

export interface FileRequest {
  readonly object: SourceObject
  /** Where the file shall be; its directory is there, the file is not. */
  readonly path: string
  /** Whether the MD5 of the content is asked for, because the object's checksum is none. */
  readonly wantsMd5: boolean
  readonly signal: AbortSignal
  /** Told as bytes arrive. */
  readonly onBytes: (count: number) => void
}

export interface ProvidedFile {
  /** In hexadecimal; there when it was asked for. */
  readonly md5?: string
  /** It lay here already, and does not have to be kept for the next time. */
  readonly isCached?: boolean
}

export interface FileProvider {
  /**
   * Makes a new regular file that nothing else shares content with, holding exactly the object's bytes; or fails, and
   * may then leave a part of it behind.
   */
  provide(request: FileRequest): Promise<ProvidedFile>
}

/** Fetches every object from where the listing came from. */
export function fetchFrom(source: ObjectSource): FileProvider {
  return { provide: (request) => fetchFile(source, request) }
}

async function fetchFile(source: ObjectSource, request: FileRequest): Promise<ProvidedFile> {
  return request.object.sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES
    ? fetchSmall(source, request)
    : fetchLarge(source, request)
}

async function fetchSmall(source: ObjectSource, request: FileRequest): Promise<ProvidedFile> {
  const { object, path, wantsMd5 } = request
  let pieces: Uint8Array[] = []
  await transfer(source, request, () => {
    pieces = []
    return (piece) => {
      pieces.push(piece)
      return undefined
    }
  })
  const [only] = pieces
  const content = only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces, object.sizeBytes)
  writeNewFile(path, content)
  return wantsMd5 ? { md5: createHash('md5').update(content).digest('hex') } : {}
}

/** Hashing takes longer than fetching: it goes on beside, from the file as far as it is there. */
async function fetchLarge(source: ObjectSource, request: FileRequest): Promise<ProvidedFile> {
  const { object, path, wantsMd5 } = request
  const file = await openStreamedFile(path)
  let hash: FileHash | undefined
  const digest = async (): Promise<string> => {
    await file.finish()
    invariant(hash !== undefined, 'there is a sink by now')
    return hash.digest(object.sizeBytes)
  }
  try {
    await transfer(source, request, () => {
      hash?.drop()
      // A stream has verified itself.
      if (source.download === undefined && !wantsMd5) return file.restart()
      const hashing = hashBeside(path)
      hash = hashing
      return Object.assign(
        file.restart((bytes) => hashing.reach(bytes)),
        { md5: digest },
      )
    })
    await file.finish()
    return wantsMd5 ? { md5: await digest() } : {}
  } finally {
    hash?.drop()
    await file.close()
  }
}

/** Hands on what arrives, and insists that it is as long as was said: no more, so that no disk fills up, and no less. */
async function transfer(source: ObjectSource, request: FileRequest, open: () => PieceSink): Promise<void> {
  const { object, signal, onBytes } = request
  let seenBytes = 0
  const openMetered = (): PieceSink => {
    // What an earlier try brought does not count as progress twice.
    onBytes(-seenBytes)
    seenBytes = 0
    const write = open()
    const metered = (piece: Uint8Array): Promise<void> | undefined => {
      seenBytes += piece.length
      if (seenBytes > object.sizeBytes) throw wrongSize(object, `more than that arrived`)
      onBytes(piece.length)
      return write(piece)
    }
    return write.md5 === undefined ? metered : Object.assign(metered, { md5: write.md5 })
  }
  if (source.download !== undefined) {
    const verify = object.sizeBytes > WORKSPACE_SMALL_FILE_MAX_BYTES ? { verify: 'by-sink' as const } : {}
    await source.download(object.key, openMetered, { sizeBytes: object.sizeBytes, signal, ...verify })
  } else {
    const body: AsyncIterable<unknown> = await source.read(object.key, { signal })
    const write = openMetered()
    for await (const piece of body) {
      if (!(piece instanceof Uint8Array)) {
        const doing = `fetch ${JSON.stringify(object.key)}`
        throw new DefectError('workspace/text-stream', `${doing}: the stream gave text`)
      }
      signal.throwIfAborted()
      await write(piece)
    }
  }
  if (seenBytes < object.sizeBytes) throw wrongSize(object, `the stream ended after ${seenBytes}`)
}

function wrongSize(object: SourceObject, what: string): UnavailableError {
  return new UnavailableError(
    'workspace/wrong-size',
    `fetch ${JSON.stringify(object.key)}: its ${object.sizeBytes} bytes were announced, ${what}`,
    {
      details: { key: object.key, sizeBytes: object.sizeBytes },
      next: 'Try again; when it happens again, compare the object with its listing in the repository.',
    },
  )
}
