/** Where a unit runs: at the top of the graph, or in one iteration of a loop. Its attempts are named with the frame's suffix. */

import type { AttemptRow } from './execution.ts'
import type { GraphIndex } from './graph-index.ts'

export interface Frame {
  /** The EACH or DO_WHILE; `undefined` at the top. */
  readonly container: string | undefined
  /** `__2` in the second iteration, `__2__1` in the first one of a loop in there. */
  readonly suffix: string
}

export const TOP: Frame = { container: undefined, suffix: '' }

export function frameOf(row: AttemptRow, index: GraphIndex): Frame {
  return {
    container: index.containers.get(row.unit),
    suffix: row.record.referenceTaskName.slice(row.unit.length),
  }
}

export function iterationFrame(container: AttemptRow, iteration: number): Frame {
  const suffix = container.record.referenceTaskName.slice(container.unit.length)
  return { container: container.unit, suffix: `${suffix}__${iteration}` }
}

/** The frame around a loop's iteration; `undefined` at the top. */
export function outerFrame({ container, suffix }: Frame, index: GraphIndex): Frame | undefined {
  if (container === undefined) return undefined
  return { container: index.containers.get(container), suffix: suffix.slice(0, suffix.lastIndexOf('__')) }
}

/** The number of the iteration that a frame is. */
export function iterationOf({ suffix }: Frame): number {
  return suffix === '' ? 0 : Number(suffix.slice(suffix.lastIndexOf('__') + 2))
}

/** The reference name that `unit` has for those in this frame; `undefined` if it is in a loop that they are not in. */
export function referenceFrom(frame: Frame, unit: string, index: GraphIndex): string | undefined {
  const container = index.containers.get(unit)
  let at: Frame | undefined = frame
  while (at !== undefined && at.container !== container) at = outerFrame(at, index)
  return at === undefined ? undefined : unit + at.suffix
}
