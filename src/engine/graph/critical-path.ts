/** Which units decide how long an execution takes, and by how much others may be late. */

import { GRAPH, type GraphAnalysis, type UnitAnalysis } from './analysis.ts'

/** How long an execution takes when nothing waits for a worker or a resource. */
export function totalMs(analysis: GraphAnalysis): number {
  return analysis.lengthsMs.get(GRAPH) ?? 0
}

/**
 * How much later it may start without the execution ending later; 0 for a critical unit. Inside a loop: what its iteration
 * leaves, and what the loop has.
 */
export function slackMs(analysis: GraphAnalysis, name: string): number {
  const unit = analysis.units.get(name)
  if (unit === undefined) return 0
  const { loop, earliestStartMs, tailMs } = unit
  const own = (analysis.lengthsMs.get(loop ?? GRAPH) ?? 0) - earliestStartMs - tailMs
  return own + (loop === undefined ? 0 : slackMs(analysis, loop))
}

export function isCritical(analysis: GraphAnalysis, name: string): boolean {
  return slackMs(analysis, name) === 0
}

/** The chain of the graph's own units that takes longest, from start to end; of several, the one written first. */
export function criticalPath(analysis: GraphAnalysis): readonly string[] {
  const order = analysis.layers.flat().flatMap((name) => analysis.units.get(name) ?? [])
  const total = totalMs(analysis)
  const path: string[] = []
  let next = order.find((unit) => unit.earliestStartMs === 0 && unit.tailMs === total)
  while (next !== undefined) {
    const current: UnitAnalysis = next
    path.push(current.unit.taskReferenceName)
    next = order.find(
      ({ unit, earliestStartMs, tailMs }) =>
        unit.after.includes(current.unit.taskReferenceName) &&
        earliestStartMs === current.earliestStartMs + current.lengthMs &&
        tailMs === current.tailMs - current.lengthMs,
    )
  }
  return path
}

export interface Phase {
  readonly name: string
  /** In the order of the graph, units inside loops included. */
  readonly units: readonly string[]
}

/** In the order in which their first units come. */
export function phasesOf(analysis: GraphAnalysis): readonly Phase[] {
  const phases = new Map<string, string[]>()
  const ordered = analysis.layers.flat()
  const nested = [...analysis.units.values()].filter(({ loop }) => loop !== undefined)
  for (const name of [...ordered, ...nested.map(({ unit }) => unit.taskReferenceName)]) {
    const phase = analysis.units.get(name)?.phase ?? ''
    const units = phases.get(phase) ?? []
    units.push(name)
    phases.set(phase, units)
  }
  return [...phases].map(([name, units]) => ({ name, units }))
}
