/**
 * One HTTP exchange over a dispatcher of undici, and what is known when it breaks: whether the server may have received
 * any of it. Without streams: for a small exchange a stream and its iterators take several times as long as the rest.
 */

import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

/** Why no complete response came. */
export interface Break {
  /** Whether the server may have received any of the request. */
  readonly sent: boolean
  /** `not-http`: the response is not HTTP. `late`: when it could be sent, it was no longer to be. */
  readonly how: 'dropped' | 'timeout' | 'aborted' | 'not-http' | 'late'
}

/** No response, or only the beginning of one. */
export class ExchangeBrokenError extends Error {
  readonly broken: Break

  constructor(broken: Break, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ExchangeBrokenError'
    this.broken = broken
  }
}

/** The status and headers of a response. */
export interface AnswerHead {
  readonly status: number
  header(name: string): string | undefined
  /** Ends the exchange with this error; without effect once it has ended. */
  cut(error: Error): void
}

/** Takes the body piece by piece. Given a promise, the connection is not read on until it resolves. */
export type TakePiece = (piece: Uint8Array) => Promise<void> | undefined

export interface ExchangeRequest {
  readonly origin?: string | undefined
  readonly method: string
  /** From the first slash on, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable | undefined
  readonly signal?: AbortSignal | undefined
  /** Is given a function to call for each piece that is taken from the body: the wait starts again. */
  readonly onStart?: ((progress: () => void) => void) | undefined
  /** Asked when there is a connection for it and the first byte is about to be sent: false, and it is too late. */
  readonly mayBegin?: (() => boolean) | undefined
}

export interface ExchangeBound {
  readonly boundMs: number
  /** `answer`: the longest time without progress until the response begins. `whole`: the longest time for all of it. */
  readonly bounds: 'answer' | 'whole'
}

/**
 * Resolves after the last piece was taken. `begin` is called once the status is known, and says who takes the body; an
 * error that it or the taker throws ends the exchange.
 */
export function exchangeOver(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: ExchangeRequest,
  { boundMs, bounds, begin }: ExchangeBound & { readonly begin: (head: AnswerHead) => TakePiece },
): Promise<void> {
  const { body = null, headers, mayBegin, method, onStart, origin, path, signal } = request
  let settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined
  const outcome = new Promise<void>((resolve, reject) => (settle = { resolve, reject }))
  let sent = false
  let isOver = false
  let controller: Dispatcher.DispatchController | undefined
  let take: TakePiece = () => undefined

  const end = (error?: Error): void => {
    if (isOver) return
    isOver = true
    clearTimeout(watchdog)
    signal?.removeEventListener('abort', onAbort)
    if (error === undefined) {
      settle?.resolve()
      return
    }
    settle?.reject(error)
    // A request that still waits for a connection is cut as soon as it gets one.
    controller?.abort(error)
  }
  const breakOff = (how: Break['how'], cause: unknown): void =>
    end(new ExchangeBrokenError({ sent, how }, cause))
  const fail = (error: unknown): void => end(error instanceof Error ? error : new Error(String(error)))
  const onAbort = (): void => breakOff('aborted', signal?.reason)
  const watchdog = setTimeout(() => {
    breakOff('timeout', new Error(`no ${bounds === 'whole' ? 'response' : 'progress'} within ${boundMs} ms`))
  }, boundMs)
  if (signal?.aborted === true) {
    onAbort()
    return outcome
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  onStart?.(() => void watchdog.refresh())

  dispatcher.dispatch(
    { ...(origin !== undefined && { origin }), method, path, headers, body },
    {
      onRequestStart: (started) => {
        controller = started
        if (isOver) started.abort(new Error('the exchange is over'))
        else if (mayBegin?.() === false) {
          // Neither ended by `controller` nor aborted, but thrown: undici gives the request up and keeps the connection.
          controller = undefined
          const error = new Error('it waited too long')
          breakOff('late', error)
          throw error
        }
        sent = true
        if (!isOver && bounds === 'answer') watchdog.refresh()
      },
      onResponseStart: (_, status, answered) => {
        if (isOver || status < 200) return
        if (bounds === 'answer') clearTimeout(watchdog)
        try {
          take = begin({ status, header: (name) => firstOf(answered[name.toLowerCase()]), cut: end })
        } catch (error) {
          fail(error)
        }
      },
      onResponseData: (reading, piece) => {
        if (isOver) return
        try {
          const taken = take(piece)
          if (taken === undefined) return
          reading.pause()
          taken.then(() => reading.resume(), fail)
        } catch (error) {
          fail(error)
        }
      },
      onResponseEnd: () => end(),
      // By its name: undici 7.30 leaves the code of a parser error undefined.
      onResponseError: (_, error) =>
        breakOff(error.name === 'HTTPParserError' ? 'not-http' : 'dropped', error),
    },
  )
  return outcome
}

/** The text of a response; one that is longer than the bound is a broken exchange. */
export class TextCollector {
  readonly #maxBytes: number
  readonly #pieces: Uint8Array[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(piece: Uint8Array): undefined {
    this.#bytes += piece.byteLength
    if (this.#bytes > this.#maxBytes) {
      const why = new Error(`the response is larger than ${this.#maxBytes} bytes`)
      throw new ExchangeBrokenError({ sent: true, how: 'dropped' }, why)
    }
    this.#pieces.push(piece)
    return undefined
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString('utf8')
  }
}

/** A stream that is filled piece by piece, no faster than it is read. `onClose`: it is destroyed, read to its end or not. */
export function fillableStream(onClose: () => void): { readonly stream: Readable; readonly take: TakePiece } {
  let onRead: (() => void) | undefined
  const stream = new Readable({
    read: () => {
      onRead?.()
      onRead = undefined
    },
    destroy: (error, done) => {
      onClose()
      done(error)
    },
  })
  return {
    stream,
    take: (piece) => (stream.push(piece) ? undefined : new Promise((resolve) => (onRead = resolve))),
  }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
