/** The port of the server: how many connections and how long they may take; how they end is in `base/http-connections.ts`. */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

import { HttpConnections } from '../../../base/http-connections.ts'
import { once } from '../../../base/once.ts'
import {
  EMBEDDED_ARRIVAL_LOOK_MS,
  EMBEDDED_CONNECTIONS_MAX,
  EMBEDDED_HEADER_MAX_BYTES,
  EMBEDDED_RESERVED_FILES,
  EMBEDDED_RETRY_AFTER_SECONDS,
  EMBEDDED_SURPLUS_CONNECTIONS_MAX,
  EMBEDDED_SURPLUS_MS,
} from '../../limits.ts'

interface HttpDoorOptions {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  readonly idleMs: number
  readonly headersMs: number
  readonly connections: number
}

export interface HttpDoor {
  readonly server: Server
  /** Resolves when the last connection is closed; `onDeadline` is called before the late ones are cut. May be called twice. */
  close(deadlineMs: number, onDeadline: () => void): Promise<void>
}

type Exchange = readonly [IncomingMessage, ServerResponse]

export function createHttpDoor(options: HttpDoorOptions): HttpDoor {
  const server = createServer({
    maxHeaderSize: EMBEDDED_HEADER_MAX_BYTES,
    headersTimeout: options.headersMs,
    // An object may take any time, as long as it comes in; JSON bodies have their own limit.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(EMBEDDED_ARRIVAL_LOOK_MS, options.headersMs),
    keepAliveTimeout: options.idleMs,
  })
  server.timeout = options.idleMs
  const connections = new HttpConnections(server)
  const isSurplus = limitConnections(server, options.connections)
  server.on('request', (request, response) => {
    const { isClosing } = connections
    if (isClosing || isSurplus(request.socket))
      refuse(response, isClosing ? 'the server is closing' : 'too many connections')
    else options.handle(request, response)
  })
  cutSilentConnections(server)
  return {
    server,
    close: once(async (deadlineMs, onDeadline) => {
      const late = setTimeout(onDeadline, deadlineMs)
      await connections.close({ graceMs: 0, deadlineMs })
      clearTimeout(late)
    }),
  }
}

/** One connection and one file of the data for each request, and some files for everything else. */
export function connectionLimit(openFilesMax: number | undefined = readOpenFilesMax()): number {
  if (openFilesMax === undefined) return EMBEDDED_CONNECTIONS_MAX
  const possible = Math.floor((openFilesMax - EMBEDDED_RESERVED_FILES - EMBEDDED_SURPLUS_CONNECTIONS_MAX) / 2)
  return Math.max(1, Math.min(EMBEDDED_CONNECTIONS_MAX, possible))
}

/** Elsewhere than on Linux nothing tells it without a child process. */
function readOpenFilesMax(): number | undefined {
  try {
    const [, soft = ''] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === '' ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/** Tells the connections beyond the limit: they get one answer, so that their clients know why and when to come back. */
function limitConnections(server: Server, max: number): (socket: Socket) => boolean {
  const served = new Set<Socket>()
  const surplus = new WeakSet<Socket>()
  server.maxConnections = max + EMBEDDED_SURPLUS_CONNECTIONS_MAX
  server.on('connection', (socket: Socket) => {
    if (served.size < max) {
      served.add(socket)
      socket.once('close', () => served.delete(socket))
      return
    }
    surplus.add(socket)
    const late = setTimeout(() => socket.destroy(), EMBEDDED_SURPLUS_MS)
    socket.once('close', () => clearTimeout(late))
  })
  return (socket) => surplus.has(socket)
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(503, {
    'Content-Type': 'application/json',
    'Retry-After': EMBEDDED_RETRY_AFTER_SECONDS,
    Connection: 'close',
  })
  response.end(`${JSON.stringify({ message })}\n`)
}

function cutSilentConnections(server: Server): void {
  const latest = new WeakMap<Socket, Exchange>()
  server.on('request', (request, response) => latest.set(request.socket, [request, response]))
  server.on('timeout', (socket: Socket) => {
    const [request, response] = latest.get(socket) ?? []
    // While we work on a request that arrived completely, the silence is ours and not the client's.
    const isOurs = request?.complete === true && response?.headersSent === false
    if (!isOurs) socket.destroy()
  })
}
