/**
 * Recovery: when a unit has failed for good, its policy may ask for a rollback of state and branches. The rules wait in `ROLLBACK`
 * until the host has done it, which begins a new run, or tells that it cannot.
 */

import { RECOVERIES_MAX } from '../limits.ts'
import { latestRow, type AttemptRow, type Execution } from './execution.ts'
import { hasFailed } from './failures.ts'
import { indexOf } from './graph-index.ts'

export interface WantedRecovery {
  /** The unit that failed. */
  readonly unit: string
  readonly phaseId: string
  readonly level: 'unit' | 'phase' | 'checkpoint'
}

/** What the host is to take back now; read from the execution as it is stored. */
export function wantedRecovery(execution: Execution): WantedRecovery | undefined {
  if (execution.stage !== 'ROLLBACK' || execution.status !== 'RUNNING') return undefined
  return recoveryOf(execution, (reference) => latestRow(execution, reference))
}

/** What a failure leads to. */
export function recoveryOf(
  { policy, rollbacks, graph }: Pick<Execution, 'policy' | 'rollbacks' | 'graph'>,
  latest: (reference: string) => AttemptRow | undefined,
): WantedRecovery | undefined {
  const { recover } = policy
  if (recover === undefined || rollbacks.some(({ recovery }) => recovery === 'refused')) return undefined
  const done = rollbacks.filter(({ recovery }) => recovery === 'done').length
  const failed = graph.units.find(({ taskReferenceName }) => {
    const row = latest(taskReferenceName)
    // What was stopped because of another one has not failed.
    return row !== undefined && hasFailed(row) && row.record.status !== 'CANCELED'
  })
  if (failed === undefined || done >= Math.min(recover.times, RECOVERIES_MAX)) return undefined
  const unit = failed.taskReferenceName
  return { unit, phaseId: indexOf(graph).phases.get(unit) ?? '', level: recover.back }
}
