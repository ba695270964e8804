/** Errors that a host sends, and that the worker throws again. */

import { describeError } from '../../base/error-description.ts'
import { isPeragoError, messageOf, PeragoError, type ErrorKind } from '../../base/errors.ts'
import type { HostedFailure } from './protocol.ts'

/** What a body threw in another thread or process, with its kind and code. */
export class HostedError extends PeragoError {
  readonly kind: ErrorKind
  /** The stack in the host; for the task's log, never for the result. */
  readonly hostStack: string | undefined

  constructor(failure: HostedFailure) {
    super(failure.code, failure.message, {
      ...(failure.details === undefined ? {} : { details: failure.details }),
      ...(failure.next === undefined ? {} : { next: failure.next }),
    })
    this.kind = failure.kind
    this.hostStack = failure.stack
  }
}

export function describeForParent(error: unknown): HostedFailure {
  const isOurs = isPeragoError(error)
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {}
  if (isOurs) return { ...describeError(error), isOurs, ...stack }
  // An error of the author's code.
  const message = messageOf(error)
  return {
    kind: 'unavailable',
    code: 'task/failed',
    message: `the body failed: ${message}`,
    isOurs,
    ...stack,
  }
}
