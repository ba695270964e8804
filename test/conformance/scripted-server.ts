/** A server that answers as a test tells it, request by request, and a clock that does not wait. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Clock } from '../../src/base/clock.ts'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  /** Of the connection it came over. */
  readonly port: number | undefined
}

/** What becomes of one request, after the whole of it was read. */
export type Reaction =
  | { readonly status: number; readonly json?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number; readonly text: string; readonly type: string }
  | {
      readonly status: number
      readonly bytes: Uint8Array
      readonly headers?: Readonly<Record<string, string>>
    }
  /** The connection is cut: "after the effect", for the request has been read. */
  | 'drop'
  /** Never answered; the connection stays open. */
  | 'silence'
  /** Headers and half of the bytes, then cut. */
  | {
      readonly cutAfter: number
      readonly bytes: Uint8Array
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Headers and some of the bytes, then nothing. */
  | { readonly stallAfter: number; readonly bytes: Uint8Array }

export interface ScriptedServer {
  readonly url: string
  readonly seen: readonly SeenRequest[]
  close(): Promise<void>
}

export async function startScriptedServer(
  react: (request: SeenRequest, index: number) => Reaction,
  /** Which requests are cut off before their body is read. */
  dropEarly: (head: Omit<SeenRequest, 'body'>) => boolean = () => false,
): Promise<ScriptedServer> {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => request.socket.destroy())
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const port = request.socket.remotePort
    const head = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, port }
    const index = seen.length
    if (dropEarly(head)) {
      seen.push({ ...head, body: Buffer.alloc(0) })
      request.socket.destroy()
      return
    }
    const whole = { ...head, body: await buffer(request) }
    seen.push(whole)
    send(request, response, react(whole, index))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(request: IncomingMessage, response: ServerResponse, reaction: Reaction): void {
  if (reaction === 'silence') return
  if (reaction === 'drop') {
    request.socket.destroy()
  } else if ('cutAfter' in reaction) {
    const { bytes, cutAfter, headers } = reaction
    response.writeHead(200, { 'content-length': bytes.byteLength, ...headers })
    response.write(bytes.subarray(0, cutAfter), () => request.socket.destroy())
  } else if ('stallAfter' in reaction) {
    response.writeHead(200, { 'content-length': reaction.bytes.byteLength })
    response.write(reaction.bytes.subarray(0, reaction.stallAfter))
  } else if ('bytes' in reaction) {
    response.writeHead(reaction.status, { 'content-length': reaction.bytes.byteLength, ...reaction.headers })
    response.end(reaction.bytes)
  } else if ('text' in reaction) {
    response.writeHead(reaction.status, { 'content-type': reaction.type })
    response.end(reaction.text)
  } else {
    response.writeHead(reaction.status, { 'content-type': 'application/json', ...reaction.headers })
    response.end(reaction.json === undefined ? undefined : JSON.stringify(reaction.json))
  }
}

/** Answers everything with these bytes, whatever they are, and hangs up. */
export async function startMuteServer(
  reply: string,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end(reply))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}

/** An address nobody listens at. */
export async function closedAddress(): Promise<string> {
  const server = await startMuteServer('')
  await server.close()
  return server.url
}

/** Time passes only by sleeping, and then at once. */
export function instantClock(): Clock & { readonly slept: readonly number[] } {
  const slept: number[] = []
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  return {
    slept,
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    sleep: (durationMs, signal) => {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
      slept.push(durationMs)
      nowMs += durationMs
      return Promise.resolve()
    },
  }
}
