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

/** Whatever else the body threw. Its message is the author's; trying again may help. */
export class BodyFailedError extends UnavailableError {
  constructor(cause: unknown) {
    super('task/failed', `the body failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

/** The worker is asked to stop and its deadline has passed: the task is handed back, and another worker begins anew. */
export class WorkerStoppingError extends RefusedError {
  constructor() {
    super('worker/stopping', 'run the task: the worker had to stop before it was done', {
      next: 'Nothing needs doing: the task is offered to the next worker that asks.',
    })
  }
}

/** This process may act no more: whoever started it is gone, and another may have taken its place. */
export class WorkerAbandonedError extends RefusedError {
  constructor(why: string) {
    super('worker/abandoned', `run the task: ${why}`, {
      next: 'Nothing needs doing: the task is handed out again when its response timeout is noticed.',
    })
  }
}

/** The process that had the task is gone, and left no result. Said by the one that came after it. */
export class WorkerProcessEndedError extends UnavailableError {
  constructor() {
    super('worker/process-ended', 'run the task: the worker process ended while it had the task', {
      next: 'Look into the log of the worker. A body that may crash or exit belongs into a process of its own: runIn "process".',
    })
  }
}
