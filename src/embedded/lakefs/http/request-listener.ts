/**
 * One request from its arrival to its end: name the operation, let a fault strike, know the caller, handle, answer.
 * Nothing of a body is read before the caller is known.
 */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { HTTP_STATUS, isPeragoError, UnavailableError } from '../../../base/errors.ts'
import type { Logger } from '../../../base/logger.ts'
import { EngineError } from '../engine/engine.ts'
import type { Fault, FaultPlan } from '../faults.ts'
import { ClientGone, empty, failure, HttpProblem, text, type Answer } from './answer.ts'
import { Exchange, type ServerParts } from './exchange.ts'
import { HANDLERS } from './handlers.ts'
import type { OperationName } from './operations.ts'
import { handlePresigned } from './presigned-handlers.ts'
import { findRoute, type Route } from './router.ts'
import { sendAnswer } from './send-answer.ts'
import { PRESIGNED_PATH } from './signatures.ts'
import { REASON_STATUS } from './statuses.ts'

export interface ListenerParts extends ServerParts {
  readonly faults: FaultPlan
  readonly logger: Logger
  /** Aborted when the server stops waiting for requests under way. */
  readonly closing: AbortSignal
}

type Target =
  | {
      readonly kind: 'api'
      readonly operation: OperationName
      readonly route: Route
      readonly rawQuery: string
    }
  | { readonly kind: 'presigned'; readonly operation: OperationName }
  | { readonly kind: 'health'; readonly operation: OperationName }
  | { readonly kind: 'unknown'; readonly operation: 'unknown' }

const FAULT_MESSAGES: Readonly<Record<429 | 500 | 502 | 503, string>> = {
  429: 'Too many attempts, try again later',
  500: 'commit: update branch: predicate failed',
  // Said by a proxy in front of it.
  502: 'Bad Gateway',
  503: 'Throughput exceeded. Slow down and retry',
}

/** Never rejects: what goes wrong is answered, or ends the connection. */
export function createRequestListener(
  parts: ListenerParts,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    response.setHeader('X-Request-Id', randomUUID())
    if (parts.closing.aborted) response.setHeader('Connection', 'close')
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
  const target = findTarget(request)
  const seen = {
    operation: target.operation,
    method: request.method ?? '',
    path: redactTarget(request.url ?? ''),
  }
  const fault =
    target.operation === 'unknown' ? undefined : parts.faults.strike({ ...seen, operation: target.operation })
  const record = (status: number): void => {
    parts.faults.record({ ...seen, status, ...(fault === undefined ? {} : { fault }) })
  }

  if (fault?.kind === 'lose-before') {
    record(0)
    request.socket.destroy()
    return
  }
  if (fault?.kind === 'delay') await parts.clock.sleep(fault.delayMs, parts.closing)
  const answer = fault?.kind === 'answer' ? refuse(fault) : await answerTarget(parts, request, target)
  if (fault?.kind === 'lose-after') {
    record(0)
    request.socket.destroy()
    return
  }
  record(request.socket.destroyed ? 0 : answer.status)
  const bodyFault = fault?.kind === 'cut-body' || fault?.kind === 'corrupt-body' ? fault : undefined
  await sendAnswer(request, response, answer, bodyFault)
}

function findTarget(request: IncomingMessage): Target {
  const url = request.url ?? ''
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const method = request.method ?? ''
  if (path === PRESIGNED_PATH) {
    return { kind: 'presigned', operation: method === 'PUT' ? 'presignedPut' : 'presignedGet' }
  }
  if (path === '/_health' && method === 'GET') return { kind: 'health', operation: 'serverHealth' }
  const route = findRoute(method, path)
  if (route === undefined) return { kind: 'unknown', operation: 'unknown' }
  return { kind: 'api', operation: route.operation, route, rawQuery: mark < 0 ? '' : url.slice(mark + 1) }
}

async function answerTarget(parts: ListenerParts, request: IncomingMessage, target: Target): Promise<Answer> {
  try {
    switch (target.kind) {
      case 'unknown':
        return failure(404, 'invalid API endpoint')
      case 'health':
        return text(200, 'alive!')
      case 'presigned':
        return await handlePresigned(request, parts)
      case 'api': {
        const { route, rawQuery } = target
        if (!route.open && !parts.authenticator.accepts(request.headers.authorization)) {
          return withoutBodyForHead(request, failure(401, 'error authenticating request'))
        }
        const exchange = new Exchange(request, parts, { segments: route.segments, rawQuery })
        return await HANDLERS[route.operation](exchange)
      }
    }
  } catch (error) {
    return withoutBodyForHead(request, answerError(parts, error))
  }
}

function answerError(parts: ListenerParts, error: unknown): Answer {
  if (error instanceof HttpProblem) return failure(error.status, error.message, error.headers)
  if (error instanceof EngineError) return failure(REASON_STATUS[error.reason], error.message)
  if (error instanceof ClientGone) return failure(400, error.message)
  if (isPeragoError(error)) {
    parts.logger.warn('a request was not carried out', { error })
    const retryAfterMs = error instanceof UnavailableError ? error.retryAfterMs : undefined
    return failure(
      HTTP_STATUS[error.kind],
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

function redactTarget(url: string): string {
  return url.replaceAll(/([?&]signature=)[^&]*/g, '$1…')
}
