/**
 * One connection of a thread that downloads whole objects into new files, one after the other. It takes the one answer that is
 * expected, and gives everything else up: the object is then downloaded the ordinary way, which knows what a failure means. A file
 * that is given up is removed.
 */

import { createHash, type Hash } from 'node:crypto'
import { closeSync, lstatSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { readHead, type FetchHead } from './fetch-head.ts'
import { LAKEFS_FETCH_BUFFER_BYTES, LAKEFS_FETCH_HEAD_MAX_BYTES } from './limits.ts'

/** Where the objects are. */
export interface FetchServer {
  readonly isSecure: boolean
  readonly host: string
  readonly port: number
  /** What precedes the escaped path of an object in the first line of a request. */
  readonly before: string
  /** What follows it: the rest of the head. */
  readonly after: string
  /** The longest silence. */
  readonly idleMs: number
}

export interface FetchFile {
  readonly id: number
  readonly path: string
  /** Absolute; nothing is there yet. */
  readonly file: string
  readonly sizeBytes: number
  readonly checksum: string
  /** The checksum is the MD5 of the bytes. */
  readonly isMd5: boolean
  readonly wantsMd5: boolean
}

export interface FetchedFile {
  readonly id: number
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
  readonly md5: string | undefined
  readonly durationMs: number
}

interface Fetching {
  readonly wanted: FetchFile
  readonly beganAtMs: number
  readonly hash: Hash | undefined
  head: FetchHead | undefined
  file: number | undefined
  /** The file was made here. */
  isMade: boolean
  arrivedBytes: number
}

export interface FetchLaneOptions {
  readonly server: FetchServer
  readonly next: () => FetchFile | undefined
  readonly onFetched: (file: FetchedFile) => void
  /** Nothing of it is left. */
  readonly onGivenUp: (file: FetchFile) => void
}

export class FetchLane {
  readonly #options: FetchLaneOptions
  readonly #buffer = Buffer.allocUnsafeSlow(LAKEFS_FETCH_BUFFER_BYTES)
  #socket: Socket | undefined
  #now: Fetching | undefined
  /** The beginning of a head. */
  #rest: Buffer | undefined
  #isEnded = false

  constructor(options: FetchLaneOptions) {
    this.#options = options
  }

  /** Begins with the next file, if there is one and none is under way. */
  start(): void {
    if (this.#now !== undefined || this.#isEnded) return
    const wanted = this.#options.next()
    if (wanted === undefined) return
    const isHashed = wanted.isMd5 || wanted.wantsMd5
    this.#now = {
      wanted,
      beganAtMs: performance.now(),
      hash: isHashed ? createHash('md5') : undefined,
      head: undefined,
      file: undefined,
      isMade: false,
      arrivedBytes: 0,
    }
    const { before, after } = this.#options.server
    this.#socket ??= this.#connect()
    this.#socket.write(before + encodeURIComponent(wanted.path) + after, 'latin1')
  }

  /** For good; nothing is under way. */
  end(): void {
    this.#isEnded = true
    this.#disconnect()
  }

  #disconnect(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #connect(): Socket {
    const { host, port, isSecure, idleMs } = this.#options.server
    const take = (bytes: number, buffer: Uint8Array): boolean => {
      this.#take(socket, Buffer.from(buffer.buffer, buffer.byteOffset, bytes))
      return true
    }
    const socket: Socket = isSecure
      ? connectSecurely({ host, port, ...(isIP(host) === 0 && { servername: host }) })
      : connect({ host, port, noDelay: true, onread: { buffer: this.#buffer, callback: take } })
    if (isSecure) socket.on('data', (piece: Buffer) => take(piece.length, piece))
    const onBroken = (): void => this.#giveUp(socket)
    socket.setTimeout(idleMs, onBroken)
    for (const event of ['end', 'error', 'close']) socket.on(event, onBroken)
    return socket
  }

  #take(socket: Socket, bytes: Buffer): void {
    if (socket !== this.#socket) return
    const now = this.#now
    try {
      // Nothing was asked for.
      if (now === undefined) this.#giveUp(socket)
      else if (now.head === undefined) this.#takeHead(now, bytes)
      else this.#takeBody(now, bytes)
    } catch {
      // A disk that is full, a file that is there: the ordinary way finds the same, and says it.
      this.#giveUp(socket)
    }
  }

  #takeHead(now: Fetching, bytes: Buffer): void {
    const whole = this.#rest === undefined ? bytes : Buffer.concat([this.#rest, bytes])
    const head = readHead(whole)
    if (head === undefined) {
      if (whole.length > LAKEFS_FETCH_HEAD_MAX_BYTES) throw new Error('the head is too long')
      this.#rest = Buffer.from(whole)
      return
    }
    this.#rest = undefined
    const { wanted } = now
    if (head.sizeBytes !== wanted.sizeBytes || head.checksum !== wanted.checksum)
      throw new Error('not the object that was listed')
    now.head = head
    now.file = openSync(wanted.file, 'wx')
    now.isMade = true
    this.#takeBody(now, whole.subarray(head.lengthBytes))
  }

  #takeBody(now: Fetching, bytes: Buffer): void {
    const { wanted, hash, file = -1 } = now
    now.arrivedBytes += bytes.length
    if (now.arrivedBytes > wanted.sizeBytes) throw new Error('more than the object')
    hash?.update(bytes)
    // A write may be partial.
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
    if (now.arrivedBytes === wanted.sizeBytes) this.#finish(now)
  }

  #finish(now: Fetching): void {
    const { wanted, hash, file = -1, head } = now
    const md5 = hash?.digest('hex')
    if (wanted.isMd5 && md5 !== wanted.checksum) throw new Error('other bytes than were stored')
    now.file = undefined
    closeSync(file)
    const { mtimeNs, ctimeNs, ino: inode } = lstatSync(wanted.file, { bigint: true })
    this.#now = undefined
    if (head?.isLast === true) this.#disconnect()
    const durationMs = performance.now() - now.beganAtMs
    const { id, sizeBytes } = wanted
    const told = wanted.wantsMd5 ? md5 : undefined
    this.#options.onFetched({ id, sizeBytes, mtimeNs, ctimeNs, inode, md5: told, durationMs })
    this.start()
  }

  /** The connection is not used again. */
  #giveUp(socket: Socket): void {
    if (socket !== this.#socket) return
    this.#disconnect()
    this.#rest = undefined
    const now = this.#now
    this.#now = undefined
    if (now === undefined) return
    removeMade(now)
    this.#options.onGivenUp(now.wanted)
  }
}

function removeMade({ wanted, file, isMade }: Fetching): void {
  try {
    if (file !== undefined) closeSync(file)
    if (isMade) unlinkSync(wanted.file)
  } catch {
    // The ordinary way finds the file there, and fails.
  }
}
