/** What a worker tells whoever watches it: metrics, spans, health. Watching never changes what is watched. */

import type { ErrorCode } from '../base/errors.ts'
import type { StepEvent } from '../base/steps.ts'
import type { PublicationStep } from '../publication/steps.ts'
import type { ResultStatus } from './ports.ts'
import type { AttemptInfo } from '../tasks/task-definition.ts'

/** The steps of an attempt, in their order. A publication tells its own steps besides. */
export const ATTEMPT_STEPS = [
  'read-input',
  'lay-out',
  'pre-guardrails',
  'body',
  'post-guardrails',
  'compare',
  'publish',
  'hand-over',
  'release-lease',
  'deliver',
  'clean-up',
] as const
export type AttemptStep = (typeof ATTEMPT_STEPS)[number]

export type AttemptStepEvent = StepEvent<AttemptStep | `publish/${PublicationStep}`>

/** How an attempt ended, and what became of its result. */
export interface AttemptSummary {
  readonly status: ResultStatus
  /** What its publication did; `undefined` where there was none. */
  readonly action: string | undefined
  /** `superseded`: somebody else decided the task. `kept`: the result waits in the outbox. */
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

/** Tells several watchers; one that throws is its owner's concern. */
export function tellAll(observers: readonly WorkerObserver[]): WorkerObserver {
  return (event) => {
    for (const observe of observers) {
      try {
        observe(event)
      } catch {
        // A watcher that fails must not change what it watches.
      }
    }
  }
}
