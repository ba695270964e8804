/**
 * One request from its arrival to its end: find the operation, apply a fault, check the credentials, handle, answer.
 * Nothing of a body is read before the credentials were checked.
 */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { invariant, isPeragoError, UnavailableError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/logger.ts'
import { EMBEDDED_JSON_MS, EMBEDDED_OPEN_BODY_MAX_BYTES } from '../../limits.ts'
import { EngineError } from '../engine/engine.ts'
import type { Fault, FaultPlan } from '../faults.ts'
import { ClientGone, empty, failure, HttpProblem, type Answer } from './answer.ts'
import { addressOf, Exchange, type ServerParts } from './exchange.ts'
import { FORWARDED_MESSAGE, isForwarded } from './forwarded.ts'
import { readJson } from './json-body.ts'
import type { Operation } from './operations.ts'
import { findRoute, type Route } from './router.ts'
import { sendAnswer } from './send-answer.ts'
import { REASON_STATUS, statusOf } from './statuses.ts'

interface ListenerParts extends ServerParts {
  readonly faults: FaultPlan
  readonly logger: Logger
  /** Its secret is good for loopback only: what a proxy forwards is refused. */
  readonly refusesForwarded: boolean
  /** Aborted when the server stops waiting for requests under way. */
  readonly closing: AbortSignal
  readonly fallback: Fallback | undefined
}

/** Answers a request that is no operation of lakeFS; resolves with false to leave it. */
export type Fallback = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

const FAULT_MESSAGES: Readonly<Record<408 | 429 | 500 | 502 | 503, string>> = {
  408: 'Request Timeout',
  429: 'Too many attempts, try again later',
  500: 'commit: update branch: predicate failed',
  // Sent by a proxy in front of the server.
  502: 'Bad Gateway',
  503: 'Throughput exceeded. Slow down and retry',
}

/** Never rejects: what goes wrong is answered, or ends the connection. */
export function createRequestListener(
  parts: ListenerParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    response.setHeader('X-Request-Id', randomUUID())
    try {
      await handleRequest(parts, request, response)
    } catch (error) {
      await answerFailedBody(parts, request, response, error)
    }
  }
}

async function handleRequest(
  parts: ListenerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = request.url ?? ''
  const [path = ''] = url.split('?', 1)
  const route = findRoute(request.method ?? '', path)
  const seen = { method: request.method ?? '', path: redactSignature(url) }
  const fault = route && parts.faults.strike({ ...seen, operation: route.name })
  const record = (status: number): void => {
    const operation = route?.name ?? 'unknown'
    parts.faults.record({ ...seen, operation, status, ...(fault === undefined ? {} : { fault }) })
  }

  if (route === undefined && (await fallBack(parts, request, response))) {
    record(response.statusCode)
    return
  }
  if (fault?.kind === 'lose-before') {
    record(0)
    request.socket.destroy()
    return
  }
  if (fault?.kind === 'delay') await parts.clock.sleep(fault.delayMs, parts.closing)
  const rawQuery = url.slice(path.length + 1)
  const handle = (): Promise<Answer> => answerRoute(parts, request, { route, rawQuery })
  if (fault?.kind === 'answer' && fault.isDone === true) await handle()
  const answer = fault?.kind === 'answer' ? refuse(fault) : await handle()
  if (fault?.kind === 'lose-after') {
    record(0)
    request.socket.destroy()
    return
  }
  record(request.socket.destroyed ? 0 : answer.status)
  const bodyFault = fault?.kind === 'cut-body' || fault?.kind === 'corrupt-body' ? fault : undefined
  await sendAnswer(request, response, answer, bodyFault)
}

/** Whoever answers reads bodies without credentials: they have as long as ours of that kind. */
async function fallBack(
  parts: ListenerParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { fallback, openBodyMs, refusesForwarded } = parts
  if (fallback === undefined || (refusesForwarded && isForwarded(request))) return false
  const late = setTimeout(() => {
    if (!request.complete) request.socket.destroy()
  }, openBodyMs)
  try {
    return await fallback(request, response)
  } finally {
    clearTimeout(late)
  }
}

