/** The units that no worker polls for: how each kind begins, and how it goes on at every step while it is open. */

import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { ChildUnit, EndUnit, JoinUnit, SwitchUnit, Unit, WaitUnit } from '../graph/graph.ts'
import type { AttemptRow, RowChange } from './execution.ts'
import { frameOf, type Frame } from './frames.ts'
import { beginEach, beginWhile, goOnWithEach, goOnWithWhile } from './loops.ts'
import { isTaskOpen } from './state.ts'
import type { Step } from './step.ts'
import { fill, fillValue, rowNamed } from './values.ts'

export type SystemUnit = Exclude<Unit, { type: 'SIMPLE' }>

/** Goes through the units of an iteration; passed in because it comes back here for units inside. */
export type VisitFrame = (step: Step, frame: Frame) => void

/** Returns the row while it is open. Throws an `InvalidError` for what is wrong in the definition. */
export function beginUnit(step: Step, row: AttemptRow, unit: SystemUnit): AttemptRow | undefined {
  const { nowMs } = step.moment
  const frame = frameOf(row, step.index)
  const input = fill(step, unit.inputParameters, { frame, taskId: row.record.taskId })
  const begun = step.change(row, {
    wakeMs: undefined,
    record: { status: 'IN_PROGRESS', startTimeMs: nowMs, updateTimeMs: nowMs, input },
  })
  const change = begin(step, begun, unit)
  if (change === undefined) return undefined
  return Object.keys(change).length === 0 ? begun : step.change(begun, change)
}

export function goOnWithUnit(step: Step, row: AttemptRow, unit: SystemUnit, visit: VisitFrame): void {
  if (unit.type === 'EACH') goOnWithEach(step, row, unit, visit)
  else if (unit.type === 'DO_WHILE') goOnWithWhile(step, row, unit, visit)
  else if (unit.type === 'SUB_WORKFLOW') goOnWithChild(step, row)
  else if (unit.type === 'WAIT') goOnWithWait(step, row, unit)
  else expire(step, row)
}

/** What changes of an open row; `undefined`: it has ended. */
function begin(step: Step, row: AttemptRow, unit: SystemUnit): RowChange | undefined {
  switch (unit.type) {
    case 'JOIN': {
      join(step, row, unit)
      return
    }
    case 'SWITCH': {
      choose(step, row, unit)
      return
    }
    case 'SET_VARIABLE': {
      setVariables(step, row)
      return
    }
    case 'TERMINATE': {
      terminate(step, row, unit)
      return
    }
    case 'WAIT':
      return beginWait(step, row, unit)
    case 'HUMAN':
      return { timeoutMs: timeoutOf(step, unit.timeoutSeconds) }
    case 'SUB_WORKFLOW':
      return beginChild(step, unit)
    case 'EACH':
      return beginEach(step, row, unit)
    case 'DO_WHILE':
      return beginWhile()
  }
}

function join(step: Step, row: AttemptRow, { after }: JoinUnit): undefined {
  const frame = frameOf(row, step.index)
  const joined = after.flatMap((name) => {
    const before = rowNamed(step, name, frame)
    return before === undefined || before.record.status === 'SKIPPED' ? [] : [[name, before.record] as const]
  })
  const hasErrors = joined.some(([, { status }]) => status === 'COMPLETED_WITH_ERRORS')
  // Conductor leaves out the outputs that have nothing in them.
  const full = joined.filter(([, record]) => Object.keys(record.output).length > 0)
  const output = Object.fromEntries(full.map(([name, record]) => [name, record.output]))
  step.end(row, { status: hasErrors ? 'COMPLETED_WITH_ERRORS' : 'COMPLETED', output })
}

function choose(step: Step, row: AttemptRow, { expression }: SwitchUnit): undefined {
  const value = fillValue(step, expression, { frame: frameOf(row, step.index), taskId: row.record.taskId })
  // Compared as text, as in Conductor: `true` chooses the case "true".
  const chosen = typeof value === 'string' ? value : JSON.stringify(value)
  step.end(row, { status: 'COMPLETED', output: { evaluationResult: [chosen], selectedCase: chosen } })
}

