/**
 * Rollbacks of executions by their engine. While one is noted, nothing of the execution is handed out, and commands and results
 * are refused as temporary. One that was stopped, or met an unreachable repository, is continued until it has ended.
 */

import { createHash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { followSignals, isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { UnavailableError, UncertainError, errorKindOf, isPeragoError, messageOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Logger } from '../../base/logger.ts'
import type { Random } from '../../base/random.ts'
import { executionId } from '../../core/keys.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { DataRollback } from '../../publication/rollback-port.ts'
import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import { previewRollback, type RollbackPreview } from '../checkpoints/preview-rollback.ts'
import {
  abandonRollback,
  emptyReport,
  resumeRollback,
  rollBackExecution,
  type RollbackParts,
  type RollbackReport,
  type RollbackRequest,
} from '../checkpoints/roll-back-execution.ts'
import { listRollbackNotes, readRollbackNote } from '../checkpoints/rollback-note.ts'
import { ROLLBACK_AGAIN_MS } from '../limits.ts'
import type { Execution } from '../protocol/execution.ts'
import { refuseRecovery } from '../protocol/operator.ts'
import { wantedRecovery, type WantedRecovery } from '../protocol/recovery.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import type { Checkpointing } from './checkpointing.ts'
import type { Executions } from './executions.ts'
import { KeyLocks } from './key-locks.ts'
import { NO_DATA } from './no-data-rollback.ts'

export interface RollbacksParts {
  readonly executions: Executions
  readonly checkpointing: Checkpointing
  readonly checkpoints: Checkpoints
  readonly data: DataRollback | undefined
  /** Does what opens an execution, unless another one may write a branch of it. */
  readonly whileFree: <T>(execution: Execution, open: () => Promise<T>) => Promise<T>
  readonly steps: StepWriter
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** What goes back, what follows it, and why. Default: it continues. */
export type EngineRollback = Pick<RollbackRequest, 'of' | 'reason'> &
  Partial<Pick<RollbackRequest, 'then'>> & {
    /** The same request again under the same key is done once. */
    readonly key?: string | undefined
  }

/** One that has begun and not ended. */
interface OpenRollback {
  /** What keeps it from ending, if something does. */
  readonly why?: string
  /** Its execution, if that has ended: it is to run again, so its branches are taken. */
  readonly ended?: Execution | undefined
}

export class Rollbacks {
  readonly #parts: RollbacksParts
  readonly #open = new Map<WorkflowId, OpenRollback>()
  /** One at a time per execution. */
  readonly #turns = new KeyLocks()
  /** Executions whose policy may ask for a rollback. */
  readonly #failed = new Set<WorkflowId>()
  #wake: () => void = () => undefined

  constructor(parts: RollbacksParts) {
    this.#parts = parts
  }

  isOpen(workflowId: WorkflowId): boolean {
    return this.#open.has(workflowId)
  }

  /** Executions that have ended and are being taken back. */
  *reopening(): Iterable<Execution> {
    for (const { ended } of this.#open.values()) if (ended !== undefined) yield ended
  }

  /** Throws while a rollback of this execution has not ended. */
  requireNone(workflowId: WorkflowId): void {
    if (!this.#open.has(workflowId)) return
    const why = this.#open.get(workflowId)?.why
    throw new UnavailableError(
      'engine/rolling-back',
      `use execution ${workflowId}: it is being rolled back${why === undefined ? '' : `, and that is stopped: ${why}`}`,
      { next: 'Try again when the rollback has ended; one that cannot end can be abandoned.' },
    )
  }

  preview(workflowId: WorkflowId, of: RollbackRequest['of']): Promise<RollbackPreview> {
    return previewRollback(this.#rollbackParts(), { scope: this.#scopeOf(workflowId), of })
  }

  /** Resolves when it has ended. After an error that is temporary it is continued by itself. */
  async rollBack(workflowId: WorkflowId, options: EngineRollback): Promise<RollbackReport> {
    const { of, then = 'continue', reason, key } = options
    const id = key === undefined ? randomUUID() : idOf({ workflowId, key, of, then })
    const before = key === undefined ? undefined : await this.#readRepeated(workflowId, id)
    if (before !== undefined) return before
    this.requireNone(workflowId)
    const request: RollbackRequest = { scope: this.#scopeOf(workflowId), of, then, reason, id }
    try {
      return await this.#runAlone(workflowId, () => rollBackExecution(this.#rollbackParts(), request))
    } catch (error) {
      // What is noted is done, sooner or later: it must not be asked for again as if nothing had happened.
      throw this.isOpen(workflowId) ? goingOn(workflowId, error) : error
    }
  }

  /** What became of a rollback that was asked for before; `undefined`: nothing, it is a new one. */
  async #readRepeated(workflowId: WorkflowId, id: string): Promise<RollbackReport | undefined> {
    const { steps, executions } = this.#parts
    const note = await readRollbackNote(steps.store, this.#scopeOf(workflowId))
    const ended = note?.id === id ? await this.#finish(workflowId) : undefined
    if (ended !== undefined) return ended
    const done = (await executions.read(workflowId))?.rollbacks.find((one) => one.id === id)
    return done && { ...emptyReport, undone: done.undone }
  }

  /** Does what the policy of an execution asks for after a failure, soon. */
  followPolicy(execution: Execution): void {
    if (wantedRecovery(execution) === undefined) return
    this.#failed.add(execution.workflowId)
    this.#wake()
  }

  /** Gives up a rollback that cannot end: what has moved stays where it is, and the execution is ended. */
  async abandon(workflowId: WorkflowId, reason: string): Promise<void> {
    await this.#run(workflowId, () =>
      abandonRollback(this.#rollbackParts(), this.#scopeOf(workflowId), reason),
    )
  }

  /** Finds what another instance has begun, before anything is handed out. */
  async takeOver(): Promise<void> {
    const { steps } = this.#parts
    this.#open.clear()
    this.#failed.clear()
    for (const execution of await listRollbackNotes(steps.store, steps.tenant))
      await this.#noteOpen(execution as string as WorkflowId)
    this.#wake()
  }

  /** Continues what has not ended, until the signal. */
  async keepUp(isOwner: () => boolean, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    while (!isAborted(signal)) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      for (const workflowId of [...this.#open.keys()]) if (isOwner()) await this.#resume(workflowId)
      for (const workflowId of [...this.#failed]) if (isOwner()) await this.#recover(workflowId)
      const isWaiting = this.#open.size + this.#failed.size > 0
      const pauseMs = isWaiting && !isOwner() ? OWNER_LOOK_MS : ROLLBACK_AGAIN_MS
      const stop = followSignals(signal)
      await Promise.race([clock.sleep(pauseMs, stop.signal).catch(() => undefined), woken])
      stop.release()
      stop.abort()
    }
  }

  async #resume(workflowId: WorkflowId): Promise<void> {
    const { logger } = this.#parts
    try {
      const report = await this.#finish(workflowId)
      if (report !== undefined) logger.info('a rollback is finished', { workflowId })
    } catch (error) {
      logger.warn('a rollback could not be continued', { workflowId, error })
    }
  }

  #finish(workflowId: WorkflowId): Promise<RollbackReport | undefined> {
    return this.#runAlone(workflowId, () => resumeRollback(this.#rollbackParts(), this.#scopeOf(workflowId)))
  }

  async #recover(workflowId: WorkflowId): Promise<void> {
    const { executions, logger } = this.#parts
    try {
      const execution = await executions.read(workflowId)
      const wanted = execution === undefined ? undefined : wantedRecovery(execution)
      if (wanted !== undefined) await this.#runRecovery(workflowId, wanted)
      this.#failed.delete(workflowId)
    } catch (error) {
      const kind = errorKindOf(error)
      logger.warn('an execution could not be taken back as its policy asks for', { workflowId, error })
      // What is noted is continued, and what is temporary is tried again.
      if (this.isOpen(workflowId) || kind === 'unavailable' || kind === 'uncertain') return
      this.#failed.delete(workflowId)
      await executions.change(workflowId, (execution, moment) => ({
        execution: refuseRecovery(execution, messageOf(error), moment),
        answer: undefined,
      }))
    }
  }

  #runRecovery(workflowId: WorkflowId, { unit, phaseId, level }: WantedRecovery): Promise<RollbackReport> {
    const of: RollbackRequest['of'] = {
      unit: { level: 'unit' as const, unit },
      phase: { level: 'phase' as const, phaseId },
      checkpoint: { level: 'last-good' as const },
    }[level]
    const request: RollbackRequest = {
      ...{ scope: this.#scopeOf(workflowId), of, then: 'continue', isRecovery: true },
      reason: `unit "${unit}" failed`,
    }
    return this.#runAlone(workflowId, () => rollBackExecution(this.#rollbackParts(), request))
  }

  /** One that has ended runs again, and its branches move: meanwhile another execution may have taken them. */
  #runAlone<T>(workflowId: WorkflowId, work: () => Promise<T>): Promise<T> {
    return this.#run(workflowId, async () => {
      const ended = await this.#noteOpen(workflowId)
      return ended === undefined ? work() : this.#parts.whileFree(ended, work)
    })
  }

  /** Returns the execution, if it has ended. */
  async #noteOpen(workflowId: WorkflowId): Promise<Execution | undefined> {
    const execution = await this.#parts.executions.read(workflowId)
    const ended = execution === undefined || isWorkflowOpen(execution.status) ? undefined : execution
    this.#open.set(workflowId, { ...this.#open.get(workflowId), ended })
    return ended
  }

  #run<T>(workflowId: WorkflowId, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(workflowId, async () => {
      if (!this.#open.has(workflowId)) this.#open.set(workflowId, {})
      try {
        const result = await work()
        this.#open.delete(workflowId)
        return result
      } catch (error) {
        await this.#noteFailure(workflowId, error)
        throw error
      } finally {
        if (!this.#open.has(workflowId)) await this.#parts.executions.offer(workflowId)
      }
    })
  }

  /** Where nothing is noted it was refused, and nothing has changed. */
  async #noteFailure(workflowId: WorkflowId, error: unknown): Promise<void> {
    const { steps } = this.#parts
    const key = steps.keysOf(executionId(workflowId)).rollback
    const isNoted = await steps.store.get(key).then(
      (found) => found !== undefined,
      () => true,
    )
    if (isNoted) this.#open.set(workflowId, { ...this.#open.get(workflowId), why: messageOf(error) })
    else this.#open.delete(workflowId)
  }

  #scopeOf(workflowId: WorkflowId): RollbackRequest['scope'] {
    return this.#parts.checkpointing.scopeOf(workflowId)
  }

  #rollbackParts(): RollbackParts {
    const { executions, checkpoints, steps, clock, random, data = NO_DATA } = this.#parts
    return {
      host: {
        read: (workflowId) => executions.read(workflowId),
        change: (workflowId, change) => executions.change(workflowId, change),
        requireChangeable: (workflowId) => steps.requireWritable(executionId(workflowId)),
        restoreVariables: (workflowId, variables) => this.#restoreVariables(workflowId, variables),
      },
      ...{ checkpoints, data, clock, random, store: steps.store },
    }
  }

  async #restoreVariables(workflowId: WorkflowId, variables: JsonObject): Promise<void> {
    const { steps } = this.#parts
    const id = executionId(workflowId)
    const present = await steps.variables.list(id, 'shared')
    for (const name of Object.keys(present))
      if (!Object.hasOwn(variables, name)) await steps.variables.remove(id, name)
    for (const [name, value] of Object.entries(variables))
      if (!isDeepStrictEqual(present[name], value)) await steps.variables.set(id, name, value)
  }
}

/** Another request under the same key has another one. */
function idOf(request: object): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

function goingOn(workflowId: WorkflowId, error: unknown): unknown {
  if (!isPeragoError(error) || error.kind !== 'unavailable') return error
  const { code, message, details } = error
  return new UncertainError(code, `${message}; the rollback is noted, and is tried again until it ends`, {
    ...{ details, cause: error, read: `execution ${workflowId}` },
    next: 'Wait until the execution runs again; a rollback that cannot end can be abandoned.',
  })
}

/** It is found what is noted before this instance counts as the owner. */
const OWNER_LOOK_MS = 100
