/** What is reported to the task queue when an attempt fails: the one place where an error becomes a status. */

import { describeError, renderError } from '../../base/error-description.ts'
import { DefectError, isPeragoError, messageOf, type ErrorCode } from '../../base/errors.ts'
import { CONDUCTOR_REASON_MAX_CHARS } from '../limits.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { ResultStatus } from '../ports.ts'

/** `IN_PROGRESS` hands the task back: it is offered again, and no retry is used up. */
export type FailureStatus = Exclude<ResultStatus, 'COMPLETED'>

/**
 * Every other code is `FAILED`: the body may succeed the next time, whatever it failed with. The status of
 * `fences/publish-refused` is an option of the worker.
 */
export const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, FailureStatus>>> = {
  // The input is wrong: the same commit and the same parameters would fail again.
  'worker/invalid-input': 'FAILED_WITH_TERMINAL_ERROR',
  'worker/external-input': 'FAILED_WITH_TERMINAL_ERROR',
  'worker/invalid-params': 'FAILED_WITH_TERMINAL_ERROR',
  'worker/missing-input': 'FAILED_WITH_TERMINAL_ERROR',
  'workspace/pre-guardrail': 'FAILED_WITH_TERMINAL_ERROR',
  'workspace/unsafe-keys': 'FAILED_WITH_TERMINAL_ERROR',
  'task/terminal': 'FAILED_WITH_TERMINAL_ERROR',
  // A branch that has moved does not move back for a retry.
  'fences/publish-refused': 'FAILED_WITH_TERMINAL_ERROR',
  'publication/not-adopted': 'FAILED_WITH_TERMINAL_ERROR',
  'publication/result-not-recorded': 'FAILED_WITH_TERMINAL_ERROR',
  'conductor/payload-too-large': 'FAILED_WITH_TERMINAL_ERROR',
  'worker/secret-in-result': 'FAILED_WITH_TERMINAL_ERROR',
  // The task is not the cause, so it loses no retry.
  'worker/stopping': 'IN_PROGRESS',
  'worker/server-away': 'IN_PROGRESS',
  'worker/node-fault': 'IN_PROGRESS',
  'worker/executor-lost': 'IN_PROGRESS',
}

export interface FailureOptions {
  readonly redactor: Redactor
  /** The status of a refused publication; `FAILED_WITH_TERMINAL_ERROR` unless set. */
  readonly publishRefused?: Exclude<FailureStatus, 'IN_PROGRESS'> | undefined
}

export interface Failure {
  readonly status: FailureStatus
  /** One line, redacted, with code and next step, no stack and no local path. */
  readonly reason: string
}

/** Decides what the queue is told about an error. */
export function mapFailure(error: unknown, options: FailureOptions): Failure {
  return { status: statusOf(error, options), reason: renderReason(error, options.redactor) }
}

function statusOf(error: unknown, { publishRefused }: FailureOptions): FailureStatus {
  if (!isPeragoError(error)) return 'FAILED'
  if (error.code === 'fences/publish-refused' && publishRefused !== undefined) return publishRefused
  return STATUS_OF_CODE[error.code] ?? 'FAILED'
}

// Local paths are removed: a reason is copied into the next attempt and shown to everybody who may see the workflow.
const ABSOLUTE_PATH =
  /(?<![\w/.])(?:file:\/\/)?(?:\/(?:[\w.@+-]+\/)+|[A-Za-z]:\\(?:[\w.@+-]+\\)+)([\w.@+-]*)/g

function renderReason(error: unknown, redactor: Redactor): string {
  const rendered = renderError(
    describeError(isPeragoError(error) ? error : new AttemptFailedError(error), redactor),
  )
  const line = rendered.replace(/\s+/g, ' ').replace(ABSOLUTE_PATH, '…/$1').trim()
  return line.length <= CONDUCTOR_REASON_MAX_CHARS
    ? line
    : `${line.slice(0, CONDUCTOR_REASON_MAX_CHARS - 1)}…`
}

/** An unexpected error in our own code: what a body throws is a `BodyFailedError`. */
class AttemptFailedError extends DefectError {
  constructor(cause: unknown) {
    super('worker/unexpected', `run the task: ${messageOf(cause)}`, {
      cause,
      next: 'Read the log of the task, and report it.',
    })
  }
}