function setVariables(step: Step, row: AttemptRow): undefined {
  const { input } = row.record
  step.set({ variables: { ...step.execution.variables, ...input } })
  for (const [name, value] of Object.entries(input)) step.setNow.set(name, value)
  step.end(row, { status: 'COMPLETED' })
}

function terminate(step: Step, row: AttemptRow, unit: EndUnit): undefined {
  const at = { frame: frameOf(row, step.index), taskId: row.record.taskId }
  const output = fill(step, unit.workflowOutput ?? {}, at)
  const reason =
    unit.terminationReason === undefined ? undefined : fillValue(step, unit.terminationReason, at)
  step.end(row, { status: 'COMPLETED', output })
  step.set({
    ending: {
      status: unit.terminationStatus,
      reason: typeof reason === 'string' || reason === undefined ? reason : JSON.stringify(reason),
      output,
    },
  })
}

function beginWait(step: Step, row: AttemptRow, unit: WaitUnit): RowChange {
  const { nowMs } = step.moment
  const times = [
    ...(unit.seconds === undefined ? [] : [nowMs + unit.seconds * 1000]),
    ...(unit.until === undefined ? [] : [timeOf(step, row, unit.until)]),
  ]
  return {
    wakeMs: times.length === 0 ? undefined : Math.min(...times),
    timeoutMs: timeoutOf(step, unit.timeoutSeconds),
  }
}

function timeOf(step: Step, row: AttemptRow, until: string): number {
  const value = fillValue(step, until, { frame: frameOf(row, step.index), taskId: row.record.taskId })
  const timeMs = typeof value === 'string' ? Date.parse(value) : NaN
  if (Number.isFinite(timeMs)) return timeMs
  throw new InvalidError(
    'engine/bad-time',
    `wait in ${row.record.referenceTaskName}: ${JSON.stringify(value)} is not a time`,
    { next: 'Give a time in ISO 8601, such as 2026-01-01T00:00:00Z.' },
  )
}

function goOnWithWait(step: Step, row: AttemptRow, { events = [], which = 'all' }: WaitUnit): void {
  const happened = events.filter((type) => step.moment.scope.has(type))
  const isThere = which === 'all' ? happened.length === events.length : happened.length > 0
  if (events.length > 0 && isThere) {
    end({ events: happened })
    return
  }
  if ((row.wakeMs ?? Infinity) <= step.moment.nowMs) {
    end(events.length > 0 ? { events: happened } : {})
    return
  }
  expire(step, row)

  function end(output: JsonObject): void {
    step.end(row, { status: 'COMPLETED', output })
  }
}

function timeoutOf({ moment }: Step, seconds: number | undefined): number | undefined {
  return seconds === undefined || seconds === 0 ? undefined : moment.nowMs + seconds * 1000
}

function expire(step: Step, row: AttemptRow): void {
  if (row.timeoutMs === undefined || row.timeoutMs > step.moment.nowMs) return
  const seconds = (row.timeoutMs - row.record.startTimeMs) / 1000
  step.end(row, { status: 'TIMED_OUT', reasonForIncompletion: `timeout: not ended after ${seconds} seconds` })
}

function beginChild(step: Step, { subWorkflowParam: { name, version } }: ChildUnit): RowChange {
  const workflowId: string = step.nextTaskId()
  return {
    child: { workflowId: workflowId as WorkflowId, name, version },
    record: { output: { subWorkflowId: workflowId } },
  }
}

function goOnWithChild(step: Step, row: AttemptRow): void {
  const { child } = row
  const ended = child === undefined ? undefined : step.moment.childEnd(child.workflowId)
  if (child === undefined || ended === undefined || !isTaskOpen(row.record.status)) return
  step.end(row, {
    status: ended.status === 'TERMINATED' ? 'CANCELED' : ended.status,
    output: { ...ended.output, subWorkflowId: child.workflowId },
    reasonForIncompletion: ended.reason,
  })
}
