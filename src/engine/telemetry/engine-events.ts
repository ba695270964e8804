/** What an engine tells of itself, for metrics, log records and spans. Observers never change what they observe. */

import type { NewEvent } from '../../core/events/event.ts'
import type { AttemptRow, Execution, ExecutionTrace } from '../protocol/execution.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { HandOut } from '../scheduling/schedule.ts'

/** A step was stored: an execution was submitted, or changed. */
export interface StepStored {
  readonly kind: 'step'
  /** `undefined`: it was submitted. */
  readonly before: Execution | undefined
  readonly after: Execution
  /** The attempts that the step changed. */
  readonly rows: readonly { readonly before: AttemptRow | undefined; readonly after: AttemptRow }[]
  /** What the step wrote into the log of the execution. */
  readonly log: readonly NewEvent[]
  /** From the decision until it was stored. */
  readonly durationMs: number
}

/** A graph was checked, to be kept or to be run. */
export interface GraphParsed {
  readonly kind: 'graph-parsed'
  readonly name: string
  readonly units: number
  readonly endMs: number
  readonly durationMs: number
  readonly error?: unknown
  /** Of the execution that is to run it. */
  readonly start?: { readonly workflowId: WorkflowId; readonly trace: ExecutionTrace }
}

/** A checkpoint is durable. */
export interface CheckpointTaken {
  readonly kind: 'checkpoint-taken'
  readonly execution: Execution
  readonly checkpointId: string
  readonly phaseId: string | undefined
  readonly storedBytes: number
  readonly endMs: number
  readonly durationMs: number
}

/** A worker got a task. */
export interface TaskHandedOut {
  readonly kind: 'task-handed-out'
  readonly task: HandOut
}

export type EngineEvent = StepStored | GraphParsed | CheckpointTaken | TaskHandedOut
export type EngineObserver = (event: EngineEvent) => void

/** Passes events to several observers. */
export function tellObservers(observers: readonly EngineObserver[]): EngineObserver {
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
