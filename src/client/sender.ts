/** Sends the requests of a client, again where that is safe. */

import { followSignals } from '../base/abort-signals.ts'
import { abortReason, systemClock, type Clock } from '../base/clock.ts'
import { InvalidError, UnavailableError, UncertainError, errorKindOf } from '../base/errors.ts'
import { retry, type RetryPolicy } from '../base/retry.ts'
import { CLIENT_ANSWER_TIMEOUT_MS } from './limits.ts'
import { failureOf } from './server-failure.ts'

export interface ClientOptions {
  /** Address of the server, such as `https://perago.example`; without credentials and query. */
  readonly url: string
  /** Not needed where the server lets programs of its machine in. */
  readonly token?: string | undefined
  /** How requests that may be sent again are repeated. Unless given: at most 6 tries within 60 s. */
  readonly retry?: Partial<RetryPolicy>
  /** How long a response may take, in milliseconds; 30 s unless given. Time that the server waits on purpose is added. */
  readonly answerTimeoutMs?: number
  /** Measures time limits and delays; the machine's own clock unless given. */
  readonly clock?: Clock
  /** Default: that of Node. */
  readonly fetch?: typeof fetch
}

export interface ClientCallOptions {
  /** Ends the call and its retries. A request that was already sent may still take effect. */
  readonly signal?: AbortSignal | undefined
}

export interface Call extends ClientCallOptions {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Doing it twice is doing it once. */
  readonly isRepeatable: boolean
  readonly query?: readonly (readonly [string, string | number])[]
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** How long the server may take on purpose. */
  readonly waitMs?: number
}

export class Sender {
  readonly #options: ClientOptions
  readonly #base: string

  constructor(options: ClientOptions) {
    this.#options = options
    this.#base = baseOf(options.url)
  }

  send<T>(call: Call): Promise<T> {
    const { retry: policy, clock } = this.#options
    return retry(() => this.#once<T>(call), {
      ...{ policy, clock, signal: call.signal },
      shouldRetry: (error) => {
        const kind = errorKindOf(error)
        return kind === 'unavailable' || (kind === 'uncertain' && call.isRepeatable)
      },
    })
  }

  async #once<T>(call: Call): Promise<T> {
    const { clock = systemClock, answerTimeoutMs = CLIENT_ANSWER_TIMEOUT_MS } = this.#options
    const stop = followSignals(call.signal)
    clock.sleep(answerTimeoutMs + (call.waitMs ?? 0), stop.signal).then(
      () => stop.abort(),
      () => undefined,
    )
    try {
      const response = await this.#exchange(call, stop.signal)
      const body: unknown = await response.json().catch(() => undefined)
      if (!response.ok || typeof body !== 'object' || body === null) throw failureOf(response.status, body)
      return body as T
    } finally {
      stop.release()
      stop.abort()
    }
  }

  async #exchange(
    { method, path, query = [], headers, body, signal }: Call,
    stop: AbortSignal,
  ): Promise<Response> {
    const { token, fetch: send = fetch } = this.#options
    const texts = query.map(([name, value]): [string, string] => [name, String(value)])
    const search = texts.length === 0 ? '' : `?${new URLSearchParams(texts).toString()}`
    try {
      return await send(`${this.#base}${path}${search}`, {
        ...{ method, signal: stop, redirect: 'error' },
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (cause) {
      if (signal?.aborted === true) throw abortReason(signal)
      throw noAnswer(method, path, cause)
    }
  }
}

function noAnswer(method: Call['method'], path: string, cause: unknown): Error {
  const message = `${method === 'GET' ? 'read' : 'send'} ${path}: the server did not answer`
  if (method === 'GET')
    return new UnavailableError('client/no-answer', message, { cause, next: 'Try again.' })
  return new UncertainError('client/no-answer', message, { cause, read: 'the execution' })
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (
    parsed !== undefined &&
    /^https?:$/.test(parsed.protocol) &&
    parsed.username === '' &&
    parsed.search === ''
  )
    return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
  throw new InvalidError('client/bad-url', 'open a client: the url is not the http address of a server', {
    next: 'Give an address such as https://perago.example, without credentials.',
  })
}
