/**
 * Where an execution is in a trace. Its spans have ids that follow from its own id and those of its attempts, so that an engine that
 * takes over goes on with the same spans, and nothing about them has to be stored. Pure.
 */

import { formatTraceparent, isInSample, parseTraceparent, spanIdOf } from '../../base/trace-context.ts'
import type { TaskId, WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { Execution, ExecutionTrace } from '../protocol/execution.ts'

export interface TraceStart {
  /** Of who asks for the execution; it then belongs to that trace, and is recorded if that is. */
  readonly traceparent: string | undefined
  /** For one that starts a trace of its own. */
  readonly traceId: string
  /** Share of those that are recorded, 0 to 1. */
  readonly share: number
}

export function startTrace({ traceparent, traceId, share }: TraceStart): ExecutionTrace {
  const caller = parseTraceparent(traceparent)
  if (caller === undefined) return { traceId, isSampled: isInSample(traceId, share) }
  return { traceId: caller.traceId, parentSpanId: caller.spanId, isSampled: caller.isSampled }
}

/** The trace of an execution that another one runs as a unit. */
export function traceOfChild({ trace }: Execution, attempt: TaskId): ExecutionTrace | undefined {
  return trace === undefined ? undefined : { ...trace, parentSpanId: spanIdOf(attempt) }
}

/** The span of a whole run. */
export function runSpanId({
  workflowId,
  run,
}: {
  readonly workflowId: WorkflowId
  readonly run: number
}): string {
  return spanIdOf(`${workflowId}/${run}`)
}

/** For whoever works on an attempt. */
export function traceparentOf({ trace }: Execution, taskId: TaskId): string | undefined {
  return write(trace, spanIdOf(taskId))
}

export function traceparentOfRun(execution: Execution): string | undefined {
  return write(execution.trace, runSpanId(execution))
}

function write(trace: ExecutionTrace | undefined, spanId: string): string | undefined {
  if (trace === undefined) return undefined
  const { traceId, isSampled } = trace
  return formatTraceparent({ traceId, spanId, isSampled })
}
