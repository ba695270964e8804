/**
 * A client for one Conductor server: a pool of connections, the token, and one call that classifies what comes back.
 * What is asked of the server lives in `http-task-queue.ts` and `definitions.ts`.
 */

import { abortReason, systemClock, type Clock } from '../base/clock.ts'
import {
  InvalidError,
  RefusedError,
  UnavailableError,
  UncertainError,
  type PeragoError,
} from '../base/errors.ts'
import {
  CONDUCTOR_ANSWER_MAX_BYTES,
  CONDUCTOR_ANSWER_TIMEOUT_MS,
  CONDUCTOR_CONNECT_TIMEOUT_MS,
  CONDUCTOR_CONNECTIONS_MAX,
  CONDUCTOR_QUOTE_MAX_CHARS,
} from './limits.ts'
import { ExchangeBrokenError } from '../remote/http-exchange.ts'
import { silentLogger, type Logger } from '../base/logger.ts'
import { oneLine, shortened } from '../base/one-line.ts'
import type { Random } from '../base/random.ts'
import { createRedactor } from '../base/redaction.ts'
import { parseRetryAfter } from '../remote/retry-after.ts'
import { retry, type RetryPolicy } from '../base/retry.ts'
import { classifyAnswer, classifyBreak, classifyStrangeBody, type Refusal, type Verdict } from './answers.ts'
import { createTokenSource, NO_TOKEN, type ConductorKey, type TokenSource } from './auth.ts'
import { parseEndpoint } from './endpoint.ts'
import { operationRow, type OperationName } from './operations.ts'
import { createTransport, type RawAnswer, type Transport } from './transport.ts'

export interface ConductorClientOptions {
  /** As people write it: with or without `/api`. */
  readonly endpoint: string
  /** Nothing else is consulted: no environment variable overrides or supplies it. */
  readonly key?: ConductorKey
  readonly connectionsMax?: number
  readonly connectTimeoutMs?: number
  readonly answerTimeoutMs?: number
  readonly retry?: Partial<RetryPolicy>
  readonly logger?: Logger
  readonly clock?: Clock
  readonly random?: Random
  /** Told of every request that was made, trades of the key included: for metrics. */
  readonly onExchange?: (notice: ExchangeNotice) => void
}

export interface ExchangeNotice {
  readonly operation: OperationName
  /** `undefined` when no answer came. */
  readonly status: number | undefined
  readonly durationMs: number
}

export interface ConductorCall {
  readonly operation: OperationName
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** From `/api` or `/health` on, each segment encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly json?: object
  readonly text?: string
  /** What the request is about, for the error message. */
  readonly about: string
  /** How long the server was asked to wait before it answers. */
  readonly serverWaitMs?: number
  readonly signal?: AbortSignal | undefined
}

export interface ConductorClient {
  /** The body of the answer; `undefined` when what was named is not there. */
  call(request: ConductorCall): Promise<unknown>
  /** Cuts whatever is under way. May be called twice. */
  close(): Promise<void>
}

/**
 * ```ts
 * const client = openConductorClient({ endpoint: 'http://localhost:8080/api' })
 * ```
 */
export function openConductorClient(options: ConductorClientOptions): ConductorClient {
  const { origin, prefix } = parseEndpoint(options.endpoint)
  const { clock = systemClock, logger = silentLogger, key } = options
  const transport = createTransport({
    origin,
    connections: options.connectionsMax ?? CONDUCTOR_CONNECTIONS_MAX,
    connectTimeoutMs: options.connectTimeoutMs ?? CONDUCTOR_CONNECT_TIMEOUT_MS,
    answerMaxBytes: CONDUCTOR_ANSWER_MAX_BYTES,
  })
  const redactor = createRedactor(key === undefined ? [] : [key.keyId, key.keySecret])
  const exchange = { transport, prefix, clock, options, redact: (text: string) => redactor.text(text) }
  const tokens =
    key === undefined ? NO_TOKEN : createTokenSource({ clock, trade: () => trade(exchange, key) })

  return {
    call(request) {
      const { operation, signal } = request
      return retry(() => callOnce(exchange, tokens, request), {
        clock,
        policy: { ...options.retry, ...(operationRow(operation).isPacedByCaller ? { maxAttempts: 1 } : {}) },
        ...(options.random === undefined ? {} : { random: options.random }),
        ...(signal === undefined ? {} : { signal }),
        shouldRetry: (error) => mayRepeat(operation, error),
        onRetry: ({ attempt, error, delayMs }) => {
          logger.warn('asking Conductor again', { operation, attempt, delayMs, error })
        },
      })
    },
    close: () => transport.close(),
  }
}

