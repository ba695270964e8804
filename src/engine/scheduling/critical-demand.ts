/** What the critical units of an execution will demand next. */

import type { GraphAnalysis } from '../graph/analysis.ts'
import { isCritical } from '../graph/critical-path.ts'
import type { Graph, Unit } from '../graph/graph.ts'
import { RESOURCES, type ResourcePool } from '../graph/resources.ts'
import type { Execution } from '../protocol/execution.ts'

/** Found once per execution: of most graphs there are none. */
export function criticalAndDemanding({ units }: Graph, analysis: GraphAnalysis): readonly Unit[] {
  return units.filter(
    ({ taskReferenceName: name, planning }) => planning?.demand !== undefined && isCritical(analysis, name),
  )
}

/**
 * The demand of the critical units that are not handed out yet, and that wait for nothing but units that run, have ended, or are
 * critical too. One that waits for a unit of lower rank is not counted: room kept for it could be the room that the other needs.
 * Which units are critical follows the recorded durations.
 */
export function predictCriticalDemand(
  execution: Execution,
  analysis: GraphAnalysis,
  demanding: readonly Unit[],
): ResourcePool {
  const statusOf = new Map(execution.rows.map(({ record }) => [record.referenceTaskName, record.status]))
  const comesFirst = (name: string): boolean => {
    const status = statusOf.get(name)
    return status !== undefined && (status !== 'SCHEDULED' || isCritical(analysis, name))
  }
  const next = demanding.filter(({ taskReferenceName: name, after }) => {
    const status = statusOf.get(name)
    return status === undefined ? after.every(comesFirst) : status === 'SCHEDULED'
  })
  const sum = { cpu: 0, memoryBytes: 0, gpu: 0 }
  for (const { planning } of next)
    for (const resource of RESOURCES) sum[resource] += planning?.demand?.[resource] ?? 0
  return sum
}