const JSON_TYPE = { 'Content-Type': 'application/json' }

async function answerRoute(
  parts: ListenerParts,
  request: IncomingMessage,
  target: { readonly route: Route | undefined; readonly rawQuery: string },
): Promise<Answer> {
  const { route, rawQuery } = target
  try {
    if (parts.refusesForwarded && isForwarded(request)) throw new HttpProblem(403, FORWARDED_MESSAGE)
    if (route === undefined) return failure(404, 'invalid API endpoint')
    const { operation, segments } = route
    if (operation.access === 'credentials') {
      const isAccepted = parts.authenticator.accepts(request.headers.authorization, addressOf(request))
      if (!isAccepted) return withoutBodyForHead(request, failure(401, 'error authenticating request'))
    }
    const exchange = new Exchange(request, parts, { segments, rawQuery })
    return await operation.handle(exchange, () => readBody(parts, request, operation))
  } catch (error) {
    const answer = withoutBodyForHead(request, answerError(parts, error))
    // Measured: a request that is refused before anything is looked for names the type of the body that a HEAD has not.
    return error instanceof HttpProblem ? { ...answer, headers: { ...answer.headers, ...JSON_TYPE } } : answer
  }
}

async function readBody(
  parts: ServerParts,
  request: IncomingMessage,
  { body, access }: Operation,
): Promise<never> {
  invariant(body, 'an operation that reads a body has a schema')
  const bounds =
    access === 'anyone'
      ? { maxBytes: EMBEDDED_OPEN_BODY_MAX_BYTES, maxMs: parts.openBodyMs }
      : { maxBytes: parts.jsonMaxBytes, maxMs: EMBEDDED_JSON_MS }
  const value = await readJson(request, { ...bounds, optional: body.optional })
  // The row that named the schema was compiled with the handler that reads its result.
  return body.schema(body.optional ? (value ?? {}) : value, '') as never
}

function answerError(parts: ListenerParts, error: unknown): Answer {
  if (error instanceof HttpProblem) return failure(error.status, error.message, error.headers)
  if (error instanceof EngineError) return failure(REASON_STATUS[error.reason], error.message)
  if (error instanceof ClientGone) return failure(400, error.message)
  if (isPeragoError(error)) {
    parts.logger.warn('a request was not carried out', { error })
    const retryAfterMs = error instanceof UnavailableError ? error.retryAfterMs : undefined
    return failure(
      statusOf(error),
      error.message,
      retryAfterMs === undefined ? {} : { 'Retry-After': Math.ceil(retryAfterMs / 1000) },
    )
  }
  parts.logger.error('a request failed', { error })
  return failure(500, 'internal server error')
}

/** A body that could not be opened can still be answered; one that broke off half-way can only be cut. */
async function answerFailedBody(
  parts: ListenerParts,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  if (response.headersSent || request.socket.destroyed) {
    if (isPeragoError(error)) parts.logger.warn('a download was cut', { error })
    request.socket.destroy()
    return
  }
  for (const name of response.getHeaderNames()) {
    if (name !== 'x-request-id') response.removeHeader(name)
  }
  try {
    await sendAnswer(request, response, answerError(parts, error))
  } catch {
    request.socket.destroy()
  }
}

function refuse(fault: Extract<Fault, { readonly kind: 'answer' }>): Answer {
  const { status, retryAfterSeconds } = fault
  return failure(
    status,
    fault.message ?? FAULT_MESSAGES[status],
    retryAfterSeconds === undefined ? {} : { 'Retry-After': retryAfterSeconds },
  )
}

function withoutBodyForHead(request: IncomingMessage, answer: Answer): Answer {
  return request.method === 'HEAD' ? empty(answer.status) : answer
}

function redactSignature(url: string): string {
  return url.replaceAll(/([?&]signature=)[^&]*/g, '$1…')
}
