/**
 * Brings every unit as far as it gets: skips it, begins it, goes on with it. What ends in between lets those after it start
 * in the same step.
 */

import { isPeragoError } from '../../base/errors.ts'
import type { Unit } from '../graph/graph.ts'
import type { AttemptRow } from './execution.ts'
import { TOP, referenceFrom, type Frame } from './frames.ts'
import { unitsIn } from './graph-index.ts'
import { addPassedOver, addSystemRow, addTask } from './rows.ts'
import { isTaskOpen, isTaskWellEnded } from './state.ts'
import type { Step } from './step.ts'
import { beginUnit, goOnWithUnit } from './system-units.ts'
import { chosenCase, judge } from './values.ts'

export function advance(step: Step): void {
  while (hasMoreToVisit(step));
}

/** True if a unit waits and another has ended since: what it waits for may have come from there. */
function hasMoreToVisit(step: Step): boolean {
  const { ends } = step
  visitFrame(step, TOP)
  return step.takeWaiting() && step.ends !== ends && step.execution.ending === undefined
}

/** Also the units of one iteration. */
function visitFrame(step: Step, frame: Frame): void {
  const queue = [...unitsIn(step.execution.graph, frame.container)]
  for (const unit of queue) {
    if (step.execution.ending !== undefined) return
    const { ends } = step
    visit(step, unit, frame)
    if (step.ends === ends) continue
    for (const name of step.index.dependents.get(unit.taskReferenceName) ?? []) {
      const dependent = step.index.units.get(name)
      if (dependent !== undefined) queue.push(dependent)
    }
  }
}

function visit(step: Step, unit: Unit, frame: Frame): void {
  const row = step.latest(unit.taskReferenceName + frame.suffix)
  if (row === undefined) {
    if (unit.after.every((name) => hasEnded(step, name, frame))) start(step, unit, frame)
  } else if (unit.type !== 'SIMPLE' && isTaskOpen(row.record.status)) goOn(step, row, unit)
}

function hasEnded(step: Step, name: string, frame: Frame): boolean {
  const row = rowBefore(step, name, frame)
  return row !== undefined && isTaskWellEnded(row.record.status)
}

function rowBefore(step: Step, name: string, frame: Frame): AttemptRow | undefined {
  const reference = referenceFrom(frame, name, step.index)
  return reference === undefined ? undefined : step.latest(reference)
}

/** All before it have ended. */
function start(step: Step, unit: Unit, frame: Frame): void {
  try {
    const why = whyPassedOver(step, unit, frame)
    if (why !== undefined) {
      addPassedOver(step, unit, frame, why)
      return
    }
    if (unit.startWhen !== undefined && judge(step, unit.startWhen, frame) !== true) {
      step.noteWaiting()
      return
    }
    if (unit.onlyIf !== undefined && judge(step, unit.onlyIf, frame) !== true) {
      addPassedOver(step, unit, frame, `skipped: "${unit.onlyIf}" does not hold`)
      return
    }
    if (unit.type === 'SIMPLE') addTask(step, unit, frame)
    else goOn(step, addSystemRow(step, unit, frame), unit)
  } catch (error) {
    failForGood(
      step,
      step.latest(unit.taskReferenceName + frame.suffix) ?? addSystemRow(step, unit, frame),
      error,
    )
  }
}

function whyPassedOver(step: Step, unit: Unit, frame: Frame): string | undefined {
  const { after, onlyIn } = unit
  if (onlyIn !== undefined) {
    const row = rowBefore(step, onlyIn.unit, frame)
    const before = step.index.units.get(onlyIn.unit)
    const chosen = row === undefined || before?.type !== 'SWITCH' ? undefined : chosenCase(before, row)
    if (chosen !== onlyIn.case) return `skipped: ${onlyIn.unit} did not choose "${onlyIn.case}"`
  }
  const isLeftOut =
    after.length > 0 && after.every((name) => rowBefore(step, name, frame)?.isPassedOver === true)
  return isLeftOut ? 'skipped: everything before it was skipped' : undefined
}

function goOn(step: Step, row: AttemptRow, unit: Exclude<Unit, { type: 'SIMPLE' }>): void {
  const isDue = (row.wakeMs ?? Infinity) <= step.moment.nowMs
  try {
    if (row.record.status === 'SCHEDULED' && !isDue) return
    const begun = row.record.status === 'SCHEDULED' ? beginUnit(step, row, unit) : row
    if (begun !== undefined) goOnWithUnit(step, begun, unit, visitFrame)
  } catch (error) {
    failForGood(step, row, error)
  }
}

/** What the definition got wrong, such as an expression that compares a number with a string, fails its unit. */
function failForGood(step: Step, row: AttemptRow, error: unknown): void {
  if (!isPeragoError(error) || error.kind !== 'invalid') throw error
  step.end(row, { status: 'FAILED_WITH_TERMINAL_ERROR', reasonForIncompletion: error.message })
}
