/** EACH and DO_WHILE: iterations of the units inside, named with `__1`, `__2`, … */

import { InvalidError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'
import type { EachUnit, WhileUnit } from '../graph/graph.ts'
import type { AttemptRow, Loop, RowChange } from './execution.ts'
import { frameOf, iterationFrame, type Frame } from './frames.ts'
import { unitsIn } from './graph-index.ts'
import { isTaskWellEnded } from './state.ts'
import type { Step } from './step.ts'
import { fillValue, judge } from './values.ts'

type VisitFrame = (step: Step, frame: Frame) => void

export function beginEach(step: Step, row: AttemptRow, unit: EachUnit): RowChange {
  const { record } = row
  const at = { frame: frameOf(row, step.index), taskId: record.taskId }
  const items = fillValue(step, unit.items, at)
  if (!Array.isArray(items))
    throw badItems(row, `its items are ${items === null ? 'null' : typeof items} and must be a list`)
  const { length } = items as readonly Json[]
  if (length > unit.max) throw badItems(row, `it has ${length} items; at most ${unit.max} are allowed`)
  // Kept: what the expression refers to may change while iterations run.
  return { record: { input: { ...record.input, items } }, loop: { count: length, started: 0, open: [] } }
}

export function goOnWithEach(step: Step, row: AttemptRow, unit: EachUnit, visit: VisitFrame): void {
  const before = row.loop ?? { count: 0, started: 0, open: [] }
  const count = before.count ?? 0
  let { started, open } = before
  for (;;) {
    for (const iteration of open) visit(step, iterationFrame(row, iteration))
    if (step.execution.ending !== undefined) return
    open = open.filter((iteration) => !hasEnded(step, iterationFrame(row, iteration)))
    const next = Math.min(Math.max(0, unit.atOnce - open.length), count - started)
    if (next === 0) break
    open = [...open, ...Array.from({ length: next }, (_, at) => started + at + 1)]
    started += next
  }
  if (open.length === 0) step.end(row, { status: 'COMPLETED', output: resultsOf(step, row, count) })
  else keep(step, row, { count, started, open })
}

export function beginWhile(): RowChange {
  return {
    loop: { count: undefined, started: 1, open: [1] },
    record: { iteration: 1, output: { iteration: 1 } },
  }
}

export function goOnWithWhile(step: Step, row: AttemptRow, unit: WhileUnit, visit: VisitFrame): void {
  for (let iteration = row.loop?.started ?? 1; ; iteration++) {
    const frame = iterationFrame(row, iteration)
    keep(step, row, { count: undefined, started: iteration, open: [iteration] })
    visit(step, frame)
    if (step.execution.ending !== undefined || !hasEnded(step, frame)) return
    if (judge(step, unit.loopCondition, frame) !== true) {
      const output = Object.fromEntries(
        Array.from({ length: iteration }, (_, at) => [
          String(at + 1),
          outputsOf(step, iterationFrame(row, at + 1)),
        ]),
      )
      step.end(row, { status: 'COMPLETED', output: { ...output, iteration }, iteration })
      return
    }
    if (iteration >= unit.max) {
      const reasonForIncompletion = `"${unit.loopCondition}" still holds after ${iteration} iterations, the maximum`
      step.end(row, { status: 'FAILED_WITH_TERMINAL_ERROR', reasonForIncompletion, iteration })
      return
    }
  }
}

function keep(step: Step, row: AttemptRow, loop: Loop): void {
  const { started, open } = step.latest(row.record.referenceTaskName)?.loop ?? {}
  const isSame = started === loop.started && open?.join() === loop.open.join()
  if (isSame) return
  const iteration = loop.started
  step.change(row, {
    loop,
    ...(loop.count === undefined ? { record: { iteration, output: { iteration } } } : {}),
  })
}

function hasEnded(step: Step, frame: Frame): boolean {
  return unitsIn(step.execution.graph, frame.container).every((unit) => {
    const row = step.latest(unit.taskReferenceName + frame.suffix)
    return row !== undefined && isTaskWellEnded(row.record.status)
  })
}

function resultsOf(step: Step, row: AttemptRow, count: number): JsonObject {
  return { results: Array.from({ length: count }, (_, at) => outputsOf(step, iterationFrame(row, at + 1))) }
}

function outputsOf(step: Step, frame: Frame): JsonObject {
  const outputs = unitsIn(step.execution.graph, frame.container).flatMap(({ taskReferenceName }) => {
    const row = step.latest(taskReferenceName + frame.suffix)
    if (row === undefined || row.record.status === 'SKIPPED') return []
    return [[taskReferenceName, row.record.output] as const]
  })
  return Object.fromEntries(outputs)
}

function badItems({ record }: AttemptRow, why: string): InvalidError {
  return new InvalidError('engine/bad-items', `run each item of ${record.referenceTaskName}: ${why}`)
}
