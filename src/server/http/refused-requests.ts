/**
 * Requests that Node's parser refuses: too slow, with too large a head, or not HTTP. They get an error response of the same
 * shape as others, and their connection is closed.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { InvalidError } from '../../base/errors.ts'
import { HTTP_HEADERS_MAX_BYTES } from '../limits.ts'
import type { Redactor } from '../../base/redaction.ts'
import { showFailure } from './render-failure.ts'

export function answerRefusedRequests(server: Server, redactor: Redactor): void {
  const exchanges = new WeakMap<Duplex, readonly [IncomingMessage, ServerResponse]>()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    exchanges.set(request.socket, [request, response])
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const [request, response] = exchanges.get(socket) ?? []
    // Nothing is written into a response that has begun. One that was sent before its request ended was the response to it.
    const isAnswered = response?.headersSent === true && !(request?.complete && response.writableFinished)
    if (socket.writable && !isAnswered && error.code !== 'ECONNRESET') {
      socket.write(answerTo(error, redactor))
    }
    socket.destroy()
  })
}

function answerTo(error: NodeJS.ErrnoException, redactor: Redactor): string {
  const { status, headers, body } = showFailure(failureOf(error), redactor)
  const text = JSON.stringify(body)
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`
}

function failureOf({ code }: NodeJS.ErrnoException): InvalidError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new InvalidError(
        'server/head-too-large',
        `read a request: its headers have more than ${HTTP_HEADERS_MAX_BYTES} bytes`,
        { next: 'Send a shorter URL, and fewer or shorter headers.' },
      )
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new InvalidError('server/too-slow', 'read a request: it did not arrive in time', {
        next: 'Send it faster.',
      })
    default:
      return new InvalidError('server/malformed-request', 'read a request: it is not HTTP/1.1', {
        next: 'Send HTTP/1.1, over TLS if the server has a certificate.',
      })
  }
}
