/** An answer as a value: handlers make one, only send-answer.ts writes it. So a fault can lose it after the effect. */

import type { Readable } from 'node:stream'

/** The type of an object whose sender named none. */
export const DEFAULT_CONTENT_TYPE = 'application/octet-stream'

export type Headers = Readonly<Record<string, string | number>>

/** A body that is opened only when it is really sent. */
export interface StreamedBody {
  readonly lengthBytes: number
  open(): Readable
  /** All of it, where it is in memory already. */
  readonly bytes?: Buffer | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body?: string | StreamedBody
}

/** Stops the handling of a request with this answer; the message goes to the client. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  readonly status: number
  readonly headers: Headers

  constructor(status: number, message: string, headers: Headers = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** The client closed the connection while it sent a body. Nobody is left to answer, and nothing is wrong here. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'

  constructor() {
    super('the client went away')
  }
}

export function json(status: number, value: unknown, headers: Headers = {}): Answer {
  // lakeFS ends every document with a newline.
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: `${JSON.stringify(value)}\n`,
  }
}

export function failure(status: number, message: string, headers: Headers = {}): Answer {
  return json(status, { message }, headers)
}

export function text(status: number, content: string): Answer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: content }
}

export function empty(status: number, headers: Headers = {}): Answer {
  return { status, headers }
}
