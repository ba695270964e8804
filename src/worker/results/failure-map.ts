/** What the task queue is told when an attempt fails. The one place where an error becomes a status. */

import { describeError, renderError } from '../../base/error-description.ts'
import { DefectError, errorKindOf, isPeragoError, type ErrorCode, type ErrorKind } from '../../base/errors.ts'
import { CONDUCTOR_REASON_MAX_CHARS } from '../limits.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { ResultStatus } from '../ports.ts'

/** `IN_PROGRESS` hands the task back: it is offered again, and no retry is used up. */
export type FailureStatus = Exclude<ResultStatus, 'COMPLETED'>

/**
 * Codes whose status is not that of their kind. Everything that is not here follows `STATUS_OF_KIND`.
 * `fences/publish-refused` can be set to `FAILED` by whoever runs the worker.
 */
export const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, FailureStatus>>> = {
  // The input itself is wrong: the same commit and the same parameters would fail again.
  'worker/invalid-input': 'FAILED_WITH_TERMINAL_ERROR',
  'worker/external-input': 'FAILED_WITH_TERMINAL_ERROR',
  'worker/invalid-params': 'FAILED_WITH_TERMINAL_ERROR',
  'workspace/pre-guardrail': 'FAILED_WITH_TERMINAL_ERROR',
  'workspace/unsafe-keys': 'FAILED_WITH_TERMINAL_ERROR',
  'task/terminal': 'FAILED_WITH_TERMINAL_ERROR',
  // A branch that moved on does not move back for a retry.
  'fences/publish-refused': 'FAILED_WITH_TERMINAL_ERROR',
  'conductor/payload-too-large': 'FAILED_WITH_TERMINAL_ERROR',
  // The task did nothing wrong, so it loses no retry.
  'worker/stopping': 'IN_PROGRESS',
}

/** A body that fails may do better next time, whatever it failed with: so every kind is retried. */
export const STATUS_OF_KIND: Readonly<Record<ErrorKind, FailureStatus>> = {
  invalid: 'FAILED',
  missing: 'FAILED',
  refused: 'FAILED',
  unavailable: 'FAILED',
  uncertain: 'FAILED',
  defect: 'FAILED',
}

export interface FailureOptions {
  readonly redactor: Redactor
  /** What a refused publication becomes; terminal unless set. */
  readonly publishRefused?: Exclude<FailureStatus, 'IN_PROGRESS'> | undefined
}

export interface Failure {
  readonly status: FailureStatus
  /** One line, redacted, with code and next step, no stack and no local path. */
  readonly reason: string
}

/** Decides what the queue is told of an error. */
export function mapFailure(error: unknown, options: FailureOptions): Failure {
  return { status: statusOf(error, options), reason: renderReason(error, options.redactor) }
}

function statusOf(error: unknown, { publishRefused }: FailureOptions): FailureStatus {
  if (isPeragoError(error)) {
    if (error.code === 'fences/publish-refused' && publishRefused !== undefined) return publishRefused
    const status = STATUS_OF_CODE[error.code]
    if (status !== undefined) return status
  }
  return STATUS_OF_KIND[errorKindOf(error)]
}

// A reason is copied into the next attempt and shown to everybody who may see the workflow.
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

/** Something that nobody foresaw, in our own code: what a body throws is a `BodyFailedError`. */
class AttemptFailedError extends DefectError {
  constructor(cause: unknown) {
    super('worker/unexpected', `run the task: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
      next: 'Look into the log of the task, and report what you see.',
    })
  }
}
