/** Which of two waiting attempts goes first. Strategies are values of one interface. */

import type { SchedulingOptions } from './options.ts'
import type { Waiting } from './waiting.ts'

export interface Strategy {
  /** Executions that have fewer tasks running go first, whatever `compare` says. */
  readonly isFair: boolean
  /** Negative: `one` goes first. Never 0 for two different attempts. */
  readonly compare: (one: Waiting, other: Waiting) => number
}

/** How many tasks of an execution run now. */
export type Load = (workflowId: Waiting['workflowId']) => number

export function strategyOf({ strategy, riskFirst }: SchedulingOptions): Strategy {
  const direction = riskFirst === 'higher' ? 1 : -1
  const urgency = (one: Waiting, other: Waiting): number =>
    Number(other.isCritical) - Number(one.isCritical) ||
    other.priority - one.priority ||
    direction * (other.risk - one.risk) ||
    compareAge(one, other)
  switch (strategy) {
    case 'plain':
      return {
        isFair: false,
        compare: (one, other) => other.executionPriority - one.executionPriority || compareAge(one, other),
      }
    case 'priority':
      return { isFair: false, compare: urgency }
    case 'fair':
      return { isFair: true, compare: urgency }
  }
}

/** The one due earlier first. */
export function compareAge(one: Waiting, other: Waiting): number {
  return (
    one.dueMs - other.dueMs ||
    one.arrival[0] - other.arrival[0] ||
    one.arrival[1] - other.arrival[1] ||
    (one.taskId < other.taskId ? -1 : 1)
  )
}
