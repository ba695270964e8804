/**
 * The spans of an execution, made when what they tell of has ended. All times but that of storing come from the execution itself, so
 * an execution that several instances ran one after the other has whole spans. Pure.
 */

import { spanIdOf } from '../../base/trace-context.ts'
import type { AttemptRow, Execution, ExecutionTrace } from '../protocol/execution.ts'
import type { Stage } from '../protocol/stages.ts'
import { isTaskOpen, isTaskWellEnded } from '../protocol/state.ts'
import type { EngineEvent, GraphParsed, StepStored } from './engine-events.ts'
import { runSpanId } from './execution-trace.ts'
import { hasEndedWith, stagesTouched } from './step-changes.ts'

export interface EngineSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** What went wrong, in a word; `undefined`: nothing. */
  readonly error: string | undefined
}

/** Only those of traces that are recorded. */
export function spansOf(event: EngineEvent): readonly EngineSpan[] {
  if (event.kind === 'graph-parsed') return spansOfParse(event)
  if (event.kind !== 'step') return []
  const { trace } = event.after
  return trace?.isSampled === true ? spansOfStep(event, trace) : []
}

/** `undefined`: what the stage does has another span. */
const NAME_OF_STAGE: Readonly<Record<Stage, string | undefined>> = {
  PENDING: undefined,
  SCHEDULING: 'schedule',
  EXECUTING: 'execute',
  VERIFYING: 'verify',
  ROLLBACK: 'roll back',
  COMMIT: 'commit',
  FAILED: 'fail',
  CANCELLED: 'cancel',
}

function spansOfParse({ start, name, units, endMs, durationMs, error }: GraphParsed): readonly EngineSpan[] {
  if (start?.trace.isSampled !== true) return []
  const { trace, workflowId } = start
  return [
    {
      ...below(trace, runSpanId({ workflowId, run: 1 })),
      spanId: spanIdOf(`${workflowId}/parse`),
      name: 'parse',
      startMs: endMs - durationMs,
      endMs,
      attributes: { 'perago.workflow_id': workflowId, 'perago.pipeline': name, 'perago.units': units },
      error: error === undefined ? undefined : 'refused',
    },
  ]
}

function spansOfStep(step: StepStored, trace: ExecutionTrace): readonly EngineSpan[] {
  const { before, after, durationMs } = step
  const run = runSpanId(after)
  const about = { 'perago.workflow_id': after.workflowId, 'perago.pipeline': after.graph.name }
  const spans: EngineSpan[] = []
  if (before === undefined) {
    const [startMs, endMs] = [after.createdMs, after.createdMs + durationMs]
    const spanId = spanIdOf(`${run}/submit`)
    spans.push({
      ...below(trace, run),
      spanId,
      name: 'submit',
      startMs,
      endMs,
      attributes: about,
      error: undefined,
    })
  }
  const known = before?.run === after.run ? before.moves.length : 0
  const first = Math.max(0, known - 1)
  stagesTouched(step).forEach(({ stage, atMs, endMs }, at) => {
    const isEnd = hasEndedWith(step) && endMs === undefined
    const name = NAME_OF_STAGE[stage]
    if (name === undefined || (endMs === undefined && !isEnd)) return
    spans.push({
      ...below(trace, run),
      spanId: spanIdOf(`${run}/${first + at}`),
      ...{ name, startMs: atMs, endMs: endMs ?? atMs + durationMs },
      attributes: { ...about, 'perago.stage': stage },
      error: stage === 'FAILED' ? 'failed' : undefined,
    })
  })
  for (const row of step.rows) if (hasRowEnded(row)) spans.push(spanOfRow(after, trace, row.after))
  if (hasEndedWith(step)) spans.push(spanOfRun(step, trace))
  return spans
}

function hasRowEnded({ before, after }: StepStored['rows'][number]): boolean {
  return !isTaskOpen(after.record.status) && (before === undefined || isTaskOpen(before.record.status))
}

function spanOfRow(execution: Execution, trace: ExecutionTrace, { record }: AttemptRow): EngineSpan {
  const { taskId, referenceTaskName: unit, taskType, status, retryCount, updateTimeMs } = record
  const isWell = isTaskWellEnded(status) || status === 'CANCELED'
  return {
    ...below(trace, runSpanId(execution)),
    spanId: spanIdOf(taskId),
    name: `task ${unit}`,
    startMs: Math.min(record.startTimeMs > 0 ? record.startTimeMs : record.scheduledTimeMs, updateTimeMs),
    endMs: updateTimeMs,
    attributes: {
      'perago.workflow_id': execution.workflowId,
      'perago.task_id': taskId,
      'perago.task': taskType,
      'perago.status': status,
      'perago.attempt': retryCount,
      'perago.waited_ms': Math.max(0, record.startTimeMs - record.scheduledTimeMs),
    },
    error: isWell ? undefined : status,
  }
}

/** One per run; a second run of the same execution is a span of its own. */
function spanOfRun({ after, durationMs }: StepStored, trace: ExecutionTrace): EngineSpan {
  const { workflowId, graph, startTimeMs, stage, status, run } = after
  return {
    traceId: trace.traceId,
    spanId: runSpanId(after),
    parentSpanId: trace.parentSpanId,
    name: `execution ${graph.name}`,
    startMs: startTimeMs,
    endMs: Math.max(startTimeMs, (after.moves.at(-1)?.atMs ?? startTimeMs) + durationMs),
    attributes: {
      'perago.workflow_id': workflowId,
      'perago.pipeline': graph.name,
      'perago.version': graph.version,
      'perago.stage': stage,
      'perago.run': run,
    },
    error: stage === 'FAILED' ? status : undefined,
  }
}

function below({ traceId }: ExecutionTrace, parentSpanId: string) {
  return { traceId, parentSpanId }
}
