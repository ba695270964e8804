/** Large bodies made on the way, and how much of them is held. */

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { UploadBody } from '../../../src/publication/ports.ts'

export const GENERATED_PIECE_BYTES = 64 * 1024
const WATCH_EVERY_BYTES = 8 * 1024 * 1024

export interface GeneratedBody extends UploadBody {
  /** Of the whole, computed by making it once more. */
  sha256(): string
  /** Calls back every few MiB while it is sent. */
  watched(onProgress: () => void): UploadBody
  failingAt(bytes: number): Readable
}

/** No two pieces are equal, so that a lost or doubled one shows. */
export function generatedBody(sizeBytes: number): GeneratedBody {
  function* pieces(): Generator<Buffer> {
    for (let at = 0; at < sizeBytes; at += GENERATED_PIECE_BYTES) {
      const piece = Buffer.alloc(Math.min(GENERATED_PIECE_BYTES, sizeBytes - at), at % 251)
      piece.writeUInt32BE(at / GENERATED_PIECE_BYTES)
      yield piece
    }
  }
  function stream(each: (sent: number) => void): Readable {
    function* watched(): Generator<Buffer> {
      let sent = 0
      for (const piece of pieces()) {
        each(sent)
        yield piece
        sent += piece.byteLength
      }
    }
    return Readable.from(watched(), { objectMode: false })
  }
  return {
    sizeBytes,
    open: () => stream(() => undefined),
    sha256() {
      const hash = createHash('sha256')
      for (const piece of pieces()) hash.update(piece)
      return hash.digest('hex')
    },
    watched: (onProgress) => ({
      sizeBytes,
      open: () =>
        stream((sent) => {
          if (sent % WATCH_EVERY_BYTES === 0) onProgress()
        }),
    }),
    failingAt: (bytes) =>
      stream((sent) => {
        if (sent >= bytes) throw new Error('the source broke')
      }),
  }
}

let collect: (() => void) | undefined

/** Bytes of buffers that somebody still holds: what is only waiting to be collected does not count. */
export function heldBytes(): number {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  // The first finds what is garbage; its buffers are given back on another thread, which the second waits for.
  collect()
  collect()
  return process.memoryUsage().arrayBuffers
}
