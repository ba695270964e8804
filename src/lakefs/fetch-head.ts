/** The head of a response as a server sends it for a whole object. Anything unusual is an error; see `fetch-lane.ts`. */

import { unquoted } from './object-store.ts'

export interface FetchHead {
  /** How long the head itself is. */
  readonly lengthBytes: number
  readonly sizeBytes: number
  readonly checksum: string
  /** The server closes the connection after this response. */
  readonly isLast: boolean
}

const END = '\r\n\r\n'

/** `undefined`: its end has not arrived. */
export function readHead(bytes: Buffer): FetchHead | undefined {
  const end = bytes.indexOf(END)
  if (end === -1) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  if (!/^HTTP\/1\.1 200\b/.test(first)) throw new Error('the object was not sent')
  let sizeBytes: number | undefined
  let checksum: string | undefined
  let isLast = false
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) throw new Error('a header without a name')
    const value = line.slice(colon + 1).trim()
    switch (line.slice(0, colon).toLowerCase()) {
      case 'content-length':
        if (sizeBytes !== undefined || !/^\d{1,15}$/.test(value)) throw new Error('the length is unclear')
        sizeBytes = Number(value)
        break
      case 'etag':
        checksum = unquoted(value)
        break
      case 'connection':
        isLast = value.toLowerCase() !== 'keep-alive'
        break
      case 'transfer-encoding':
      case 'content-encoding':
      case 'content-range':
        throw new Error('these are not the bytes as they are stored')
      default:
        break
    }
  }
  if (sizeBytes === undefined || checksum === undefined)
    throw new Error('the length or the checksum is missing')
  return { lengthBytes: end + END.length, sizeBytes, checksum, isLast }
}
