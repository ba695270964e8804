/** Checkpoints, rollbacks and their maintenance, put together for one engine. */

import type { Logger } from '../../base/logger.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import type { WritePace } from '../../core/namespaces/guarded-write.ts'
import type { DataRollback } from '../../publication/rollback-port.ts'
import { openCheckpoints, type Checkpoints } from '../checkpoints/checkpoints.ts'
import type { CheckpointFrequency } from '../checkpoints/due-checkpoint.ts'
import type { CheckpointBodies } from '../checkpoints/ports.ts'
import type { CheckpointLimits } from '../checkpoints/retention.ts'
import { openStoreBodies } from '../checkpoints/store-bodies.ts'
import { CHECKPOINT_MAINTENANCE_MS } from '../limits.ts'
import type { EngineObserver } from '../telemetry/engine-events.ts'
import { maintainCheckpoints } from './checkpoint-maintenance.ts'
import { Checkpointing } from './checkpointing.ts'
import type { ExecutionStore, Kept } from './execution-store.ts'
import type { Executions } from './executions.ts'
import { Rollbacks, type RollbacksParts } from './rollbacks.ts'

export interface EngineCheckpoints {
  /** Default: one at the start, and one after each phase. */
  readonly frequency?: CheckpointFrequency
  /** Where they are kept. Default: in the store of the engine. */
  readonly bodies?: readonly CheckpointBodies[]
  readonly limits?: Partial<CheckpointLimits>
  /** Moves branches back. Without it only executions that have published nothing can be rolled back. */
  readonly data?: DataRollback
  /** Between two rounds that remove old ones. */
  readonly maintenanceMs?: number
}

export interface OpenCheckpointsParts {
  /** `undefined`: none are taken. */
  readonly options: EngineCheckpoints | undefined
  readonly steps: StepWriter
  readonly executionStore: ExecutionStore
  readonly pace: WritePace
  readonly logger: Logger
  readonly observe: EngineObserver
  readonly executions: () => Executions
  readonly whileFree: RollbacksParts['whileFree']
}

export interface OpenedCheckpoints {
  readonly checkpoints: Checkpoints
  readonly checkpointing: Checkpointing
  readonly rollbacks: () => Rollbacks
  readonly mayHandOut: (kept: Kept) => Promise<boolean>
  /** Before this instance holds executions that another one ran. */
  readonly prepare: () => Promise<void>
  /** Continues rollbacks and removes what is old, until the signal. */
  readonly run: (isOwner: () => boolean, signal: AbortSignal) => Promise<void>
}

export function openEngineCheckpoints(parts: OpenCheckpointsParts): OpenedCheckpoints {
  const { options, steps, executionStore, pace, logger, observe, whileFree } = parts
  const { store, tenant } = steps
  const { frequency = options === undefined ? 'never' : 'phase' } = options ?? {}
  const checkpoints = openCheckpoints({
    ...{ store, logger, observe, ...pace },
    bodies: options?.bodies ?? [openStoreBodies(store, pace)],
    ...(options?.limits === undefined ? {} : { limits: options.limits }),
  })
  const checkpointing = new Checkpointing({ checkpoints, frequency, store: executionStore, steps, logger })
  const data = options?.data
  let made: Rollbacks | undefined
  // The executions are made with `mayHandOut`.
  const rollbacks = (): Rollbacks =>
    (made ??= new Rollbacks({
      ...{ executions: parts.executions(), checkpointing, checkpoints, data, steps, logger },
      ...{ whileFree, ...pace },
    }))
  return {
    ...{ checkpoints, checkpointing, rollbacks },
    mayHandOut: async (kept) =>
      !rollbacks().isOpen(kept.execution.workflowId) && (await checkpointing.keepUp(kept)),
    prepare: async () => {
      checkpointing.clear()
      await rollbacks().takeOver()
    },
    run: async (isOwner, signal) => {
      const maintenance = {
        ...{ checkpoints, store, tenant, clock: pace.clock, logger, isOwner },
        held: () => parts.executions().held(),
        scopeOf: (workflowId: Parameters<Checkpointing['scopeOf']>[0]) => checkpointing.scopeOf(workflowId),
        intervalMs: options?.maintenanceMs ?? CHECKPOINT_MAINTENANCE_MS,
      }
      await Promise.all([rollbacks().keepUp(isOwner, signal), maintainCheckpoints(maintenance, signal)])
    },
  }
}
