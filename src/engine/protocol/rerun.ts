/** What stays of an execution that runs again from one of its tasks. */

import type { AttemptRow, Execution } from './execution.ts'
import { hasFailed } from './failures.ts'
import { frameOf, iterationOf, outerFrame, type Frame } from './frames.ts'
import { indexOf, type GraphIndex } from './graph-index.ts'
import { latestRow } from './execution.ts'

/** The rows up to `from`, with the loops around it open again; without what depends on it, and without failures. */
export function rowsBefore(execution: Execution, from: AttemptRow): readonly AttemptRow[] {
  const index = indexOf(execution.graph)
  const reopened = loopsAround(execution, from, index)
  const gone = namesAfter(from, index)
  return execution.rows.flatMap((row) => {
    const { record } = row
    const loop = reopened.get(record.taskId)
    if (loop !== undefined) return [loop]
    if (row.role !== 'run') return []
    if (record.referenceTaskName === from.record.referenceTaskName)
      return record.seq <= from.record.seq ? [row] : []
    const isSkippedByOperator = record.status === 'SKIPPED' && row.isPassedOver !== true
    if (isSkippedByOperator) return [row]
    if (isLaterIteration(row, from, index) || namesAround(row, index).some((name) => gone.has(name)))
      return []
    const last = latestRow(execution, record.referenceTaskName)
    return last !== undefined && hasFailed(last) ? [] : [row]
  })
}

/** The reference names of what depends on a row, in its own frame and in those around it. */
function namesAfter(from: AttemptRow, index: GraphIndex): ReadonlySet<string> {
  const names = new Set<string>()
  let unit = from.unit
  let frame: Frame | undefined = frameOf(from, index)
  // What is inside the loop that is run again goes as well; the loop itself is not among these names.
  names.add(`inside ${from.record.referenceTaskName}`)
  while (frame !== undefined) {
    const found: string[] = [unit]
    for (const name of found)
      for (const dependent of index.dependents.get(name) ?? [])
        if (!names.has(dependent + frame.suffix)) {
          names.add(dependent + frame.suffix)
          names.add(`inside ${dependent}${frame.suffix}`)
          found.push(dependent)
        }
    if (frame.container !== undefined) unit = frame.container
    frame = outerFrame(frame, index)
  }
  return names
}

/** A row's own name, and `inside …` for the loops that it is in. */
function namesAround(row: AttemptRow, index: GraphIndex): readonly string[] {
  const names = [row.record.referenceTaskName]
  let frame: Frame | undefined = frameOf(row, index)
  while (frame?.container !== undefined) {
    const outer = outerFrame(frame, index)
    names.push(`inside ${frame.container}${outer?.suffix ?? ''}`)
    frame = outer
  }
  return names
}

/** Iterations of a DO_WHILE follow one another, so that a later one depends on this. */
function isLaterIteration(row: AttemptRow, from: AttemptRow, index: GraphIndex): boolean {
  let own: Frame | undefined = frameOf(from, index)
  while (own?.container !== undefined) {
    if (index.units.get(own.container)?.type === 'DO_WHILE') {
      let other: Frame | undefined = frameOf(row, index)
      while (other !== undefined && other.container !== own.container) other = outerFrame(other, index)
      const isSameLoop =
        other !== undefined && outerFrame(other, index)?.suffix === outerFrame(own, index)?.suffix
      if (isSameLoop && other !== undefined && iterationOf(other) > iterationOf(own)) return true
    }
    own = outerFrame(own, index)
  }
  return false
}

function loopsAround(
  execution: Execution,
  from: AttemptRow,
  index: GraphIndex,
): ReadonlyMap<string, AttemptRow> {
  const loops = new Map<string, AttemptRow>()
  let frame: Frame | undefined = frameOf(from, index)
  while (frame?.container !== undefined) {
    const outer = outerFrame(frame, index)
    const row = latestRow(execution, frame.container + (outer?.suffix ?? ''))
    if (row?.loop !== undefined) loops.set(row.record.taskId, openAt(row, iterationOf(frame), index))
    frame = outer
  }
  return loops
}

function openAt(row: AttemptRow, iteration: number, index: GraphIndex): AttemptRow {
  const { count, started = 0, open = [] } = row.loop ?? { count: undefined }
  const isWhile = index.units.get(row.unit)?.type === 'DO_WHILE'
  return {
    ...row,
    loop: isWhile
      ? { count, started: iteration, open: [iteration] }
      : { count, started, open: [...new Set([...open, iteration])] },
    record: {
      ...row.record,
      status: 'IN_PROGRESS',
      output: {},
      reasonForIncompletion: undefined,
      ...(isWhile ? { iteration } : {}),
    },
  }
}
