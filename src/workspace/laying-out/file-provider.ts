/** How the content of one object gets into one file: fetched from the repository, or taken from the cache. */

import { createHash } from 'node:crypto'
import { DefectError, invariant, UnavailableError } from '../../base/errors.ts'
import { WORKSPACE_SMALL_FILE_MAX_BYTES } from '../limits.ts'
import { hashBeside, type FileHash } from './hash-beside.ts'
import type { ObjectSource, PieceSink, SourceObject } from '../ports.ts'
import { openStreamedFile, writeNewFile } from './write-files.ts'

export interface FileRequest {
  readonly object: SourceObject
  /** The path of the new file; its directory exists. */
  readonly path: string
  /** Whether to return the MD5 of the content, because the object's checksum is not one. */
  readonly wantsMd5: boolean
  readonly signal: AbortSignal
}

export interface ProvidedFile {
  /** In hexadecimal; set if `wantsMd5`. */
  readonly md5?: string
  /** It came from the cache and need not be added to it. */
  readonly isCached?: boolean
}

export interface FileProvider {
  /** Makes a new regular file with exactly the object's bytes. If it fails, a part of the file may be left. */
  provide(request: FileRequest): Promise<ProvidedFile>
  /** The files that come from the source, as far as that goes; see `ObjectSource.fill`. Optional. */
  readonly fill?: ObjectSource['fill']
  /** Whether `provide` knows a nearer place for it. */
  readonly isNear?: (object: SourceObject) => boolean
}

/** Fetches every object from the source that listed it. */
export function fetchFrom(source: ObjectSource): FileProvider {
  return {
    ...(source.fill && { fill: source.fill.bind(source) }),
    provide: (request) =>
      request.object.sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES
        ? fetchSmall(source, request)
        : fetchLarge(source, request),
  }
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

/** Hashing takes longer than fetching, so another thread hashes what is written already. */
async function fetchLarge(source: ObjectSource, request: FileRequest): Promise<ProvidedFile> {
  const { object, path, wantsMd5 } = request
  const file = await openStreamedFile(path)
  let hash: FileHash | undefined
  const digest = async (): Promise<string> => {
    await file.finish()
    invariant(hash !== undefined, 'there is a sink')
    return hash.digest(object.sizeBytes)
  }
  try {
    await transfer(source, request, () => {
      hash?.drop()
      // A stream verifies its content itself.
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

/** Passes the pieces on, and fails if they have more bytes than the listing said, which could fill the disk, or fewer. */
async function transfer(source: ObjectSource, request: FileRequest, open: () => PieceSink): Promise<void> {
  const { object, signal } = request
  let seenBytes = 0
  const openMetered = (): PieceSink => {
    seenBytes = 0
    const write = open()
    const metered = (piece: Uint8Array): Promise<void> | undefined => {
      seenBytes += piece.length
      if (seenBytes > object.sizeBytes) throw wrongSize(object, `more than that arrived`)
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
