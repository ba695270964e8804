/**
 * One HTTP exchange straight over a dispatcher of undici, and what is known when it breaks: whether the server may have
 * seen any of it. A stream, its iterators and what they allocate take several times as long as a small exchange itself.
 */

import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'

/** How an exchange came to nothing. */
export interface Break {
  /** Whether the server may have seen any of the request. */
  readonly sent: boolean
  /** `not-http`: something answered that does not speak HTTP. */
  readonly how: 'dropped' | 'timeout' | 'aborted' | 'not-http'
}

/** No answer, or only the beginning of one. */
export class ExchangeBrokenError extends Error {
  readonly broken: Break

  constructor(broken: Break, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'ExchangeBrokenError'
    this.broken = broken
  }
}

/** The beginning of an answer. */
export interface AnswerHead {
  readonly status: number
  header(name: string): string | undefined
}

/** Where the body of one answer goes, without a stream between. */
export interface AnswerReceiver {
  /** Told once the status is known; whoever throws here, or below, ends the exchange with that error. */
  begin(head: AnswerHead): void
  /** Given a promise, the connection is not read on until it resolves. */
  write(piece: Uint8Array): Promise<void> | undefined
}

export interface ExchangeRequest {
  readonly origin?: string
  readonly method: string
  /** From the first slash on, with the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | Readable | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ExchangeBound {
  readonly boundMs: number
  /** `answer`: how long nothing may move until the answer begins. `whole`: how long all of it may take. */
  readonly bounds: 'answer' | 'whole'
}

/** Resolves after the last piece was handed on. */
export function exchangeOver(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  { boundMs, bounds, receiver }: ExchangeBound & { readonly receiver: AnswerReceiver },
): Promise<void> {
  const { signal } = request
  return new Promise((resolve, reject) => {
    let sent = false
    let how: Break['how'] = 'dropped'
    let controller: Dispatcher.DispatchController | undefined
    let failure: Error | undefined
    let isOver = false
    const end = (settle: () => void): void => {
      if (isOver) return
      isOver = true
      clearTimeout(watchdog)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const fail = (error: unknown): void => {
      end(() => {
        if (failure !== undefined) reject(failure)
        else reject(new ExchangeBrokenError({ sent, how: isNotHttp(error) ? 'not-http' : how }, error))
      })
      // A request that still waits for a connection is cut as soon as it gets one.
      controller?.abort(error instanceof Error ? error : new Error(String(error)))
    }
    const refuse = (error: unknown): void => {
      failure = error instanceof Error ? error : new Error(String(error))
      fail(failure)
    }
    const onAbort = (): void => {
      how = 'aborted'
      fail(signal?.reason)
    }
    const watchdog = setTimeout(() => {
      how = 'timeout'
      fail(new Error(`no ${bounds === 'whole' ? 'answer' : 'progress'} within ${boundMs} ms`))
    }, boundMs)
    if (signal?.aborted === true) {
      onAbort()
      return
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const { origin, method, path, headers, body = null } = request
    dispatcher.dispatch(
      {
        ...(origin !== undefined && { origin }),
        method,
        path,
        headers,
        body,
      },
      {
        onRequestStart: (started) => {
          controller = started
          if (isOver) started.abort(new Error('the exchange is over'))
          sent = true
          if (!isOver && bounds === 'answer') watchdog.refresh()
        },
        onResponseStart: (_, status, answered) => {
          if (isOver || status < 200) return
          if (bounds === 'answer') clearTimeout(watchdog)
          try {
            receiver.begin({ status, header: (name) => firstOf(answered[name.toLowerCase()]) })
          } catch (error) {
            refuse(error)
          }
        },
        onResponseData: (reading, piece) => {
          if (isOver) return
          try {
            const written = receiver.write(piece)
            if (written === undefined) return
            reading.pause()
            written.then(() => reading.resume(), refuse)
          } catch (error) {
            refuse(error)
          }
        },
        onResponseEnd: () => end(resolve),
        onResponseError: (_, error) => fail(error),
      },
    )
  })
}

/** The text of an answer, no longer than a bound; one that is longer is a broken exchange. */
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
      const why = new Error(`the answer is larger than ${this.#maxBytes} bytes`)
      throw new ExchangeBrokenError({ sent: true, how: 'dropped' }, why)
    }
    this.#pieces.push(piece)
    return undefined
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString('utf8')
  }
}

export function isNotHttp(error: unknown): boolean {
  // By its name: undici 7.30 looks the code up in a table that runs the other way, and leaves it undefined.
  return error instanceof Error && error.name === 'HTTPParserError'
}

export function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
