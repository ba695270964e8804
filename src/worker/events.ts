/** The events of a worker, for metrics, spans and logs. Observers never change what they observe. */

import type { ErrorCode } from '../base/errors.ts'
import type { StepEvent } from '../base/steps.ts'
import type { FenceStrength } from '../publication/strategy.ts'
import type { PublicationStep } from '../publication/steps.ts'
import type { OutageOf } from './outages/outage.ts'
import type { ResultStatus } from './ports.ts'
import type { AttemptInfo } from '../tasks/task-definition.ts'

/** The steps of an attempt, in their order; `look-at-branch` runs beside `lay-out`. A publication reports its own steps as well. */
export type AttemptStep =
  | 'read-input'
  | 'adopt'
  | 'look-at-branch'
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
  /** Of the fence that held for it. */
  readonly strength: FenceStrength | undefined
  /** `superseded`: the task was decided without this result. `kept`: the result waits in the outbox. */
  readonly delivery: 'delivered' | 'superseded' | 'kept' | 'refused'
  readonly errorCode: ErrorCode | undefined
  readonly durationMs: number
  /** The commit that the branch has after a publication. */
  readonly outputRef?: string | undefined
  /** Files, against the input; `undefined` if the attempt did not come to that. */
  readonly changed?: ChangedFiles | undefined
}

export interface ChangedFiles {
  readonly written: number
  readonly deleted: number
}

export type WorkerEvent =
  | {
      readonly kind: 'poll'
      readonly taskType: string
      readonly claimed: number
      readonly durationMs: number
      readonly error?: unknown
    }
  | {
      readonly kind: 'attempt-started'
      readonly attempt: AttemptInfo
      readonly executionId: string
      /** The span that its own is below, from a queue that has one. */
      readonly traceparent?: string | undefined
    }
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
      /** What it failed with. */
      readonly error?: unknown
    }
  /** Results found undelivered; `oldestMs` is the age of the oldest. */
  | { readonly kind: 'outbox'; readonly waiting: number; readonly oldestMs?: number }
  /** Tasks that need what is missing are not taken until it has ended. */
  | { readonly kind: 'outage-began'; readonly what: OutageOf; readonly why: string }
  | { readonly kind: 'outage-ended'; readonly what: OutageOf; readonly durationMs: number }
  /** A look for staging branches that were left behind; `kept` are those that are there still. */
  | {
      readonly kind: 'staging-looked'
      readonly repository: string
      readonly removed: number
      readonly kept: number
    }

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
