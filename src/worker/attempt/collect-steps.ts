/** Remembers the steps of an attempt with their times, while it passes them on. */

import type { Clock } from '../../base/clock.ts'
import type { AttemptStepEvent } from '../events.ts'
import { STEPS_COLLECTED_MAX } from '../limits.ts'
import type { ToldStep } from '../results/steps-line.ts'

interface Collected {
  readonly told: ToldStep
  readonly startMs: number
  readonly endMs: number
}

/** A step is reported a little after it has ended, so it seems to begin that much later. */
const LATE_MS = 0.2

export function collectSteps(options: {
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  readonly observer: ((event: AttemptStepEvent) => void) | undefined
}) {
  const { clock, observer } = options
  const steps: Collected[] = []
  const collect = ({ step, durationMs }: AttemptStepEvent): void => {
    if (steps.length >= STEPS_COLLECTED_MAX) return
    const endMs = clock.monotonicMs()
    const startMs = endMs - durationMs
    const at = new Date(clock.now().getTime() - durationMs).toISOString()
    // Steps end in another order than they begin: some hold others, or run beside them.
    const isLater = (other: Collected): boolean => other.startMs + LATE_MS > startMs && other.endMs > startMs
    const place = steps.findLastIndex((other) => !isLater(other)) + 1
    steps.splice(place, 0, { told: { step, at, ms: Math.round(durationMs) }, startMs, endMs })
  }
  return {
    observe: (event: AttemptStepEvent): void => {
      collect(event)
      observer?.(event)
    },
    /** By when they began. */
    told: (): readonly ToldStep[] => steps.map(({ told }) => told),
  }
}
