/** The events of a worker, for metrics, spans and logs. Observers never change what they observe. */

import type { ErrorCode } from '../base/errors.ts'
import type { StepEvent } from '../base/steps.ts'
import type { PublicationStep } from '../publication/steps.ts'
import type { ResultStatus } from './ports.ts'
import type { AttemptInfo } from '../tasks/task-definition.ts'

/** The steps of an attempt, in their order. A publication reports its own steps as well. */
export type AttemptStep =
  | 'read-input'
  | 'lay-out'
  | 'pre-guardrails'
  | 'body'
  | 'post-guardrails'
  | 'compare'
  | 'publish'
  | 'hand-over'
  | 'release-lease'
  | 'deliver'
  | 'clean-up'

export type AttemptStepEvent = StepEvent<AttemptStep | `publish/${PublicationStep}`>

/** How an attempt ended, and what became of its result. */
export interface AttemptSummary {
  readonly status: ResultStatus
  /** What its publication did; `undefined` if there was none. */
  readonly action: string | undefined
  /** `superseded`: the task was decided without this result. `kept`: the result waits in the outbox. */
  readonly delivery: 'delivered' | 'superseded' | 'kept' | 'refused'
  readonly errorCode: ErrorCode | undefined
  readonly durationMs: number
}

export type WorkerEvent =
  | {
      readonly kind: 'poll'
      readonly taskType: string
      readonly claimed: number
      readonly durationMs: number
      readonly error?: unknown
    }
  | { readonly kind: 'attempt-started'; readonly attempt: AttemptInfo; readonly executionId: string }
  | {
      readonly kind: 'step'
      readonly attempt: AttemptInfo
      readonly executionId: string
      readonly event: AttemptStepEvent
    }
  | {
      readonly kind: 'progress'
      readonly attempt: AttemptInfo
      readonly done: number
      readonly total: number | undefined
      readonly what: string | undefined
    }
  /** Another workflow that has not ended may write the branch of this attempt. */
  | {
      readonly kind: 'branch-shared'
      readonly attempt: AttemptInfo
      readonly repository: string
      readonly branch: string
      readonly workflows: readonly string[]
    }
  | { readonly kind: 'lease-lost'; readonly attempt: AttemptInfo; readonly error: unknown }
  | {
      readonly kind: 'attempt-ended'
      readonly attempt: AttemptInfo
      readonly executionId: string
      readonly summary: AttemptSummary
    }
  | { readonly kind: 'outbox'; readonly waiting: number }

export type WorkerObserver = (event: WorkerEvent) => void

/** Passes events to several observers. */
export function tellAll(observers: readonly WorkerObserver[]): WorkerObserver {
  return (event) => {
    for (const observe of observers) {
      try {
        observe(event)
      } catch {
        // An observer that fails must not change what it observes.
      }
    }
  }
}
