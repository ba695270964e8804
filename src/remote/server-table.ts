/**
 * The table of a server: every request perago sends it, whether it may be repeated, and what each response means.
 * Pure: no clock, no network.
 *
 * - `safe`: only reads, or leaves nothing that anybody can see. Repeated freely.
 * - `idempotent`: twice has the same effect as once. Repeated; when the last response was lost as well, the outcome is
 *   `uncertain`, and `read` says what to look at.
 * - `look-before-repeat`: a second request could do harm or give a wrong answer. Never repeated once the server may have
 *   received it: the outcome is `uncertain`, and `read` says what to look at.
 */

import type { ErrorCode, ErrorKind } from '../base/errors.ts'
import type { Break } from './http-exchange.ts'

export type OperationClass = 'safe' | 'idempotent' | 'look-before-repeat'

interface RowBase {
  /** For messages: `read the branch`. */
  readonly doing: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As the contract writes it, with the names of its parts in braces. */
  readonly path: string
  /** The statuses of a success, where they are not those of the table. */
  readonly done?: readonly number[]
  /** Statuses that are a value for the caller, not an error. */
  readonly values?: Readonly<Partial<Record<number, string>>>
  /**
   * The body of a success: a JSON document by default (nothing with 204). `text`: not empty and not a web page. `none`:
   * not a web page. `any`: whatever comes.
   */
  readonly body?: 'text' | 'none' | 'any'
  /** The caller repeats it at its own pace and must see every failure at once: never retried here. */
  readonly isPacedByCaller?: true
  /** The caller reads before each sending what may have changed: sent once, not again with new credentials either. */
  readonly isSentOnce?: true
}

export type OperationRow =
  | (RowBase & { readonly class: 'safe' })
  | (RowBase & {
      readonly class: 'idempotent' | 'look-before-repeat'
      /** What shows whether the request took effect. */
      readonly read: string
    })

export interface FailureRow {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly next: string
  /** It may come after the deed: to an operation that is not `safe`, its kind is `uncertain`. */
  readonly mayBeDone?: true
}

export interface ServerTable<Name extends string = string> {
  /** For messages: `lakeFS`. */
  readonly server: string
  readonly retryLogLevel: 'debug' | 'warn'
  readonly operations: Readonly<Record<Name, OperationRow>>
  /** The statuses of a success. */
  readonly done: readonly number[]
  /** Statuses that mean the same for every operation that has no value for them. */
  readonly statuses: Readonly<Record<number, FailureRow>>
  /** Any other 4xx. */
  readonly badRequest: FailureRow
  /** The response is not from such a server. */
  readonly wrongServer: FailureRow
  /** Nothing was sent. */
  readonly unreachable: FailureRow
  /** For an operation of the class `safe`: a 5xx that is not in the table; no complete response; one that is not HTTP. */
  readonly safe: Readonly<Record<'trouble' | 'answerLost' | 'notHttp', FailureRow>>
  /** The same for any other, and a success whose body cannot be read. The "…" of `next`: what shows whether it took effect. */
  readonly unsafe: Readonly<Record<'trouble' | 'answerLost' | 'unknownAnswer', FailureRow>>
  /** Used after it was closed. */
  readonly closed: ErrorCode
  /** Whether this server refuses requests in this form; otherwise a proxy did. */
  isOwnRefusal(answer: Answer): boolean
  /** The server's own words in a refusal. */
  messageOf(answer: Answer): string | undefined
  /** What only this server says in its own way; asked before the rest of the table. */
  exception(operation: Name, answer: Answer): FailureRow | undefined
}

export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** The parsed body; `undefined` when it is not JSON. */
  readonly json: unknown
}

export type Verdict =
  | { readonly is: 'done' }
  | { readonly is: 'value'; readonly value: string }
  | { readonly is: 'error'; readonly failure: FailureRow }

/** What the response to an operation means. */
export function classifyAnswer<Name extends string>(
  table: ServerTable<Name>,
  operation: Name,
  answer: Answer,
): Verdict {
  const { status } = answer
  const row = table.operations[operation]
  if (isDone(table, operation, status) && hasExpectedBody(row, answer)) return { is: 'done' }
  const value = row.values?.[status]
  const failure = table.exception(operation, answer) ?? classifyFailure(table, operation, answer)
  if (failure === undefined && value !== undefined) return { is: 'value', value }
  const found = failure ?? table.statuses[status] ?? table.badRequest
  return { is: 'error', failure: found.mayBeDone === true ? afterTheDeed(table, row, found) : found }
}

function afterTheDeed(
  { unsafe }: Pick<ServerTable, 'unsafe'>,
  row: OperationRow,
  failure: FailureRow,
): FailureRow {
  if (row.class === 'safe') return failure
  return uncertain({ ...failure, kind: 'uncertain', next: unsafe.trouble.next }, row.read)
}

/** `undefined`: the rows of the operation and of the status decide. */
function classifyFailure<Name extends string>(
  table: ServerTable<Name>,
  operation: Name,
  answer: Answer,
): FailureRow | undefined {
  const row = table.operations[operation]
  if (answer.status < 400) return strangeAnswer(table, operation)
  if (answer.status < 500) return table.isOwnRefusal(answer) ? undefined : table.wrongServer
  const trouble = row.class === 'safe' ? table.safe.trouble : uncertain(table.unsafe.trouble, row.read)
  return table.statuses[answer.status] ?? trouble
}

/** A success that this server does not send: another server responded, or the request took effect nevertheless. */
export function strangeAnswer<Name extends string>(table: ServerTable<Name>, operation: Name): FailureRow {
  const row = table.operations[operation]
  return row.class === 'safe' ? table.wrongServer : uncertain(table.unsafe.unknownAnswer, row.read)
}

/** What it means that no complete response came. */
export function classifyBreak<Name extends string>(
  table: ServerTable<Name>,
  operation: Name,
  broken: Break,
): FailureRow {
  if (!broken.sent) return table.unreachable
  const row = table.operations[operation]
  if (row.class !== 'safe') return uncertain(table.unsafe.answerLost, row.read)
  return broken.how === 'not-http' ? table.safe.notHttp : table.safe.answerLost
}

/** The row of an operation that is not `safe`, with what to read. */
export function uncertain({ next, ...row }: FailureRow, read: string): FailureRow {
  return { ...row, next: next.replace('…', () => read) }
}

export function isDone<Name extends string>(
  { operations, done }: ServerTable<Name>,
  operation: Name,
  status: number,
): boolean {
  return (operations[operation].done ?? done).includes(status)
}

function hasExpectedBody({ body }: OperationRow, { status, contentType, text, json }: Answer): boolean {
  if (body === undefined) return json !== undefined || status === 204
  if (body === 'any') return true
  // A proxy's login page is a 200, too.
  const isPage = contentType.startsWith('text/html') || text.trimStart().startsWith('<')
  return !isPage && (body === 'none' || text !== '')
}
