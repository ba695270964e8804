/**
 * Checkpoints of the executions that this instance runs.
 *
 * - HK-1 A checkpoint that is due after a step is durable before anything that follows the step is handed out: no task, no child.
 *   If it cannot be taken, that waits; results are taken, leases are renewed, and it is tried again.
 * - HK-2 It is of the state that was stored last, and is recorded only while that is so.
 * - HK-3 One that is too large is not taken: the execution goes on, and the checkpoints before stay.
 */

import { isPeragoError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import { executionId, type ExecutionScope } from '../../core/keys.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { CheckpointReason, CheckpointRecord } from '../checkpoints/checkpoint.ts'
import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import { dueCheckpoint, type CheckpointFrequency } from '../checkpoints/due-checkpoint.ts'
import { finishedPhases } from '../checkpoints/phases.ts'
import type { Execution } from '../protocol/execution.ts'
import { isTaskOpen, isWorkflowOpen } from '../protocol/state.ts'
import type { ExecutionStore, Kept } from './execution-store.ts'

export interface CheckpointingParts {
  readonly checkpoints: Checkpoints
  readonly frequency: CheckpointFrequency
  readonly store: ExecutionStore
  readonly steps: StepWriter
  readonly logger: Logger
}

type Newest = Pick<CheckpointRecord, 'finishedPhases' | 'attempts'>

export class Checkpointing {
  readonly #parts: CheckpointingParts
  /** The newest of each execution that this instance runs; `undefined`: it has none. */
  readonly #newest = new Map<WorkflowId, Newest | undefined>()

  constructor(parts: CheckpointingParts) {
    this.#parts = parts
  }

  /** Takes what is due. `false`: it could not be taken yet. */
  async keepUp(kept: Kept): Promise<boolean> {
    const { execution } = kept
    const { workflowId } = execution
    if (this.#parts.frequency === 'never') return true
    try {
      const reason = dueCheckpoint(execution, await this.#readNewest(workflowId), this.#parts.frequency)
      if (reason !== undefined) await this.#take(kept, reason)
      return true
    } catch (error) {
      this.#parts.logger.warn('a checkpoint could not be taken', { workflowId, error })
      this.#newest.delete(workflowId)
      return false
    } finally {
      if (!isWorkflowOpen(execution.status)) this.#newest.delete(workflowId)
    }
  }

  /** Another instance may have taken some. */
  clear(): void {
    this.#newest.clear()
  }

  scopeOf(workflowId: WorkflowId): ExecutionScope {
    const { tenant } = this.#parts.steps
    const execution = executionId(workflowId)
    return tenant === undefined ? { execution } : { tenant, execution }
  }

  async #readNewest(workflowId: WorkflowId): Promise<Newest | undefined> {
    if (!this.#newest.has(workflowId)) {
      const [newest] = await this.#parts.checkpoints.list(this.scopeOf(workflowId))
      this.#newest.set(workflowId, newest)
    }
    return this.#newest.get(workflowId)
  }

  async #take(kept: Kept, reason: CheckpointReason): Promise<void> {
    const { checkpoints, store, logger } = this.#parts
    const { execution } = kept
    const { workflowId } = execution
    const scope = this.scopeOf(workflowId)
    try {
      const variables = await this.#readVariables(scope)
      const conditions = [store.conditionOn(kept)]
      this.#newest.set(
        workflowId,
        await checkpoints.take({ scope, execution, reason, variables, conditions }),
      )
    } catch (error) {
      if (!isPeragoError(error) || !NEVER_FITS.has(error.code)) throw error
      logger.warn('a checkpoint was left out', { workflowId, phaseId: reason.phaseId, error })
      this.#newest.set(workflowId, asIfTaken(execution))
    }
  }

  /** What operators and tasks have set; the outputs of units are in the execution itself. */
  async #readVariables({ execution }: ExecutionScope): Promise<JsonObject> {
    return this.#parts.steps.variables.list(execution, 'shared')
  }
}

/** Trying again would end the same. */
const NEVER_FITS: ReadonlySet<string> = new Set(['engine/checkpoint-too-large', 'core/too-many-variables'])

function asIfTaken(execution: Execution): Newest {
  const attempts = execution.rows.filter(({ record }) => isTaskOpen(record.status))
  return {
    finishedPhases: finishedPhases(execution),
    attempts: attempts.map(({ record }) => record.taskId),
  }
}