/** One segment of a path. */
export function segment(text: string): string {
  // A dot alone would be taken for a folder by the address parser, encoded or not.
  if (text === '' || /^\.{1,2}$/.test(text))
    throw new InvalidError('conductor/bad-name', `use ${JSON.stringify(text)} in an address: it is no name`)
  return encodeURIComponent(text)
}

/** A field of whatever came back. */
export function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
}

interface Exchange {
  readonly transport: Transport
  readonly prefix: string
  readonly clock: Clock
  readonly options: ConductorClientOptions
  readonly redact: (text: string) => string
}

function mayRepeat(operation: OperationName, error: unknown): boolean {
  if (error instanceof UnavailableError) return true
  return error instanceof UncertainError && operationRow(operation).class === 'idempotent'
}

async function trade(exchange: Exchange, key: ConductorKey): Promise<string | undefined> {
  const body = await callOnce(exchange, NO_TOKEN, {
    operation: 'createToken',
    method: 'POST',
    path: '/api/token',
    json: { keyId: key.keyId, keySecret: key.keySecret },
    about: 'the configured key',
  })
  if (body === undefined) return undefined
  const token = fieldOf(body, 'token')
  if (typeof token === 'string' && token !== '') return token
  throw new RefusedError('conductor/unauthorized', 'trade the key for a token: the answer holds no token', {
    next: 'Check the endpoint and the key.',
  })
}

async function callOnce(exchange: Exchange, tokens: TokenSource, request: ConductorCall): Promise<unknown> {
  const token = await tokens.get(request.signal)
  const answer = await send(exchange, request, token)
  if (answer.status !== 401 || token === undefined) return judge(exchange, request, answer)
  // Refused before anything was done, whatever was asked: with a new token it is the first try.
  tokens.discard(token)
  return judge(exchange, request, await send(exchange, request, await tokens.get(request.signal)))
}

async function send(
  exchange: Exchange,
  request: ConductorCall,
  token: string | undefined,
): Promise<RawAnswer> {
  const { clock, options, prefix, transport } = exchange
  const startMs = clock.monotonicMs()
  const note = (status: number | undefined): void =>
    options.onExchange?.({
      operation: request.operation,
      status,
      durationMs: clock.monotonicMs() - startMs,
    })
  try {
    const answer = await transport.exchange({
      method: request.method,
      path: prefix + request.path + renderQuery(request.query),
      headers: headersOf(request, token),
      body: request.json === undefined ? request.text : JSON.stringify(request.json),
      timeoutMs: (options.answerTimeoutMs ?? CONDUCTOR_ANSWER_TIMEOUT_MS) + (request.serverWaitMs ?? 0),
      signal: request.signal,
    })
    note(answer.status)
    return answer
  } catch (error) {
    note(undefined)
    if (!(error instanceof ExchangeBrokenError)) throw error
    const verdict = classifyBreak(request.operation, error.broken)
    // Who gave up himself is told so, unless something may have happened that he ought to know of.
    if (error.broken.how === 'aborted' && verdict.kind !== 'uncertain') throw abortReason(request.signal)
    throw errorOf({ exchange, request, verdict, said: error.message, cause: error })
  }
}

