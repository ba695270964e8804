/** Checks a graph, and tells how long that took. */

import type { Clock } from '../../base/clock.ts'
import { walkUnits, type Graph } from '../graph/graph.ts'
import type { GraphLimits } from '../graph/problems.ts'
import type { EngineObserver, GraphParsed } from '../telemetry/engine-events.ts'
import { requireRunnable } from './runnable-graph.ts'

export interface ParseParts {
  readonly clock: Clock
  readonly observe: EngineObserver
  readonly graphLimits: GraphLimits
}

/** Throws what `requireRunnable` throws. */
export function parseGraph(
  { clock, observe, graphLimits }: ParseParts,
  graph: Graph,
  start?: GraphParsed['start'],
): void {
  const beganMs = clock.monotonicMs()
  const tell = (error?: unknown): void => {
    const times = { endMs: clock.now().getTime(), durationMs: clock.monotonicMs() - beganMs }
    const about = { name: graph.name, units: [...walkUnits(graph.units)].length }
    observe({
      kind: 'graph-parsed',
      ...about,
      ...times,
      ...(error === undefined ? {} : { error }),
      ...(start === undefined ? {} : { start }),
    })
  }
  try {
    requireRunnable(graph, graphLimits)
  } catch (error) {
    tell(error)
    throw error
  }
  tell()
}
