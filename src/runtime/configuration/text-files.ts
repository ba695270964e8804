import { open } from 'node:fs/promises'

/** A small text file's content, or why there is none. */
export type BoundedText =
  { readonly content: string } | { readonly reason: 'absent' | 'unreadable'; readonly problem: string }

/** Reads a file that should be small UTF-8 text. A problem with it is returned, not thrown. */
export async function readBoundedText(path: string, maxBytes: number): Promise<BoundedText> {
  try {
    const file = await open(path, 'r')
    try {
      // One byte more than allowed. The size of the file is not asked for: it may change, and is 0 for a pipe.
      const buffer = Buffer.alloc(maxBytes + 1)
      let length = 0
      for (let count = -1; count !== 0 && length < buffer.length; length += count) {
        count = (await file.read(buffer, length, buffer.length - length, null)).bytesRead
      }
      if (length > maxBytes) return { reason: 'unreadable', problem: `it has more than ${maxBytes} bytes` }
      return { content: new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length)) }
    } finally {
      await file.close()
    }
  } catch (error) {
    return explain(error)
  }
}

function explain(error: unknown): BoundedText {
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { reason: 'absent', problem: 'there is no such file' }
    case 'EISDIR':
      return { reason: 'unreadable', problem: 'it is a directory' }
    case 'EACCES':
    case 'EPERM':
      return { reason: 'unreadable', problem: 'this user may not read it' }
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return { reason: 'unreadable', problem: 'it is not UTF-8 text' }
    default:
      return { reason: 'unreadable', problem: message }
  }
}
