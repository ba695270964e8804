/**
 * Starts executions: those that somebody asks for, children, and those of schedules.
 *
 * - Two executions that may write one branch are not started beside one another. An execution counts from the moment of this
 *   check, before it is stored, so that of two starts at the same time the second one sees the first.
 * - What another instance starts that has lost its lease without noticing is not seen, nor is an execution while nobody knows
 *   whether its last step was stored. The publish fence stops their writes.
 */

import type { Clock } from '../../base/clock.ts'
import { makeTraceId } from '../../base/trace-context.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { requirePayloadFits } from '../../worker/payload-limits.ts'
import { findBranchConflicts, requireFreeBranches } from '../definitions/branch-conflicts.ts'
import type { KnownTasks } from '../definitions/graph-writers.ts'
import type { Graph } from '../graph/graph.ts'
import type { GraphLimits } from '../graph/problems.ts'
import type { WorkflowStartRequest } from '../protocol/control.ts'
import { startExecution, type Execution, type ExecutionTrace } from '../protocol/execution.ts'
import { taskTypesOf } from '../protocol/task-settings.ts'
import type { EngineObserver } from '../telemetry/engine-events.ts'
import { isWorkflowOpen } from '../protocol/state.ts'
import { startTrace } from '../telemetry/execution-trace.ts'
import type { DefinitionStore } from './definition-store.ts'
import type { Executions } from './executions.ts'
import { parseGraph } from './parse-graph.ts'

export interface StarterParts {
  readonly executions: Executions
  readonly definitions: DefinitionStore
  readonly graphLimits: GraphLimits
  /** Of a task that is not among them, whoever gives it a workspace is taken to write. */
  readonly tasks: () => KnownTasks
  readonly observe: EngineObserver
  readonly clock: Clock
  /** Of executions that start a trace of their own, the share whose spans are recorded. */
  readonly traceShare: number
  /** Executions that have ended and are being rolled back: they run again. */
  readonly reopening: () => Iterable<Execution>
}

export interface Start {
  readonly graph: Graph
  readonly request: Omit<WorkflowStartRequest, 'name' | 'version'>
  readonly workflowId: WorkflowId
  /** The execution that runs it as a unit, and its unit. */
  readonly parent?: { readonly id: WorkflowId; readonly node: string }
  /** Of the request, for a start that may be sent again. */
  readonly digest?: string | undefined
  /** Default: that of the request, or a new one. */
  readonly trace?: ExecutionTrace | undefined
}

export class Starter {
  readonly #parts: StarterParts
  /** Checked, and perhaps not stored yet. */
  readonly #opening = new Map<WorkflowId, Execution>()

  constructor(parts: StarterParts) {
    this.#parts = parts
  }

  /** Resolves when the new execution is stored, before anything of it is decided: whatever happens then, it is found again. */
  async start({ graph, request, workflowId, parent, digest, trace: given }: Start): Promise<void> {
    const { executions, definitions, traceShare: share } = this.#parts
    const { traceparent } = request
    const trace = given ?? startTrace({ traceparent, traceId: makeTraceId(), share })
    parseGraph(this.#parts, graph, { workflowId, trace })
    const input = { ...graph.inputTemplate, ...request.input }
    requirePayloadFits('workflow input', input)
    const taskDefs = await Promise.all(taskTypesOf(graph).map((name) => definitions.findTask(name)))
    const parentId = parent?.id
    const execution = startExecution(
      { ...request, name: graph.name },
      { ...{ workflowId, parentId, graph, taskDefs, input, trace }, startTimeMs: executions.nowMs() },
    )
    await this.whileFree(execution, () => executions.add(execution, { parent, request: digest }))
  }

  /** Does what opens an execution, unless another one may write a branch of it: then throws `engine/branch-taken`. */
  async whileFree<T>(execution: Execution, open: () => Promise<T>): Promise<T> {
    const { executions, tasks, reopening } = this.#parts
    const { workflowId } = execution
    await this.#untilEndsAreNoted(execution)
    const others = [...executions.held(), ...reopening(), ...this.#opening.values()]
      .filter((other) => other.workflowId !== workflowId)
      .map(asOpen)
    requireFreeBranches(execution, others, tasks())
    this.#opening.set(workflowId, execution)
    try {
      return await open()
    } finally {
      this.#opening.delete(workflowId)
    }
  }

  /** What has ended is held until its last checkpoint is taken. Whoever has seen the end may start the next one meanwhile. */
  async #untilEndsAreNoted(execution: Execution): Promise<void> {
    const { executions, tasks } = this.#parts
    const ended = [...executions.held()].filter(
      ({ workflowId, status }) => workflowId !== execution.workflowId && !isWorkflowOpen(status),
    )
    for (const other of ended)
      if (findBranchConflicts(execution, [asOpen(other)], tasks()).length > 0)
        await executions.untilSettled(other.workflowId)
  }
}

function asOpen({ workflowId, parentId, graph, input }: Execution) {
  return { executionId: workflowId, parentId, graph, input }
}
