/**
 * The log records of an engine: one per thing that happened, its name from one list. They hold names, ids, times and counts; no
 * inputs and no outputs. Pure.
 */

import { spanIdOf } from '../../base/trace-context.ts'
import type { LogFields, Logger } from '../../base/logger.ts'
import type { NewEvent } from '../../core/events/event.ts'
import { indexOf } from '../protocol/graph-index.ts'
import type { AttemptRow, Execution } from '../protocol/execution.ts'
import type { CheckpointTaken, EngineEvent, EngineObserver, StepStored } from './engine-events.ts'
import { runSpanId } from './execution-trace.ts'
import { durationOf, rollbacksOf, rowOfEvent, stagesTouched, verbOf } from './step-changes.ts'

/** Every name that a record may have, with its level. */
export const LOG_EVENTS = {
  execution_submitted: 'info',
  stage_changed: 'debug',
  execution_paused: 'info',
  execution_resumed: 'info',
  execution_completed: 'info',
  execution_failed: 'warn',
  execution_cancelled: 'info',
  execution_rolled_back: 'warn',
  task_started: 'debug',
  task_completed: 'info',
  task_failed: 'warn',
  task_retried: 'info',
  task_skipped: 'info',
  task_cancelled: 'info',
  attempt_started: 'debug',
  attempt_handed_back: 'debug',
  attempt_completed: 'debug',
  attempt_failed: 'info',
  checkpoint_taken: 'info',
  graph_refused: 'info',
} as const satisfies Record<string, 'debug' | 'info' | 'warn'>

export type LogEvent = keyof typeof LOG_EVENTS

/** As written; what does not apply is left out. */
export interface LogRecord {
  /** ISO 8601, UTC: when it happened. */
  readonly timestamp: string
  readonly event: LogEvent
  readonly execution_id?: string | undefined
  readonly phase_id?: string | undefined
  /** Of the attempt. */
  readonly task_id?: string | undefined
  readonly duration_ms?: number | undefined
  readonly trace_id?: string | undefined
  readonly span_id?: string | undefined
  readonly more?: LogFields
}

/** Writes each record to the logger, which removes secrets. */
export function logEngine(logger: Logger): EngineObserver {
  return (event) => {
    for (const { more, ...record } of recordsOf(event))
      logger[LOG_EVENTS[record.event]](record.event.replaceAll('_', ' '), { ...record, ...more })
  }
}

function recordsOf(event: EngineEvent): readonly LogRecord[] {
  switch (event.kind) {
    case 'step':
      return recordsOfStep(event)
    case 'checkpoint-taken':
      return [recordOfCheckpoint(event)]
    case 'task-handed-out':
      // The log of the execution says that it started.
      return []
    case 'graph-parsed': {
      const { error, name, units, endMs, durationMs, start } = event
      if (error === undefined) return []
      const code = (error as { readonly code?: unknown }).code
      return [
        {
          timestamp: isoOf(endMs),
          event: 'graph_refused',
          execution_id: start?.workflowId,
          duration_ms: rounded(durationMs),
          more: { pipeline: name, units, code },
        },
      ]
    }
  }
}

const OF_NODE: Readonly<Record<string, LogEvent>> = {
  started: 'task_started',
  completed: 'task_completed',
  failed: 'task_failed',
  retrying: 'task_retried',
  skipped: 'task_skipped',
  cancelled: 'task_cancelled',
}
const OF_WORK: Readonly<Record<string, LogEvent>> = {
  started: 'attempt_started',
  running: 'attempt_handed_back',
  completed: 'attempt_completed',
  failed: 'attempt_failed',
}
const OF_EXECUTION: Readonly<Record<string, LogEvent>> = {
  paused: 'execution_paused',
  resumed: 'execution_resumed',
  completed: 'execution_completed',
  failed: 'execution_failed',
  cancelled: 'execution_cancelled',
}

function recordsOfStep(step: StepStored): readonly LogRecord[] {
  const { before, after, log } = step
  const records: LogRecord[] = []
  const { name, version } = after.graph
  if (before === undefined)
    records.push(recordOf(after, 'execution_submitted', { more: { pipeline: name, version } }))
  for (const { stage, isNew } of stagesTouched(step))
    if (isNew && before !== undefined) records.push(recordOf(after, 'stage_changed', { more: { stage } }))
  for (const rollback of rollbacksOf(step)) {
    const { level = 'execution', undone, notUndone } = rollback
    const counts = { undone: undone.length, not_undone: notUndone.length }
    records.push(recordOf(after, 'execution_rolled_back', { more: { part: level, ...counts } }))
  }
  return [...records, ...log.flatMap((event) => recordOfEvent(after, event))]
}

function recordOfEvent(execution: Execution, event: NewEvent): readonly LogRecord[] {
  const verb = verbOf(event)
  const { entityType } = event.source
  const reason = event.payload?.['reason']
  const more = typeof reason === 'string' ? { reason } : {}
  if (entityType === 'pipeline') {
    const name = OF_EXECUTION[verb]
    if (name === undefined) return []
    const isEnd = name !== 'execution_paused' && name !== 'execution_resumed'
    const duration_ms = isEnd ? durationOf(execution) : undefined
    return [recordOf(execution, name, { duration_ms, more: { pipeline: execution.graph.name, ...more } })]
  }
  const name = (entityType === 'node' ? OF_NODE : OF_WORK)[verb]
  const row = rowOfEvent(execution, event)
  return name === undefined || row === undefined ? [] : [recordOfRow(execution, name, row, more)]
}

/** Those whose time at the end is known. */
const ENDS: ReadonlySet<LogEvent> = new Set([
  'task_completed',
  'task_failed',
  'attempt_completed',
  'attempt_failed',
])

function recordOfRow(execution: Execution, event: LogEvent, row: AttemptRow, more: LogFields): LogRecord {
  const { taskId, startTimeMs, updateTimeMs, referenceTaskName: unit, retryCount: attempt } = row.record
  const duration_ms = startTimeMs > 0 ? Math.max(0, updateTimeMs - startTimeMs) : 0
  return recordOf(execution, event, {
    phase_id: phaseOf(execution, row.unit),
    task_id: taskId,
    ...(ENDS.has(event) ? { duration_ms } : {}),
    ...(execution.trace === undefined ? {} : { span_id: spanIdOf(taskId) }),
    more: { unit, attempt, ...more },
  })
}

function recordOfCheckpoint({
  execution,
  checkpointId,
  phaseId,
  storedBytes,
  endMs,
  durationMs,
}: CheckpointTaken) {
  return recordOf(execution, 'checkpoint_taken', {
    timestamp: isoOf(endMs),
    phase_id: phaseId,
    duration_ms: rounded(durationMs),
    more: { checkpoint_id: checkpointId, bytes: storedBytes },
  })
}

function recordOf(execution: Execution, event: LogEvent, own: Partial<LogRecord>): LogRecord {
  const { workflowId, updatedMs, trace } = execution
  return {
    timestamp: isoOf(updatedMs),
    event,
    execution_id: workflowId,
    ...(trace === undefined ? {} : { trace_id: trace.traceId, span_id: runSpanId(execution) }),
    ...own,
  }
}

function phaseOf({ graph }: Execution, unit: string): string | undefined {
  return indexOf(graph).phases.get(unit)
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}
