/** Managing the embedded engine: definitions, starts and an operator's commands. */

import { randomUUID } from 'node:crypto'
import { RefusedError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import { executionId } from '../../core/keys.ts'
import type { NewEvent } from '../../core/events/event.ts'
import type { PublishOptions } from '../../core/events/event-manager.ts'
import type { StepWriter } from '../../core/life-cycle/steps.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import { describeCheckpoint, type CheckpointRecord } from '../checkpoints/checkpoint.ts'
import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import type { RollbackPreview } from '../checkpoints/preview-rollback.ts'
import type { RollbackReport } from '../checkpoints/roll-back-execution.ts'
import { requirePayloadFits } from '../../worker/payload-limits.ts'
import { graphOfWorkflow } from '../definitions/conductor/compile-workflow.ts'
import type { Graph } from '../graph/graph.ts'
import type { GraphLimits } from '../graph/problems.ts'
import type { QueueControl, WorkflowStartRequest, WorkflowView } from '../protocol/control.ts'
import { decide } from '../protocol/decide.ts'
import { wholeTaskDef, type TestTaskDef, type TestWorkflowDef } from '../protocol/definitions.ts'
import { describeExecution, type ExecutionDescription } from '../protocol/describe-execution.ts'
import type { Execution, Moment } from '../protocol/execution.ts'
import {
  pauseExecution,
  requeueTasks,
  rerunExecution,
  restartExecution,
  resumeExecution,
  retryExecution,
  skipTask,
  terminateExecution,
  type Operated,
} from '../protocol/operator.ts'
import { viewExecution } from '../protocol/view-execution.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import { signalUnit, type Signal } from '../protocol/signal.ts'
import type { EngineObserver } from '../telemetry/engine-events.ts'
import type { Checkpointing } from './checkpointing.ts'
import type { DefinitionStore } from './definition-store.ts'
import { noSuchExecution, type ListedExecution } from './execution-list.ts'
import type { ExecutionStore } from './execution-store.ts'
import { requireOwner, type QueueParts } from './engine-queue.ts'
import { parseGraph } from './parse-graph.ts'
import type { EngineRollback } from './rollbacks.ts'
import { startOnce, type OneStart, type StartedAs, type StartedOnce } from './start-once.ts'
import type { Starter } from './starter.ts'

export interface ControlParts extends QueueParts {
  readonly checkpoints: Checkpoints
  readonly checkpointing: Checkpointing
  readonly store: ExecutionStore
  readonly definitions: DefinitionStore
  readonly steps: StepWriter
  readonly graphLimits: GraphLimits
  readonly starter: Starter
  readonly observe: EngineObserver
}

export class EngineControl implements QueueControl {
  readonly #parts: ControlParts

  constructor(parts: ControlParts) {
    this.#parts = parts
  }

  async registerTask(def: TestTaskDef | JsonObject): Promise<void> {
    await this.#parts.definitions.registerTask(wholeTaskDef(def))
  }

  async registerWorkflow(def: TestWorkflowDef | JsonObject): Promise<void> {
    await this.registerGraph(graphOfWorkflow(def))
  }

  /** A graph replaces the one of the same name and version; executions that have started keep theirs. */
  async registerGraph(graph: Graph): Promise<void> {
    parseGraph(this.#parts, graph)
    await this.#parts.definitions.registerGraph(graph)
  }

  listGraphs(): ReturnType<DefinitionStore['listGraphs']> {
    return this.#parts.definitions.listGraphs()
  }

  async start(request: WorkflowStartRequest, as?: StartedAs): Promise<WorkflowId> {
    const { definitions } = this.#parts
    return this.startGraph(await definitions.findGraph(request.name, request.version), request, as)
  }

  /** The same request under the same key starts one execution, whatever became of the first response. */
  async startOnce(key: string, request: OneStart): Promise<StartedOnce> {
    await this.#ready()
    const started = await startOnce(this.#parts, { key, request }, (as) =>
      'graph' in request ? this.startGraph(request.graph, request, as) : this.start(request, as),
    )
    // The instance that stored it may have died before it decided anything.
    if (!started.isNew) await this.decide(started.workflowId)
    return started
  }

  /** Starts a graph that need not be registered. */
  async startGraph(
    graph: Graph,
    request: Omit<WorkflowStartRequest, 'name' | 'version'>,
    { workflowId = randomUUID() as WorkflowId, request: digest }: Partial<StartedAs> = {},
  ): Promise<WorkflowId> {
    await this.#ready()
    await this.#parts.starter.start({ graph, request, workflowId, digest })
    await this.decide(workflowId)
    return workflowId
  }

  async readWorkflow(workflowId: WorkflowId): Promise<WorkflowView | undefined> {
    await this.#ready()
    const execution = await this.#parts.executions.read(workflowId)
    return execution && viewExecution(execution)
  }

  /** All that is known of an execution. */
  async readExecution(workflowId: WorkflowId): Promise<Execution | undefined> {
    await this.#ready()
    return this.#parts.executions.read(workflowId)
  }

  /** Those that have not ended, the newest first. */
  async listOpen(): Promise<readonly ListedExecution[]> {
    await this.#ready()
    return [...this.#parts.executions.held()]
      .sort((a, b) => b.startTimeMs - a.startTimeMs)
      .map((execution) => {
        const { graph, workflowId, status, stage, createdMs, startTimeMs, updatedMs } = execution
        const { correlationId, reasonForIncompletion } = execution
        return {
          ...{ workflowId, name: graph.name, version: graph.version, status, stage },
          ...{ createdMs, startTimeMs, updatedMs, correlationId, reasonForIncompletion },
        }
      })
  }

  async readLogs(taskId: TaskId): Promise<readonly string[]> {
    const owner = await this.#parts.executions.ownerOf(taskId)
    return owner === undefined ? [] : this.#parts.logs.read(owner, taskId)
  }

  pause(workflowId: WorkflowId): Promise<void> {
    return this.#operate('pause', workflowId, pauseExecution)
  }

  resume(workflowId: WorkflowId): Promise<void> {
    return this.#operate('resume', workflowId, resumeExecution)
  }

  terminate(workflowId: WorkflowId, options: { readonly reason?: string } = {}): Promise<void> {
    return this.#operate('terminate', workflowId, (execution, moment) =>
      terminateExecution(execution, options, moment),
    )
  }

  restart(workflowId: WorkflowId): Promise<void> {
    return this.#reopen('restart', workflowId, restartExecution)
  }

  retry(workflowId: WorkflowId): Promise<void> {
    return this.#reopen('retry', workflowId, retryExecution)
  }

  rerun(
    workflowId: WorkflowId,
    options: { readonly fromTaskId?: TaskId; readonly taskInput?: JsonObject } = {},
  ): Promise<void> {
    return this.#reopen('rerun', workflowId, (execution, moment) =>
      rerunExecution(execution, options, moment),
    )
  }

  skip(workflowId: WorkflowId, referenceTaskName: string): Promise<void> {
    return this.#operate('skip', workflowId, (execution, moment) =>
      skipTask(execution, referenceTaskName, moment),
    )
  }

  decide(workflowId: WorkflowId): Promise<void> {
    return this.#operate('decide', workflowId, (execution, moment) => ({
      is: 'done',
      execution: decide(execution, moment),
    }))
  }

  async requeue(taskType: string): Promise<void> {
    await this.#ready()
    const { executions } = this.#parts
    for (const { workflowId } of [...executions.held()])
      await executions.change(workflowId, (execution, { nowMs }) => ({
        execution: requeueTasks(execution, taskType, nowMs),
        answer: undefined,
      }))
  }

  /** Ends it if it runs, and removes its state; its log stays until its retention time is over. */
  async remove(workflowId: WorkflowId): Promise<void> {
    await this.#ready()
    const { executions } = this.#parts
    this.#parts.rollbacks.requireNone(workflowId)
    const execution = await executions.read(workflowId)
    if (execution === undefined) throw noSuchExecution('remove', workflowId)
    if (isWorkflowOpen(execution.status)) await this.terminate(workflowId, { reason: 'removed' })
    await executions.remove(workflowId)
  }

  /** Records an event of an outside system, and decides what waits for it. */
  async publishEvent(
    workflowId: WorkflowId,
    event: { readonly type: string; readonly source: string; readonly payload?: JsonObject },
    options: PublishOptions = {},
  ): Promise<string> {
    await this.#ready()
    this.#parts.rollbacks.requireNone(workflowId)
    const { type, source, payload = {} } = event
    const recorded: NewEvent = { type, source: { entityType: 'external', entityId: source }, payload }
    const id = await this.#parts.steps.events.publishEvent(executionId(workflowId), recorded, options)
    await this.decide(workflowId)
    return id
  }

  /** Sets `shared.NAME`, and decides what waits for it. */
  async setVariable(workflowId: WorkflowId, name: string, value: Json): Promise<void> {
    await this.#ready()
    this.#parts.rollbacks.requireNone(workflowId)
    await this.#parts.steps.variables.set(executionId(workflowId), `shared.${name}`, value)
    await this.decide(workflowId)
  }

  /** What a rollback would do. */
  async previewRollBack(workflowId: WorkflowId, of: EngineRollback['of']): Promise<RollbackPreview> {
    await this.#require('roll back', workflowId)
    return this.#parts.rollbacks.preview(workflowId, of)
  }

  /** Takes state and branches back; resolves when both are there. */
  async rollBack(workflowId: WorkflowId, options: EngineRollback): Promise<RollbackReport> {
    await this.#require('roll back', workflowId)
    return this.#parts.rollbacks.rollBack(workflowId, options)
  }

  /** Gives up a rollback that cannot end; the execution is ended where it is. */
  async abandonRollBack(workflowId: WorkflowId, options: { readonly reason: string }): Promise<void> {
    await this.#require('abandon the rollback of', workflowId)
    await this.#parts.rollbacks.abandon(workflowId, options.reason)
  }

  /** The newest first. */
  async listCheckpoints(workflowId: WorkflowId): Promise<readonly CheckpointRecord[]> {
    await this.#require('list the checkpoints of', workflowId)
    return this.#parts.checkpoints.list(this.#parts.checkpointing.scopeOf(workflowId))
  }

  /** In the words of the executor, with its checkpoints. */
  async describe(workflowId: WorkflowId): Promise<ExecutionDescription> {
    const execution = await this.#require('describe', workflowId)
    const checkpoints = (await this.listCheckpoints(workflowId)).toReversed().map(describeCheckpoint)
    return describeExecution(execution, { nowMs: this.#parts.executions.nowMs(), checkpoints })
  }

  async #require(what: string, workflowId: WorkflowId): Promise<Execution> {
    await this.#ready()
    const execution = await this.#parts.executions.read(workflowId)
    if (execution === undefined) throw noSuchExecution(what, workflowId)
    return execution
  }

  /** Ends a unit that waits for somebody: a WAIT or a HUMAN. The same again changes nothing. */
  signal(workflowId: WorkflowId, signal: Signal): Promise<void> {
    requirePayloadFits('task output', signal.output)
    return this.#operate(`signal "${signal.unit}" of`, workflowId, (execution, moment) =>
      signalUnit(execution, signal, moment),
    )
  }

  /** An execution that has ended may run again: meanwhile another one may have taken its branches. */
  async #reopen(
    what: string,
    workflowId: WorkflowId,
    decideOn: (execution: Execution, moment: Moment) => Operated,
  ): Promise<void> {
    await this.#ready()
    const execution = await this.#parts.executions.read(workflowId)
    const operate = (): Promise<void> => this.#operate(what, workflowId, decideOn)
    if (execution === undefined || isWorkflowOpen(execution.status)) return operate()
    return this.#parts.starter.whileFree(execution, operate)
  }

  async #operate(
    what: string,
    workflowId: WorkflowId,
    decideOn: (execution: Execution, moment: Moment) => Operated,
  ): Promise<void> {
    await this.#ready()
    const { executions, rollbacks } = this.#parts
    const outcome = await executions.change<Operated>(workflowId, (execution, moment) => {
      rollbacks.requireNone(workflowId)
      const answer = decideOn(execution, moment)
      return { execution: answer.is === 'done' ? answer.execution : execution, answer }
    })
    if (outcome === undefined) throw noSuchExecution(what, workflowId)
    if (outcome.is === 'refused')
      throw new RefusedError('engine/refused', `${what} the execution ${workflowId}: ${outcome.why}`, {
        details: { workflowId },
      })
  }

  async #ready(): Promise<void> {
    requireOwner(this.#parts)
    await this.#parts.ownership.runDue()
  }
}
