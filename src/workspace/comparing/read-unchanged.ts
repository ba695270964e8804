/** Reads a file, and fails if it changed since its facts were read, or while it is read. */

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { WORKSPACE_HASH_BUFFER_BYTES, WORKSPACE_SMALL_FILE_MAX_BYTES } from '../limits.ts'
import { systemCode } from '../disk-errors.ts'
import { factsOf, sameFacts } from './file-facts.ts'
import type { FileFacts } from '../../tasks/tree-entry.ts'
import { stillChanging } from './walk-tree.ts'

export interface KnownFile {
  /** Absolute. */
  readonly localPath: string
  /** For messages: relative to the workspace. */
  readonly path: string
  readonly facts: FileFacts
}

/** The MD5 of the content, in hexadecimal. */
export async function hashUnchanged(file: KnownFile, signal?: AbortSignal): Promise<string> {
  const hash = createHash('md5')
  if (file.facts.sizeBytes <= WORKSPACE_SMALL_FILE_MAX_BYTES) {
    // Many small files, read synchronously, would otherwise block this thread.
    await setImmediate(undefined, signal === undefined ? {} : { signal })
    return hash.update(readUnchanged(file)).digest('hex')
  }
  for await (const chunk of readChunks(file, signal)) hash.update(chunk)
  return hash.digest('hex')
}

/** A stream of the content, which fails with `workspace/still-changing` if the file changed. */
export function openUnchanged(file: KnownFile): Readable {
  return Readable.from(readChunks(file), { objectMode: false })
}

/** The whole content of a small file: on a local disk that takes less time than passing it to another thread. */
export function readUnchanged(known: KnownFile): Uint8Array {
  const { localPath, path, facts } = known
  const file = openKnownSync(localPath, path)
  try {
    assertUnchanged(fstatSync(file, { bigint: true }), known)
    const content = Buffer.allocUnsafe(facts.sizeBytes)
    for (let position = 0; position < content.length;) {
      const read = readSync(file, content, position, content.length - position, position)
      if (read === 0) throw stillChanging(path, 'became shorter while it was read')
      position += read
    }
    assertUnchanged(fstatSync(file, { bigint: true }), known)
    return content
  } finally {
    closeSync(file)
  }
}

function openKnownSync(localPath: string, path: string): number {
  try {
    return openSync(localPath, OPEN_FLAGS)
  } catch (error) {
    throw asChanged(error, path)
  }
}

async function* readChunks(file: KnownFile, signal?: AbortSignal): AsyncGenerator<Buffer, void> {
  const handle = await openKnown(file)
  try {
    assertUnchanged(await handle.stat({ bigint: true }), file)
    const { sizeBytes } = file.facts
    let ahead = sizeBytes > 0 ? readAt(handle, 0, sizeBytes) : undefined
    try {
      for (let position = 0; ahead !== undefined;) {
        signal?.throwIfAborted()
        const { bytesRead, buffer } = await ahead
        ahead = undefined
        if (bytesRead === 0) throw stillChanging(file.path, 'became shorter while it was read')
        position += bytesRead
        // Before the last piece is returned, so that a reader never has all of a file that changed.
        if (position === sizeBytes) assertUnchanged(await handle.stat({ bigint: true }), file)
        // Read ahead while the reader works on this piece.
        else ahead = readAt(handle, position, sizeBytes)
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await ahead?.catch(() => undefined)
    }
  } finally {
    await handle.close()
  }
}

interface ReadPiece {
  readonly bytesRead: number
  readonly buffer: Buffer
}

function readAt(handle: FileHandle, position: number, sizeBytes: number): Promise<ReadPiece> {
  const wanted = Math.min(WORKSPACE_HASH_BUFFER_BYTES, sizeBytes - position)
  // A new buffer each time: the reader may still use the one before.
  const reading = handle.read(Buffer.allocUnsafe(wanted), 0, wanted, position)
  // After an early end nobody looks at a failure; it must not be an unhandled rejection.
  reading.catch(() => undefined)
  return reading
}

/** No link is followed, and no pipe is waited for. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function openKnown({ localPath, path }: KnownFile): Promise<FileHandle> {
  try {
    return await open(localPath, OPEN_FLAGS)
  } catch (error) {
    throw asChanged(error, path)
  }
}

function asChanged(error: unknown, path: string): unknown {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP'
    ? stillChanging(path, 'was removed or replaced after it was compared')
    : error
}

function assertUnchanged(now: BigIntStats, { path, facts }: KnownFile): void {
  if (!now.isFile() || !sameFacts(factsOf(now), facts))
    throw stillChanging(path, 'was changed after it was compared')
}
