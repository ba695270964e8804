/**
 * How the content of one object gets into one file. Laying out knows only this: fetching from the repository is one
 * way, taking it from where it lies already would be another.
 */

import { createHash } from 'node:crypto'
import { open, writeFile } from 'node:fs/promises'
import { DefectError, UnavailableError } from '../base/errors.ts'
import { WORKSPACE_SMALL_FILE_MAX_BYTES } from '../base/limits.ts'
import type { ObjectSource, SourceObject } from './ports.ts'

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
  const hash = request.wantsMd5 ? createHash('md5') : undefined
  const body = await source.read(request.object.key, { signal: request.signal })
  const write = request.object.sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES ? writeSmall : writeLarge
  await write(
    request,
    meter(body, request, (chunk) => hash?.update(chunk)),
  )
  return hash === undefined ? {} : { md5: hash.digest('hex') }
}

/** Passes on what arrives, and insists that it is as long as was said: no more, so that no disk fills up, and no less. */
async function* meter(
  body: AsyncIterable<unknown>,
  { object, signal, onBytes }: FileRequest,
  look: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  let seenBytes = 0
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) {
      throw new DefectError(
        'workspace/text-stream',
        `fetch ${JSON.stringify(object.key)}: the stream gave text`,
      )
    }
    signal.throwIfAborted()
    seenBytes += chunk.length
    if (seenBytes > object.sizeBytes) throw wrongSize(object, `more than that arrived`)
    look(chunk)
    onBytes(chunk.length)
    yield chunk
  }
  if (seenBytes < object.sizeBytes) throw wrongSize(object, `the stream ended after ${seenBytes}`)
}

async function writeSmall({ path, object }: FileRequest, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const content = Buffer.allocUnsafe(object.sizeBytes)
  let filled = 0
  for await (const chunk of chunks) {
    content.set(chunk, filled)
    filled += chunk.length
  }
  await writeFile(path, content, { flag: 'wx' })
}

async function writeLarge({ path }: FileRequest, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx')
  try {
    for await (const chunk of chunks) await writeWhole(file, chunk)
  } finally {
    await file.close()
  }
}

/** A write may take less than it was given. */
async function writeWhole(file: Awaited<ReturnType<typeof open>>, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.length;) {
    written += (await file.write(chunk, written, chunk.length - written)).bytesWritten
  }
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
