/**
 * The connections of an HTTP server, and how they end.
 *
 * - HC-1 Closing begins no request: one that still arrives is marked by `isClosing`, to be refused, and its connection is closed.
 * - HC-2 What runs ends, with the last response of its connection. What has not ended at the deadline is cut.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { systemClock, type Clock } from './clock.ts'

export interface HttpConnection {
  /** Requests that are not answered completely. */
  running: number
  /** When it began to have none. */
  idleSinceMs: number
  /** With TLS two: the one that was accepted, and the one that is read from it. */
  readonly sockets: Set<Socket>
  /** Called when it is gone. */
  onClose: (() => void) | undefined
}

export interface HttpConnectionsOptions {
  /** Called with each new connection, which is counted already. */
  readonly accept?: (connection: HttpConnection) => void
  readonly clock?: Clock
}

export interface ClosingTimes {
  /** How long connections without a request are kept, for requests that are on their way. */
  readonly graceMs: number
  /** How long running requests may take, from the beginning. */
  readonly deadlineMs: number
}

export class HttpConnections {
  readonly #server: Server
  readonly #clock: Clock
  readonly #open = new Map<string, HttpConnection>()
  readonly #responses = new Set<ServerResponse>()
  #isClosing = false
  /** Set once connections without a request are not kept any more. */
  #isDraining = false

  /** Has to be made before the server listens. */
  constructor(server: Server, options: HttpConnectionsOptions = {}) {
    const { accept = () => undefined, clock = systemClock } = options
    this.#server = server
    this.#clock = clock
    server.on('connection', (socket: Socket) => accept(this.#add(socket)))
    server.on('secureConnection', (socket: Socket) => this.#add(socket))
    // Before the listener that answers, which may do so at once.
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#begin(this.of(request.socket), response)
    })
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  get size(): number {
    return this.#open.size
  }

  of(socket: Socket): HttpConnection | undefined {
    return this.#open.get(keyOf(socket))
  }

  /** Closes the oldest connection on which nothing has run for so long. Returns whether there was one. */
  closeOldestIdle({
    idleMs,
    except,
  }: {
    readonly idleMs: number
    readonly except?: HttpConnection
  }): boolean {
    const sinceMs = this.#clock.monotonicMs() - idleMs
    for (const [key, connection] of this.#open) {
      if (connection.running > 0 || connection.idleSinceMs > sinceMs || connection === except) continue
      // No more among those that are counted; its sockets close a little later.
      this.#forget(key, connection)
      finish(connection)
      return true
    }
    return false
  }

  async close({ graceMs, deadlineMs }: ClosingTimes): Promise<void> {
    this.#isClosing = true
    for (const response of this.#responses) endsConnection(response)
    // Not the server's own: it also closes connections without a request at once, where one may just be arriving.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve())
    })
    const drain = setTimeout(() => this.#drain(), graceMs)
    const cut = setTimeout(() => this.#cut(), deadlineMs)
    await closed
    clearTimeout(drain)
    clearTimeout(cut)
    // Ends the server's look for slow requests.
    this.#server.close()
  }

  #add(socket: Socket): HttpConnection {
    const key = keyOf(socket)
    const connection = this.#open.get(key) ?? this.#newConnection()
    this.#open.set(key, connection)
    connection.sockets.add(socket)
    socket.once('close', () => {
      connection.sockets.delete(socket)
      if (connection.sockets.size === 0) this.#forget(key, connection)
    })
    return connection
  }

  #newConnection(): HttpConnection {
    const idleSinceMs = this.#clock.monotonicMs()
    return { running: 0, idleSinceMs, sockets: new Set(), onClose: undefined }
  }

  #forget(key: string, connection: HttpConnection): void {
    if (this.#open.get(key) === connection) this.#open.delete(key)
    connection.onClose?.()
    connection.onClose = undefined
  }

  #begin(connection: HttpConnection | undefined, response: ServerResponse): void {
    this.#responses.add(response)
    if (connection !== undefined) connection.running += 1
    if (this.#isClosing) endsConnection(response)
    response.once('close', () => {
      this.#responses.delete(response)
      if (connection === undefined) return
      connection.running -= 1
      connection.idleSinceMs = this.#clock.monotonicMs()
      // A response that had begun before could not say that it is the last.
      if (this.#isDraining && connection.running === 0) finish(connection)
    })
  }

  #drain(): void {
    this.#isDraining = true
    for (const connection of this.#open.values()) if (connection.running === 0) finish(connection)
  }

  #cut(): void {
    for (const { sockets } of this.#open.values()) for (const socket of sockets) socket.destroy()
  }
}

/** The response says so, and Node closes the connection after it. */
function endsConnection(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false
}

/** Closes it when all is sent. */
function finish({ sockets }: HttpConnection): void {
  ;[...sockets].at(-1)?.destroySoon()
}

/** With TLS a request has another socket than the connection; both have these. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${remotePort ?? ''}`
}
