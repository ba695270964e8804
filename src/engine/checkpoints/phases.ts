/** Which phases of an execution have ended. Pure. */

import type { Graph } from '../graph/graph.ts'
import { layersOf } from '../graph/layers.ts'
import { latestRow, type Execution } from '../protocol/execution.ts'
import { indexOf } from '../protocol/graph-index.ts'
import { isTaskWellEnded } from '../protocol/state.ts'

/** The phases of which every unit has ended well, in the order in which they begin. */
export function finishedPhases(execution: Execution): readonly string[] {
  const { graph } = execution
  const isFinished = new Map<string, boolean>()
  for (const taskReferenceName of inOrder(graph)) {
    const phase = indexOf(graph).phases.get(taskReferenceName) ?? ''
    const row = latestRow(execution, taskReferenceName)
    const hasEnded = row !== undefined && isTaskWellEnded(row.record.status)
    isFinished.set(phase, hasEnded && isFinished.get(phase) !== false)
  }
  return [...isFinished].filter(([, isTrue]) => isTrue).map(([phase]) => phase)
}

const orders = new WeakMap<Graph, readonly string[]>()

/** Layer by layer; found once per graph, since this is asked after every step. */
function inOrder(graph: Graph): readonly string[] {
  const known = orders.get(graph)
  if (known !== undefined) return known
  const order = layersOf(graph.units)
    .layers.flat()
    .map(({ taskReferenceName }) => taskReferenceName)
  orders.set(graph, order)
  return order
}
