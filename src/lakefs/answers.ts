/**
 * What an answer means, and what a missing answer means. Pure: no clock, no network.
 *
 * Decided by status alone, with two hints from the text that can only make a verdict kinder or clearer and fall back to
 * the careful one when the wording changes: `predicate failed` (contention, surely not done) and `invalid API endpoint`
 * (the server does not know the operation).
 */

import type { ErrorCode, ErrorKind } from '../base/errors.ts'
import type { Break } from '../remote/http-exchange.ts'
import { operationRow, type ExpectedRefusal, type OperationClass, type OperationName } from './operations.ts'

/** As much of an answer as a verdict needs. */
export interface Answer {
  readonly status: number
  /** The body was a JSON document, as every lakeFS answer to a refused request is. */
  readonly isJson: boolean
  /** The server's own words, when its body had any. */
  readonly message: string | undefined
}

export type Verdict =
  | { readonly is: 'done' }
  | { readonly is: ExpectedRefusal }
  | { readonly is: 'error'; readonly kind: ErrorKind; readonly code: ErrorCode; readonly next: string }

interface StatusRow {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly next: string
}

const TRY_LATER = 'Try again later; nothing was done.'

/** Statuses that mean the same for every operation that does not foresee them. */
export const STATUS_ROWS: Readonly<Record<number, StatusRow>> = {
  400: { kind: 'invalid', code: 'lakefs/bad-request', next: 'Correct what the server names.' },
  401: {
    kind: 'invalid',
    code: 'lakefs/unauthorized',
    next: 'Check the access key id and the secret access key.',
  },
  403: {
    kind: 'refused',
    code: 'lakefs/forbidden',
    next: 'Look at the branch protection, whether the repository is read-only, and what the key may do.',
  },
  404: {
    kind: 'missing',
    code: 'lakefs/not-found',
    next: 'Check the names of repository, branch and commit.',
  },
  408: { kind: 'unavailable', code: 'lakefs/request-timeout', next: TRY_LATER },
  409: {
    kind: 'refused',
    code: 'lakefs/conflict',
    next: 'Read the present state and decide again.',
  },
  410: {
    kind: 'missing',
    code: 'lakefs/gone',
    next: 'The data behind it is gone, or the repository is being deleted; look at the storage.',
  },
  412: { kind: 'refused', code: 'lakefs/precondition', next: 'Read the present state and decide again.' },
  416: { kind: 'invalid', code: 'lakefs/bad-range', next: 'Stat the object and ask for a range inside it.' },
  423: { kind: 'unavailable', code: 'lakefs/locked', next: TRY_LATER },
  429: { kind: 'unavailable', code: 'lakefs/too-many-requests', next: TRY_LATER },
  501: {
    kind: 'invalid',
    code: 'lakefs/not-supported',
    next: 'Use a server or a storage that supports the operation.',
  },
  503: { kind: 'unavailable', code: 'lakefs/overloaded', next: TRY_LATER },
}

/** Any 5xx without a row of its own, by what the operation may do. */
export const TROUBLE_KIND: Readonly<Record<OperationClass, ErrorKind>> = {
  safe: 'unavailable',
  idempotent: 'uncertain',
  'look-before-repeat': 'uncertain',
}

const CONTENTION: Verdict = {
  is: 'error',
  kind: 'unavailable',
  code: 'lakefs/contention',
  next: 'Others write to the same branch; try again.',
}

const NOT_LAKEFS = {
  is: 'error',
  kind: 'invalid',
  code: 'lakefs/not-lakefs',
  next: 'Check the endpoint: it must be the address of a lakeFS server, and no proxy may answer in its place.',
} as const satisfies Verdict

const TOO_OLD: Verdict = {
  is: 'error',
  kind: 'invalid',
  code: 'lakefs/server-too-old',
  next: 'Upgrade the lakeFS server; it does not know this operation.',
}

/** What the answer to an operation means. */
export function classifyAnswer(operation: OperationName, answer: Answer): Verdict {
  const { status } = answer
  const row = operationRow(operation)
  if (row.done.includes(status) && (answer.isJson || status === 204 || row.body !== undefined)) {
    return { is: 'done' }
  }
  if (status >= 500) return classifyTrouble(operation, answer)
  // Credentials are refused by proxies too, in a form of their own.
  if (status === 401) return errorOf(401)
  if (status < 400) {
    // A redirect, or a page where data belongs: somebody else answered. Yet a success we cannot read may still be one.
    if (status >= 300 || row.class === 'safe') return NOT_LAKEFS
    return {
      is: 'error',
      kind: 'uncertain',
      code: 'lakefs/unknown-answer',
      next: `Check that the endpoint is a lakeFS server; before trying again, read ${row.read}.`,
    }
  }
  if (UNSHAPED_STATUSES.has(status)) return errorOf(status)
  if (!answer.isJson) return NOT_LAKEFS
  if (status === 404 && answer.message === 'invalid API endpoint') return TOO_OLD
  const expected = row.values[status]
  return expected === undefined ? errorOf(status) : { is: expected }
}

/** Said by load balancers as well as by lakeFS, in whatever form: nothing was done either way. */
const UNSHAPED_STATUSES: ReadonlySet<number> = new Set([408, 423, 429])

function classifyTrouble(operation: OperationName, answer: Answer): Verdict {
  if (STATUS_ROWS[answer.status] !== undefined) return errorOf(answer.status)
  if (answer.status === 500 && answer.message?.includes('predicate failed') === true) return CONTENTION
  const row = operationRow(operation)
  return {
    is: 'error',
    kind: TROUBLE_KIND[row.class],
    code: 'lakefs/server-trouble',
    next:
      row.class === 'safe'
        ? 'Try again; look into the server log if it stays.'
        : `Before trying again, read ${row.read}.`,
  }
}

function errorOf(status: number): Verdict {
  // Every other 4xx says that the request is wrong, in a way this table need not tell apart.
  const row = STATUS_ROWS[status] ?? STATUS_ROWS[400]
  return row === undefined ? NOT_LAKEFS : { is: 'error', ...row }
}

export type BreakVerdict = {
  readonly kind: 'unavailable' | 'uncertain' | 'invalid'
  readonly code: ErrorCode
  readonly next: string
}

/** What it means that no answer came. */
export function classifyBreak(operation: OperationName, broken: Break): BreakVerdict {
  const row = operationRow(operation)
  if (!broken.sent) {
    return {
      kind: 'unavailable',
      code: 'lakefs/unreachable',
      next: 'Check the endpoint and that the server is running.',
    }
  }
  if (row.class === 'safe') {
    if (broken.how === 'not-http')
      return { kind: 'invalid', code: 'lakefs/not-lakefs', next: NOT_LAKEFS.next }
    return { kind: 'unavailable', code: 'lakefs/answer-lost', next: 'Try again.' }
  }
  return { kind: 'uncertain', code: 'lakefs/answer-lost', next: `Before trying again, read ${row.read}.` }
}
