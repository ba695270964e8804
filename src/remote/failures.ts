/** The error of a request: what was being done, to what, what came back, and what to do. */

import type { PeragoError } from '../base/errors.ts'
import { oneLine, shortened } from '../base/one-line.ts'
import { makeError } from '../base/told-error.ts'
import type { Break } from './http-exchange.ts'
import { REMOTE_QUOTE_MAX_CHARS } from './limits.ts'
import { classifyBreak, strangeAnswer, uncertain, type FailureRow, type ServerTable } from './server-table.ts'

/** One operation on something. */
export interface Subject<Name extends string = string> {
  readonly operation: Name
  /** What it is done to, for the message and the details of an error; the names in the path by default. */
  readonly target?: object | undefined
  readonly path?: object | undefined
}

/** A body that is not what this server sends; thrown by the functions that read bodies. */
export class ShapeError extends Error {}

/** `merge (repository demo, destination main)`. */
export function describe<Name extends string>(table: ServerTable<Name>, subject: Subject<Name>): string {
  const target = Object.entries(targetOf(subject)).map(([name, value]) => `${name} ${quote(String(value))}`)
  const { doing } = table.operations[subject.operation]
  return target.length === 0 ? doing : `${doing} (${target.join(', ')})`
}

export function failureOf<Name extends string>(
  table: ServerTable<Name>,
  subject: Subject<Name>,
  given: {
    readonly failure: FailureRow
    readonly said: string
    readonly details?: Readonly<Record<string, unknown>>
    readonly retryAfterMs?: number | undefined
    readonly cause?: unknown
  },
): PeragoError {
  const { failure, said, retryAfterMs, cause } = given
  const { kind, code, next } = failure
  const message = `${describe(table, subject)}: ${said}`
  const details = { ...targetOf(subject), operation: subject.operation, ...given.details }
  return makeError({ kind, code, message, next, read: readOf(table, subject), retryAfterMs, details, cause })
}

/** No response, or only the beginning of one. */
export function breakFailure<Name extends string>(
  table: ServerTable<Name>,
  subject: Subject<Name>,
  broken: Break,
  cause: unknown,
): PeragoError {
  return failureOf(table, subject, {
    failure: classifyBreak(table, subject.operation, broken),
    said: `${BREAK_TEXTS[broken.how]}${broken.sent ? '' : ', nothing was sent'}${becauseOf(cause)}`,
    cause,
  })
}

/** A success whose body cannot be read as one. */
export function shapeFailure<Name extends string>(
  table: ServerTable<Name>,
  subject: Subject<Name>,
  problem: string,
): PeragoError {
  return failureOf(table, subject, {
    failure: strangeAnswer(table, subject.operation),
    said: `this is not a response of ${table.server}: ${quote(problem)}`,
  })
}

/** An earlier try may have taken effect although the last one did not. */
export function lostEarlier<Name extends string>(
  table: ServerTable<Name>,
  subject: Subject<Name>,
  cause: unknown,
): PeragoError {
  return failureOf(table, subject, {
    failure: uncertain(table.unsafe.answerLost, readOf(table, subject)),
    said: `the response to an earlier try was lost, and no later try got one${becauseOf(cause)}`,
    cause,
  })
}

/** One line, shortened. */
export function quote(text: string): string {
  return shortened(oneLine(text), REMOTE_QUOTE_MAX_CHARS)
}

const BREAK_TEXTS: Readonly<Record<Break['how'], string>> = {
  dropped: 'the connection broke',
  timeout: 'the server took too long',
  aborted: 'it was aborted',
  'not-http': 'the response is not HTTP',
  late: 'its time to be sent was over',
}

/** What to look at when it is unknown whether the request took effect. */
function readOf<Name extends string>(table: ServerTable<Name>, { operation }: Subject<Name>): string {
  const row = table.operations[operation]
  return row.class === 'safe' ? 'nothing: it changes nothing' : row.read
}

function targetOf({ target, path }: Subject): Readonly<Record<string, unknown>> {
  return { ...(target ?? path) }
}

function becauseOf(cause: unknown): string {
  return cause instanceof Error && cause.message !== '' ? ` (${quote(cause.message)})` : ''
}
