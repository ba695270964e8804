/** Errors that a host sends, and that the worker throws again. */

import { defined } from '../../base/defined.ts'
import { describeError } from '../../base/error-description.ts'
import { isPeragoError, PeragoError, type ErrorKind } from '../../base/errors.ts'
import { BodyFailedError } from '../../tasks/author-errors.ts'
import type { HostedFailure } from './protocol.ts'

/** What a body threw in another thread or process, with its kind and code. */
export class HostedError extends PeragoError {
  readonly kind: ErrorKind
  /** The stack in the host; for the task's log, never for the result. */
  readonly hostStack: string | undefined

  constructor(failure: HostedFailure) {
    super(failure.code, failure.message, defined({ details: failure.details, next: failure.next }))
    this.kind = failure.kind
    this.hostStack = failure.stack
  }
}

export function describeForParent(error: unknown): HostedFailure {
  const thrown = error instanceof BodyFailedError ? error.cause : error
  const stack = thrown instanceof Error ? thrown.stack : undefined
  if (isPeragoError(error)) return { ...describeError(error), stack }
  // An error of the author's code.
  const { kind, code, message, next } = new BodyFailedError(error)
  return { kind, code, message, ...defined({ next }), stack }
}