function judge(exchange: Exchange, request: ConductorCall, answer: RawAnswer): unknown {
  const body = readBody(answer)
  const verdict = classifyAnswer(request.operation, {
    status: answer.status,
    refusal: readRefusal(body.value),
  })
  if (verdict.is === 'missing') return undefined
  const said = `the server answered ${answer.status}`
  if (verdict.is === 'done') {
    if (looksRight(request.operation, answer, body.isJson)) return body.value
    throw strangeBody(request.operation, request.about, `${said} with a body of type "${answer.contentType}"`)
  }
  const words = readRefusal(body.value)?.message
  throw errorOf({
    exchange,
    request,
    verdict,
    said: words === undefined ? said : `${said}: ${words}`,
    status: answer.status,
    retryAfterMs: parseRetryAfter(answer.retryAfter, exchange.clock.now()),
  })
}

/** The error for a body of a success that holds something else than it should. */
export function strangeBody(operation: OperationName, about: string, what: string): PeragoError {
  const { kind, code, next } = classifyStrangeBody(operation)
  const row = operationRow(operation)
  const message = `${row.doing} ${oneLine(about)}: ${shortened(oneLine(what), CONDUCTOR_QUOTE_MAX_CHARS)}`
  const options = { details: { operation }, next }
  return kind === 'uncertain'
    ? new UncertainError(code, message, { ...options, read: 'read' in row ? row.read : 'the state' })
    : new InvalidError(code, message, options)
}

/** A proxy's login page is a 200, too. */
function looksRight(operation: OperationName, answer: RawAnswer, isJson: boolean): boolean {
  const { answers } = operationRow(operation)
  if (answers === 'json') return isJson || answer.status === 204
  const isPage = answer.contentType.startsWith('text/html') || answer.text.trimStart().startsWith('<')
  if (answers === 'nothing') return !isPage
  return !isPage && answer.text !== ''
}

interface Body {
  readonly isJson: boolean
  /** Parsed when it is JSON, else the text. */
  readonly value: unknown
}

function readBody(answer: RawAnswer): Body {
  if (!/\bjson\b/.test(answer.contentType)) return { isJson: false, value: answer.text }
  try {
    return { isJson: true, value: JSON.parse(answer.text) as unknown }
  } catch {
    return { isJson: false, value: answer.text }
  }
}

function readRefusal(value: unknown): Refusal | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { message, retryable, validationErrors } = value as Record<string, unknown>
  if (typeof message !== 'string' || typeof retryable !== 'boolean') return undefined
  const details = Array.isArray(validationErrors)
    ? validationErrors.map((entry: { message?: unknown } | null) => String(entry?.message)).join('; ')
    : ''
  return { message: details === '' ? message : details, isRetryable: retryable }
}

function errorOf(given: {
  readonly exchange: Exchange
  readonly request: ConductorCall
  readonly verdict: Extract<Verdict, { is: 'error' }>
  readonly said: string
  readonly status?: number
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}): PeragoError {
  const { exchange, request, verdict, status, retryAfterMs } = given
  const row = operationRow(request.operation)
  const said = shortened(oneLine(exchange.redact(given.said)), CONDUCTOR_QUOTE_MAX_CHARS)
  const message = `${row.doing} ${oneLine(request.about)}: ${said}`
  const options = {
    details: { operation: request.operation, ...(status === undefined ? {} : { status }) },
    next: verdict.next,
    ...(given.cause === undefined ? {} : { cause: given.cause }),
  }
  switch (verdict.kind) {
    case 'unavailable':
      return new UnavailableError(verdict.code, message, {
        ...options,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      })
    case 'uncertain':
      return new UncertainError(verdict.code, message, {
        ...options,
        read: 'read' in row ? row.read : 'the state',
      })
    case 'refused':
      return new RefusedError(verdict.code, message, options)
    case 'invalid':
    case 'missing':
    case 'defect':
      return new InvalidError(verdict.code, message, options)
  }
}

function headersOf(request: ConductorCall, token: string | undefined): Record<string, string> {
  return {
    accept: 'application/json, text/plain',
    ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
    ...(request.text === undefined ? {} : { 'content-type': 'text/plain; charset=utf-8' }),
    ...(token === undefined ? {} : { 'x-authorization': token }),
  }
}

function renderQuery(query: ConductorCall['query'] = {}): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) pairs.set(name, String(value))
  return pairs.size === 0 ? '' : `?${pairs.toString()}`
}
