/** Errors that a task author throws to decide what happens next. */

import { originOf } from '../base/error-origin.ts'
import {
  InvalidError,
  messageOf,
  RefusedError,
  UnavailableError,
  type PeragoErrorOptions,
} from '../base/errors.ts'

/**
 * A retry cannot help: the task fails without one.
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

/** A retry may help: the task fails and is retried by its retry policy, as with any other error. */
export class RetryableError extends UnavailableError {
  constructor(message: string, options?: PeragoErrorOptions) {
    super('task/retryable', message, options)
  }
}

/**
 * An executor does not run units any more: what it had is given back, without using up a retry, and goes to another one.
 *
 * ```ts
 * if (!response.ok) throw new ExecutorLostError('the site does not answer')
 * ```
 */
export class ExecutorLostError extends UnavailableError {
  constructor(message: string, options?: PeragoErrorOptions) {
    super('worker/executor-lost', message, {
      next: 'No action is needed: another executor of its kind gets the unit, or this one when it is back.',
      ...options,
    })
  }
}

/** The body stopped because its attempt was lost or the worker had to stop. */
export class BodyAbortedError extends RefusedError {
  constructor(message: string, options?: PeragoErrorOptions) {
    super('worker/body-aborted', message, options)
  }
}

/** Any other error of the body. A retry may help. */
export class BodyFailedError extends UnavailableError {
  /** `isStray`: nobody awaited what threw it. */
  constructor(cause: unknown, { isStray = false }: { readonly isStray?: boolean } = {}) {
    const where = originOf(cause)
    super('task/failed', `the body failed${isStray ? ' where nobody awaits it' : ''}: ${messageOf(cause)}`, {
      cause,
      next: isStray
        ? `Await it, or catch it${where === undefined ? '' : `; it was thrown at ${where}`}.`
        : where && `Look at ${where}.`,
    })
  }
}

/** The body ended its process, or tried to. `where`: the file and line of the call. */
export class BodyExitedError extends UnavailableError {
  constructor(code: string | number | null | undefined, where: string | undefined) {
    super('worker/body-exited', `the body called process.exit(${code ?? ''})`, {
      next: `Return the result or throw an error instead${where === undefined ? '' : `, at ${where}`}.`,
    })
  }
}

/** The worker must stop and its deadline has passed: the task is handed back, and another worker starts it again. */
export class WorkerStoppingError extends RefusedError {
  constructor() {
    super('worker/stopping', 'run the task: the worker had to stop before it was done', {
      next: 'No action is needed: the next worker that polls gets the task.',
    })
  }
}

/** This process must not act any more: its parent has ended, and another may have replaced it. */
export class WorkerAbandonedError extends RefusedError {
  constructor(why: string) {
    super('worker/abandoned', `run the task: ${why}`, {
      next: 'No action is needed: the task is offered again after its response timeout.',
    })
  }
}

/** The process that had the task ended without a result. Reported by the process that replaces it. */
export class WorkerProcessEndedError extends UnavailableError {
  /** `how` it ended, where that is known. */
  constructor(how?: string) {
    const told = how === undefined ? '' : `: ${how}`
    super('worker/process-ended', `run the task: the worker process ended while it had the task${told}`, {
      next: 'Check the log of the worker. Run a body that may crash or exit in a separate process: runIn "process".',
    })
  }
}
