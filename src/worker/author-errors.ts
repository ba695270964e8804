/** What a task author throws to say what should happen next. */

import { InvalidError, RefusedError, UnavailableError, type PeragoErrorOptions } from '../base/errors.ts'

/**
 * Trying again cannot help: the task fails for good and no retry is made.
 *
 * ```ts
 * if (rows === 0) throw new TerminalError('the supplier sent an empty file')
 * ```
 */
export class TerminalError extends InvalidError {
  constructor(message: string, options?: PeragoErrorOptions) {
    super('task/terminal', message, options)
  }
}

/** Trying again may help: the task fails and is retried as its retry policy says. Any other error does the same. */
export class RetryableError extends UnavailableError {
  constructor(message: string, options?: PeragoErrorOptions) {
    super('task/retryable', message, options)
  }
}

/** The body stopped because its attempt was lost or the worker had to stop. */
export class BodyAbortedError extends RefusedError {
  constructor(message: string, options?: PeragoErrorOptions) {
    super('worker/body-aborted', message, options)
  }
}
