/**
 * The errors of perago. Expected outcomes are values; an exception means that the caller cannot continue.
 * The **kind** decides what to do, the **code** (`room/what`) is stable and searchable.
 */

export const ERROR_KINDS = ['invalid', 'missing', 'refused', 'unavailable', 'uncertain', 'defect'] as const
export type ErrorKind = (typeof ERROR_KINDS)[number]

export type ErrorCode = `${string}/${string}`

/** Plain values that are safe to log and to show. */
export type ErrorDetails = Readonly<Record<string, unknown>>

export interface PeragoErrorOptions {
  readonly details?: ErrorDetails
  /** What the reader may do about it, as one imperative sentence. */
  readonly next?: string | undefined
  readonly cause?: unknown
}

/** Every kind needs a row in each of these tables, or they do not compile. */
export const HTTP_STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  missing: 404,
  refused: 409,
  unavailable: 503,
  uncertain: 504,
  defect: 500,
}

export const EXIT_CODE: Readonly<Record<ErrorKind, number>> = {
  invalid: 2,
  missing: 2,
  refused: 3,
  unavailable: 4,
  uncertain: 4,
  defect: 70,
}

export const GRPC_STATUS: Readonly<Record<ErrorKind, string>> = {
  invalid: 'INVALID_ARGUMENT',
  missing: 'NOT_FOUND',
  refused: 'FAILED_PRECONDITION',
  unavailable: 'UNAVAILABLE',
  uncertain: 'UNKNOWN',
  defect: 'INTERNAL',
}

/** Shared by all copies of the package in one process, so that each recognises the others' errors. */
const BRAND = Symbol.for('perago.error')

/**
 * The base class of every error that perago throws.
 *
 * ```ts
 * throw new MissingError('lakefs/no-such-branch', `read branch "${name}": there is none`, {
 *   details: { branch: name },
 *   next: 'Create the branch, or correct its name in the task input.',
 * })
 * ```
 */
export abstract class PeragoError extends Error {
  abstract readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly next: string | undefined
  readonly [BRAND] = true

  constructor(code: ErrorCode, message: string, options: PeragoErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.details = options.details ?? {}
    this.next = options.next
  }
}

/** The definition, input or configuration is wrong. */
export class InvalidError extends PeragoError {
  readonly kind = 'invalid'
}

/** What was named does not exist. */
export class MissingError extends PeragoError {
  readonly kind = 'missing'
}

/** A fence or a state refuses it: something has changed meanwhile. */
export class RefusedError extends PeragoError {
  readonly kind = 'refused'
}

export interface UnavailableErrorOptions extends PeragoErrorOptions {
  /** How long the server asks to wait, if it says so. */
  readonly retryAfterMs?: number | undefined
}

/** Certainly not done; trying again is safe. */
export class UnavailableError extends PeragoError {
  readonly kind = 'unavailable'
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, options: UnavailableErrorOptions = {}) {
    super(code, message, options)
    this.retryAfterMs = options.retryAfterMs
  }
}

export interface UncertainErrorOptions extends PeragoErrorOptions {
  /** What to read to learn whether the request took effect. */
  readonly read: string
  /** How long the server asks to wait, if it says so. */
  readonly retryAfterMs?: number | undefined
}

/** Sent, but the response was lost: read the state before anything else. */
export class UncertainError extends PeragoError {
  readonly kind = 'uncertain'
  readonly read: string
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, message: string, options: UncertainErrorOptions) {
    super(code, message, options)
    this.read = options.read
    this.retryAfterMs = options.retryAfterMs
  }
}

/** A bug in perago, or a broken invariant. */
export class DefectError extends PeragoError {
  readonly kind = 'defect'
}

/** True for errors of perago, from any copy of the package. */
export function isPeragoError(value: unknown): value is PeragoError {
  return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[BRAND] === true
}

/** The kind of anything thrown; an error that is not ours was not expected, so it is a defect. */
export function errorKindOf(error: unknown): ErrorKind {
  return isPeragoError(error) ? error.kind : 'defect'
}

/** The message of anything thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message
  // The text of an object or a function may be its whole content, and asking for it may throw.
  if (typeof thrown === 'object' && thrown !== null) return Object.prototype.toString.call(thrown)
  return typeof thrown === 'function' ? 'a function' : String(thrown)
}

/** Throws a defect where the condition is false. One condition per call. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new DefectError('base/invariant', `invariant broken: ${message}`)
}

/** The default of an exhaustive switch: does not compile where a case is missing. */
export function unreachable(value: never, what: string): never {
  throw new DefectError('base/unreachable', `${what}: no case for ${JSON.stringify(value)}`)
}
