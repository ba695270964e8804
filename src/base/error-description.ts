/** Errors for output: redacted, bounded, one line each. */

import {
  errorKindOf,
  isPeragoError,
  messageOf,
  type ErrorCode,
  type ErrorKind,
  type PeragoError,
} from './errors.ts'
import { ERROR_CAUSES_MAX, ERROR_TEXT_MAX_CHARS } from './limits.ts'
import { oneLine, shortened } from './one-line.ts'
import { plainRedactor, type Redactor } from './redaction.ts'

/** Plain JSON data. */
export interface ErrorDescription {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly message: string
  /** What the reader may do about it. */
  readonly next?: string
  /** What to read to learn whether a request with a lost response took effect. */
  readonly read?: string
  readonly retryAfterMs?: number
  readonly details?: Readonly<Record<string, unknown>>
  readonly causes?: readonly ErrorCause[]
}

export interface ErrorCause {
  readonly code?: string
  readonly message: string
}

/**
 * ```ts
 * const description = describeError(error, redactor)
 * process.stderr.write(JSON.stringify({ error: description }) + '\n')
 * ```
 */
export function describeError(error: unknown, redactor: Redactor = plainRedactor): ErrorDescription {
  const shown = (text: string): string => shortened(oneLine(redactor.text(text)), ERROR_TEXT_MAX_CHARS)
  const causes = causesOf(error).map((cause) => describeCause(cause, shown))
  const ours = isPeragoError(error) ? describeOurs(error, redactor, shown) : describeForeign(error, shown)
  return causes.length === 0 ? ours : { ...ours, causes }
}

/**
 * One line: what was being done, to what and what came back; the code; what to try.
 *
 * ```ts
 * renderError(describeError(error)) // 'read branch "x": there is none [lakefs/no-such-branch]. Create the branch.'
 * ```
 */
export function renderError(description: ErrorDescription): string {
  const { code, message, next, read } = description
  // Many next steps name already what to read.
  const first = read === undefined || next?.includes(read) === true ? undefined : `First look at ${read}.`
  const steps = [first, next].filter((step) => step !== undefined)
  return [`${message} [${code}]`, ...steps].join('. ').replace(/\.\. /g, '. ')
}

function describeOurs(
  error: PeragoError,
  redactor: Redactor,
  shown: (text: string) => string,
): ErrorDescription {
  const { read, retryAfterMs } = error as { readonly read?: unknown; readonly retryAfterMs?: unknown }
  return {
    kind: error.kind,
    code: error.code,
    message: shown(error.message),
    ...(error.next === undefined ? {} : { next: shown(error.next) }),
    ...(typeof read === 'string' ? { read: shown(read) } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    ...(Object.keys(error.details).length === 0
      ? {}
      : { details: redactor.value(error.details) as Record<string, unknown> }),
  }
}

/** An error that is not one of ours was not expected, so it is a defect of ours. */
function describeForeign(error: unknown, shown: (text: string) => string): ErrorDescription {
  return {
    kind: errorKindOf(error),
    code: 'base/unexpected',
    message: shown(`something unexpected happened: ${messageOf(error)}`),
    next: 'Run it again with --log-level debug, and report the output.',
  }
}

function describeCause(cause: unknown, shown: (text: string) => string): ErrorCause {
  const { code } = (typeof cause === 'object' ? cause : {}) as { readonly code?: unknown }
  return { ...(typeof code === 'string' ? { code: shown(code) } : {}), message: shown(messageOf(cause)) }
}

/** The causes of an error; bounded, because they can form a circle. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let at = causeOf(error); at !== undefined && causes.length < ERROR_CAUSES_MAX; at = causeOf(at))
    causes.push(at)
  return causes
}

function causeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  // A connection that was tried on several addresses fails with one error for each; the first is shown.
  return error.cause ?? (error instanceof AggregateError ? (error.errors[0] as unknown) : undefined)
}
