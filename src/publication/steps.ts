/** The steps of a publication, told to whoever observes: for spans, metrics, logs, and the tests of their order. */

import type { Clock } from '../base/clock.ts'
import { abortReason } from '../base/clock.ts'
import { isPeragoError } from '../base/errors.ts'

export const PUBLICATION_STEPS = [
  'attempt-fence',
  'open-staging',
  'upload',
  'commit-staging',
  'verify-staging',
  'read-facts',
  'publish-fence',
  'keep-superseded',
  'merge',
  'replace',
  'relocate',
  'verify',
  'keep-evidence',
  'clean-up',
] as const
export type PublicationStep = (typeof PUBLICATION_STEPS)[number]

export interface StepEvent {
  readonly step: PublicationStep
  readonly durationMs: number
  /** `refused`: a fence said no. `lost`: the answer to a write was lost, and the branch is read again. */
  readonly outcome: 'done' | 'refused' | 'lost' | 'failed'
  readonly details: Readonly<Record<string, unknown>>
  readonly error?: unknown
}

/** Called after each step. What it throws is ignored: watching must not change a publication. */
export type PublicationObserver = (event: StepEvent) => void

export interface StepRecorder {
  /** Runs one step; what it returns may be described for the observer. */
  run<T>(
    step: PublicationStep,
    work: () => Promise<T>,
    describe?: (result: T) => Readonly<Record<string, unknown>>,
  ): Promise<T>
  /** Tells of a step that is over in no time. */
  tell(step: PublicationStep, event: Partial<StepEvent>): void
}

export function createStepRecorder(options: {
  readonly clock: Clock
  readonly observer: PublicationObserver | undefined
  readonly signal: AbortSignal | undefined
}): StepRecorder {
  const { clock, observer, signal } = options
  const tell = (step: PublicationStep, event: Partial<StepEvent>): void => {
    try {
      observer?.({ step, durationMs: 0, outcome: 'done', details: {}, ...event })
    } catch {
      // An observer that fails is its owner's concern; the publication has facts to attend to.
    }
  }
  return {
    tell,
    async run(step, work, describe) {
      // Keeping evidence and cleaning up go on after an abort; everything else begins nothing new.
      if (signal?.aborted === true && step !== 'keep-evidence' && step !== 'clean-up')
        throw abortReason(signal)
      const startMs = clock.monotonicMs()
      const elapsed = (): number => clock.monotonicMs() - startMs
      try {
        const result = await work()
        tell(step, { durationMs: elapsed(), details: describe?.(result) ?? {} })
        return result
      } catch (error) {
        tell(step, { durationMs: elapsed(), outcome: outcomeOf(error), error })
        throw error
      }
    },
  }
}

function outcomeOf(error: unknown): StepEvent['outcome'] {
  if (!isPeragoError(error)) return 'failed'
  if (error.kind === 'uncertain') return 'lost'
  return error.kind === 'refused' ? 'refused' : 'failed'
}
