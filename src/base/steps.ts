/** Reports the steps of some work to an observer: for spans, metrics, logs, and tests of their order. */

import { abortReason, type Clock } from './clock.ts'
import { errorKindOf } from './errors.ts'

export interface StepEvent<Step extends string> {
  readonly step: Step
  readonly durationMs: number
  /** `refused`: a fence or a state said no. `lost`: a request was sent and its response was lost. */
  readonly outcome: 'done' | 'refused' | 'lost' | 'failed'
  readonly details: Readonly<Record<string, unknown>>
  readonly error?: unknown
}

/** Called after each step. What it throws is ignored: observing must not change the work. */
export type StepObserver<Step extends string> = (event: StepEvent<Step>) => void

type RunStep<Step extends string> = <T>(
  step: Step,
  work: () => T | Promise<T>,
  describe?: (result: T) => Readonly<Record<string, unknown>>,
) => Promise<T>

export interface StepRecorder<Step extends string> {
  /** Runs one step, unless the signal is aborted. `describe` gives the observer details of the result. */
  readonly run: RunStep<Step>
  /** Runs one step even after an abort: for clean-up. */
  readonly runAlways: RunStep<Step>
  /** Reports a step that takes no time. */
  readonly report: (step: Step, event: Partial<StepEvent<Step>>) => void
}

export function createStepRecorder<Step extends string>(options: {
  readonly clock: Clock
  readonly observer: StepObserver<Step> | undefined
  readonly signal?: AbortSignal | undefined
}): StepRecorder<Step> {
  const { clock, observer, signal } = options
  const report = (step: Step, event: Partial<StepEvent<Step>>): void => {
    try {
      observer?.({ step, durationMs: 0, outcome: 'done', details: {}, ...event })
    } catch {
      // See StepObserver.
    }
  }
  const runAlways: RunStep<Step> = async (step, work, describe) => {
    const startMs = clock.monotonicMs()
    const elapsed = (): number => clock.monotonicMs() - startMs
    try {
      const result = await work()
      report(step, { durationMs: elapsed(), details: describe?.(result) ?? {} })
      return result
    } catch (error) {
      report(step, { durationMs: elapsed(), outcome: outcomeOf(error), error })
      throw error
    }
  }
  return {
    report,
    runAlways,
    async run(step, work, describe) {
      if (signal?.aborted === true) throw abortReason(signal)
      return runAlways(step, work, describe)
    },
  }
}

/** How a step ended that failed with this error. */
export function outcomeOf(error: unknown): 'refused' | 'lost' | 'failed' {
  const kind = errorKindOf(error)
  return kind === 'uncertain' ? 'lost' : kind === 'refused' ? 'refused' : 'failed'
}
