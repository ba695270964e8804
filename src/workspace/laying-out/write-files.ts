/** Writes new files: small ones in one step, others in large blocks. */

import { closeSync, openSync, writeSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { WORKSPACE_WRITE_BUFFER_BYTES } from '../limits.ts'
import type { PieceSink } from '../ports.ts'

/**
 * Makes a new file. Synchronous on purpose: on a local disk it takes some tens of microseconds, and passing each of its
 * three steps to another thread takes longer.
 */
export function writeNewFile(path: string, content: Uint8Array): void {
  const file = openSync(path, 'wx')
  try {
    // A write may be partial.
    for (let written = 0; written < content.length;)
      written += writeSync(file, content, written, content.length - written)
  } finally {
    closeSync(file)
  }
}

/** A new file that is written as its content arrives. */
export interface StreamedFile {
  /** A sink for one try, which starts at the beginning of the file. `onWritten` gets the number of bytes written so far. */
  restart(onWritten?: (bytes: number) => void): PieceSink
  /** Writes what is still in memory. May be called twice. */
  finish(): Promise<void>
  /** To be called in any case. */
  close(): Promise<void>
}

/** At most two blocks are in memory: one being written and one being collected. */
export async function openStreamedFile(path: string): Promise<StreamedFile> {
  const file = await open(path, 'wx')
  let collected: Uint8Array[] = []
  let collectedBytes = 0
  let position = 0
  let isRestarted = false
  let tellWritten: ((bytes: number) => void) | undefined
  let writing: Promise<void> = Promise.resolve()
  /** A failure is reported by `finish`; until then it must not be an unhandled rejection. */
  const then = (write: () => Promise<void>, before: Promise<unknown> = writing): void => {
    writing = before.then(write)
    writing.catch(() => undefined)
  }
  const flush = (): Promise<void> => {
    const pieces = collected
    const at = position
    position += collectedBytes
    collected = []
    collectedBytes = 0
    const before = writing
    const tell = tellWritten
    const reached = position
    then(async () => {
      await writeWhole(file, pieces, at)
      tell?.(reached)
    })
    return before
  }
  return {
    restart: (onWritten) => {
      tellWritten = onWritten
      if (isRestarted) {
        // A failed write of the try before does not concern this one.
        const settled = writing.catch(() => undefined)
        then(() => file.truncate(0), settled)
      }
      isRestarted = true
      collected = []
      collectedBytes = 0
      position = 0
      return (piece) => {
        collected.push(piece)
        collectedBytes += piece.length
        return collectedBytes < WORKSPACE_WRITE_BUFFER_BYTES ? undefined : flush()
      }
    },
    finish: async () => {
      if (collectedBytes > 0) await flush()
      await writing
    },
    close: async () => {
      await writing.catch(() => undefined)
      await file.close()
    },
  }
}

async function writeWhole(file: FileHandle, pieces: readonly Uint8Array[], at: number): Promise<void> {
  const wanted = pieces.reduce((sum, { length }) => sum + length, 0)
  const { bytesWritten } = await file.writev(pieces, at)
  if (bytesWritten === wanted) return
  // Rare: a signal, or a disk that is almost full. The rest is written piece by piece.
  const rest = Buffer.concat(pieces).subarray(bytesWritten)
  for (let written = 0; written < rest.length;)
    written += (await file.write(rest, written, rest.length - written, at + bytesWritten + written))
      .bytesWritten
}
