/**
 * What an answer means, and what a missing answer means. Pure: no clock, no network.
 *
 * Conductor answers 500 to malformed requests as well as to its own trouble, so the status alone does not tell. The
 * `retryable` in its body was false in every case seen; it therefore means "do not repeat the same request blindly" and
 * never "nothing happened".
 */

import type { ErrorCode, ErrorKind } from '../base/errors.ts'
import type { Break } from '../remote/http-exchange.ts'
import { operationRow, type OperationName } from './operations.ts'

/** As much of an answer as a verdict needs. */
export interface Answer {
  readonly status: number
  /** The body was a refusal in Conductor's own shape. */
  readonly refusal: Refusal | undefined
}

export interface Refusal {
  readonly message: string
  readonly isRetryable: boolean
}

export type Verdict =
  | { readonly is: 'done' }
  | { readonly is: 'missing' }
  | { readonly is: 'error'; readonly kind: ErrorKind; readonly code: ErrorCode; readonly next: string }

type ErrorRow = Extract<Verdict, { is: 'error' }>

const row = (kind: ErrorKind, code: ErrorCode, next: string): ErrorRow => ({ is: 'error', kind, code, next })

const TRY_LATER = 'Try again later; nothing was done.'
const LOOK_FIRST = 'Read before trying again.'

/** Statuses that mean the same whatever was asked, whoever answers. */
export const STATUS_ROWS: Readonly<Record<number, ErrorRow>> = {
  400: row('invalid', 'conductor/bad-request', 'Correct what the server names.'),
  401: row('refused', 'conductor/unauthorized', 'Check the key id and the key secret.'),
  403: row('refused', 'conductor/forbidden', 'Look at what the key may do.'),
  405: row(
    'invalid',
    'conductor/not-conductor',
    'Check the endpoint: it must be the API of a Conductor server.',
  ),
  408: row('unavailable', 'conductor/request-timeout', TRY_LATER),
  409: row('refused', 'conductor/conflict', 'Read the present state and decide again.'),
  413: row('invalid', 'conductor/payload-refused', 'Pass a reference instead of the data.'),
  429: row('unavailable', 'conductor/too-many-requests', TRY_LATER),
}

const NOT_CONDUCTOR = row(
  'invalid',
  'conductor/not-conductor',
  'Check the endpoint: it must be the API of a Conductor server, and no proxy may answer in its place.',
)

/** What the answer to an operation means. */
export function classifyAnswer(operation: OperationName, answer: Answer): Verdict {
  const { status, refusal } = answer
  const { on404, class: operationClass } = operationRow(operation)
  if (status === 200 || status === 204) return { is: 'done' }
  if (status < 400) return operationClass === 'safe' ? NOT_CONDUCTOR : UNKNOWN_ANSWER
  if (status === 404) {
    // A route that does not exist is answered in the same shape. Taking it for "the task is gone" would make a worker
    // drop what it holds because an address is wrong.
    const isNamed = refusal !== undefined && !refusal.message.startsWith('No static resource')
    if (isNamed && on404 === 'missing') return { is: 'missing' }
    // A server without access control has no such route, and that is how it says so.
    return operation === 'createToken' && refusal !== undefined ? { is: 'missing' } : NOT_CONDUCTOR
  }
  if (status >= 500) return classifyTrouble(operation, answer)
  return STATUS_ROWS[status] ?? row('invalid', 'conductor/bad-request', 'Correct what the server names.')
}

/** A success that does not look like one: it may have been done. */
export const UNKNOWN_ANSWER = row('uncertain', 'conductor/unknown-answer', LOOK_FIRST)

/** What a 200 means whose body is not what the operation answers. */
export function classifyStrangeBody(operation: OperationName): ErrorRow {
  return operationRow(operation).class === 'safe' ? NOT_CONDUCTOR : UNKNOWN_ANSWER
}

function classifyTrouble(operation: OperationName, { refusal }: Answer): ErrorRow {
  const operationClass = operationRow(operation).class
  if (refusal?.isRetryable === false) {
    // A result may have been stored before the server failed on what comes after it.
    return operationClass === 'look-before-repeat'
      ? row(
          'uncertain',
          'conductor/not-retryable',
          `${LOOK_FIRST} The same request may fail in the same way.`,
        )
      : row('invalid', 'conductor/not-retryable', 'Correct what the server names, or read its log.')
  }
  // Not even 503 is surely undone: a proxy says it, too, when the server broke off in the middle.
  return operationClass === 'safe'
    ? row('unavailable', 'conductor/server-trouble', 'Try again; look into the server log if it stays.')
    : row('uncertain', 'conductor/server-trouble', LOOK_FIRST)
}

/** What it means that no answer came. */
export function classifyBreak(operation: OperationName, broken: Break): ErrorRow {
  if (!broken.sent)
    return row('unavailable', 'conductor/unreachable', 'Check the endpoint and that the server is running.')
  const found = operationRow(operation)
  if (found.class !== 'safe')
    return row('uncertain', 'conductor/answer-lost', `Before trying again, read ${found.read}.`)
  return broken.how === 'not-http' ? NOT_CONDUCTOR : row('unavailable', 'conductor/answer-lost', 'Try again.')
}
