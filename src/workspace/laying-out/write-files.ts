/** Getting bytes into new files with as little as possible between: small ones in one go, others in large strokes. */

import { closeSync, openSync, writeSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { WORKSPACE_WRITE_BUFFER_BYTES } from '../limits.ts'
import type { PieceSink } from '../ports.ts'

/**
 * Makes a new file. Synchronous on purpose: on a local disk it takes some tens of microseconds, and handing it to
 * another thread takes longer than that, for each of its three steps.
 */
export function writeNewFile(path: string, content: Uint8Array): void {
  const file = openSync(path, 'wx')
  try {
    // A write may take less than it was given.
    for (let written = 0; written < content.length;)
      written += writeSync(file, content, written, content.length - written)
  } finally {
    closeSync(file)
  }
}

/** A new file that is written while its content arrives. */
export interface StreamedFile {
  /** A sink for one try; the file begins anew. `onWritten` hears how far the file is there, again and again. */
  restart(onWritten?: (bytes: number) => void): PieceSink
  /** Writes what is still held. Again: nothing. */
  finish(): Promise<void>
  /** To be called whatever happened. */
  close(): Promise<void>
}

/** One stroke is on its way to the disk while the next one is gathered; more than that is never held. */
export async function openStreamedFile(path: string): Promise<StreamedFile> {
  const file = await open(path, 'wx')
  let gathered: Uint8Array[] = []
  let gatheredBytes = 0
  let position = 0
  let isRestarted = false
  let tellWritten: ((bytes: number) => void) | undefined
  let writing: Promise<void> = Promise.resolve()
  /** Whoever waits for the last stroke hears of a failure; that nobody waits yet must not end the process. */
  const then = (stroke: () => Promise<void>, before: Promise<unknown> = writing): void => {
    writing = before.then(stroke)
    writing.catch(() => undefined)
  }
  const flush = (): Promise<void> => {
    const pieces = gathered
    const at = position
    position += gatheredBytes
    gathered = []
    gatheredBytes = 0
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
        // A stroke of the try before that failed is no concern of this one.
        const settled = writing.catch(() => undefined)
        then(() => file.truncate(0), settled)
      }
      isRestarted = true
      gathered = []
      gatheredBytes = 0
      position = 0
      return (piece) => {
        gathered.push(piece)
        gatheredBytes += piece.length
        return gatheredBytes < WORKSPACE_WRITE_BUFFER_BYTES ? undefined : flush()
      }
    },
    finish: async () => {
      if (gatheredBytes > 0) await flush()
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
  // Rare: a signal, or a disk that is all but full. Then piece by piece, from where it stopped.
  const rest = Buffer.concat(pieces).subarray(bytesWritten)
  for (let written = 0; written < rest.length;)
    written += (await file.write(rest, written, rest.length - written, at + bytesWritten + written))
      .bytesWritten
}
