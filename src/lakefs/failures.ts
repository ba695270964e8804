/** From a verdict to the error that is thrown: what was being done, to what, what came back, what to try. */

import {
  DefectError,
  InvalidError,
  MissingError,
  RefusedError,
  UnavailableError,
  UncertainError,
  isPeragoError,
  unreachable,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  type PeragoError,
} from '../base/errors.ts'
import type { Break } from '../remote/http-exchange.ts'
import { LAKEFS_QUOTE_MAX_CHARS } from './limits.ts'
import { oneLine, shortened } from '../base/one-line.ts'
import { classifyBreak, type Answer, type Verdict } from './answers.ts'
import { operationRow, type OperationName } from './operations.ts'

/** One operation on something: what an error says about itself. */
export interface Call<Name extends OperationName = OperationName> {
  readonly operation: Name
  /** What it is done to: repository, branch, path and the like. Shown in the message and kept in the details. */
  readonly target: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** `merge (repository demo, destination main)`. */
export function describeCall(call: Call): string {
  const target = Object.entries(call.target).map(([name, value]) => `${name} ${quote(value)}`)
  const { doing } = operationRow(call.operation)
  return target.length === 0 ? doing : `${doing} (${target.join(', ')})`
}

/** An answer that means neither success nor a refusal the protocol foresees. */
export function failureOf(
  call: Call,
  verdict: Extract<Verdict, { is: 'error' }>,
  answer: Answer,
  extra: { readonly retryAfterMs: number | undefined; readonly requestId: string | undefined },
): PeragoError {
  const said = answer.message === undefined ? '' : `: ${quote(answer.message)}`
  return makeError({
    kind: verdict.kind,
    code: verdict.code,
    message: `${describeCall(call)}: the server answered ${answer.status}${said}`,
    next: verdict.next,
    read: readOf(call),
    retryAfterMs: extra.retryAfterMs,
    details: {
      ...call.target,
      operation: call.operation,
      status: answer.status,
      ...(extra.requestId === undefined ? {} : { requestId: extra.requestId }),
    },
  })
}

/** No answer, or only the beginning of one. */
export function breakFailure(call: Call, broken: Break, cause: unknown): PeragoError {
  const verdict = classifyBreak(call.operation, broken)
  return makeError({
    ...verdict,
    message: `${describeCall(call)}: ${BREAK_WORDS[broken.how]}${broken.sent ? '' : ', nothing was sent'}${becauseOf(cause)}`,
    read: readOf(call),
    details: { ...call.target, operation: call.operation },
    cause,
  })
}

/** A success whose body cannot be read as one. */
export function shapeFailure(call: Call, problem: string): PeragoError {
  const safe = operationRow(call.operation).class === 'safe'
  return makeError({
    kind: safe ? 'invalid' : 'uncertain',
    code: safe ? 'lakefs/not-lakefs' : 'lakefs/unknown-answer',
    message: `${describeCall(call)}: the answer is not as lakeFS gives it: ${problem}`,
    next: 'Check that the endpoint is a lakeFS server of a supported version.',
    read: readOf(call),
    details: { ...call.target, operation: call.operation },
  })
}

/** An earlier try may have landed although the last one surely did not. */
export function lostEarlier(call: Call, cause: unknown): UncertainError {
  const read = readOf(call)
  return new UncertainError(
    'lakefs/answer-lost',
    `${describeCall(call)}: an answer was lost and no later try settled it${becauseOf(cause)}`,
    {
      read,
      next: `Before trying again, read ${read}.`,
      details: { ...call.target, operation: call.operation },
      cause,
    },
  )
}

/** The facts that could explain the refusal do not hold any more: the branch changed in between. Nothing was done. */
export function unexplained(call: Call, message: string): UnavailableError {
  return new UnavailableError(
    'lakefs/unexplained-refusal',
    `${describeCall(call)}: the server answered 400 (${message}), and what is there now does not explain it`,
    { details: { ...call.target, status: 400 }, next: 'Read the branch and decide again.' },
  )
}

export function isUnexplained(error: unknown): boolean {
  return isPeragoError(error) && error.code === 'lakefs/unexplained-refusal'
}

/** One line, bounded. */
export function quote(text: string): string {
  return shortened(oneLine(text), LAKEFS_QUOTE_MAX_CHARS)
}

const BREAK_WORDS: Readonly<Record<Break['how'], string>> = {
  dropped: 'the connection broke',
  timeout: 'the server took too long',
  aborted: 'it was aborted',
  'not-http': 'something answered that does not speak HTTP',
}

interface ErrorParts {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly message: string
  readonly next: string
  readonly read: string
  readonly details: ErrorDetails
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

function makeError(parts: ErrorParts): PeragoError {
  const { kind, code, message, next, details, cause } = parts
  const options = { next, details, cause }
  switch (kind) {
    case 'invalid':
      return new InvalidError(code, message, options)
    case 'missing':
      return new MissingError(code, message, options)
    case 'refused':
      return new RefusedError(code, message, options)
    case 'unavailable':
      return new UnavailableError(
        code,
        message,
        parts.retryAfterMs === undefined ? options : { ...options, retryAfterMs: parts.retryAfterMs },
      )
    case 'uncertain':
      return new UncertainError(code, message, { ...options, read: parts.read })
    case 'defect':
      return new DefectError(code, message, options)
    default:
      return unreachable(kind, 'make an error')
  }
}

function readOf(call: Call): string {
  const row = operationRow(call.operation)
  return row.class === 'safe' ? 'nothing: it changes nothing' : row.read
}

function becauseOf(cause: unknown): string {
  return cause instanceof Error && cause.message !== '' ? ` (${quote(cause.message)})` : ''
}
