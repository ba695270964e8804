/** Errors whose kind is known only when they are made, such as those that another process has answered with. */

import {
  DefectError,
  ERROR_KINDS,
  InvalidError,
  MissingError,
  RefusedError,
  UnavailableError,
  UncertainError,
  unreachable,
  type ErrorCode,
  type ErrorDetails,
  type ErrorKind,
  type PeragoError,
} from './errors.ts'

export interface ErrorParts {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly message: string
  readonly next?: string | undefined
  /** Of an uncertain one: what to read to learn whether the request took effect. */
  readonly read: string
  readonly retryAfterMs?: number | undefined
  readonly details?: ErrorDetails | undefined
  readonly cause?: unknown
}

export function makeError(parts: ErrorParts): PeragoError {
  const { kind, code, message, next, read, retryAfterMs, details = {}, cause } = parts
  const options = { next, details, cause }
  switch (kind) {
    case 'invalid':
      return new InvalidError(code, message, options)
    case 'missing':
      return new MissingError(code, message, options)
    case 'refused':
      return new RefusedError(code, message, options)
    case 'unavailable':
      return new UnavailableError(code, message, { ...options, retryAfterMs })
    case 'uncertain':
      return new UncertainError(code, message, { ...options, retryAfterMs, read })
    case 'defect':
      return new DefectError(code, message, options)
    default:
      return unreachable(kind, 'make an error')
  }
}

/** The error of a body `{"error": …}`; `undefined` where the body has none. `read`: unless it says what to read. */
export function readToldError(body: unknown, { read }: { readonly read: string }): PeragoError | undefined {
  const told = (body as { readonly error?: unknown } | null | undefined)?.error
  return isTold(told) ? makeError({ ...told, read: told.read ?? read }) : undefined
}

type Told = Omit<ErrorParts, 'read' | 'cause'> & { readonly read?: string }

/** Another program may have answered: a field of the wrong type makes it no error of ours. */
function isTold(told: unknown): told is Told {
  if (typeof told !== 'object' || told === null) return false
  const { kind, code, message, next, read, retryAfterMs, details } = told as Readonly<Record<string, unknown>>
  return (
    ERROR_KINDS.some((known) => known === kind) &&
    typeof code === 'string' &&
    typeof message === 'string' &&
    isOptional(next, 'string') &&
    isOptional(read, 'string') &&
    isOptional(retryAfterMs, 'number') &&
    isOptional(details, 'object')
  )
}

function isOptional(value: unknown, type: 'string' | 'number' | 'object'): boolean {
  return value === undefined || (value !== null && typeof value === type)
}
