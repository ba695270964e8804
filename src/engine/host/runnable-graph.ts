/** What this host asks of a graph, beside what holds for every graph. Pure. */

import { InvalidError, isPeragoError } from '../../base/errors.ts'
import { checkNodeId, checkPipelineName } from '../../core/namespaces/names.ts'
import { walkUnits, type Graph } from '../graph/graph.ts'
import { requireSoundGraph, type GraphLimits } from '../graph/problems.ts'

/** Throws `engine/bad-name`, or what `requireSoundGraph` throws. */
export function requireRunnable(graph: Graph, limits: GraphLimits): void {
  requireSoundGraph(graph, limits)
  try {
    // The log and the variables of an execution are named after these.
    checkPipelineName(graph.name)
    for (const { taskReferenceName } of walkUnits(graph.units)) checkNodeId(taskReferenceName)
  } catch (error) {
    if (!isPeragoError(error)) throw error
    throw new InvalidError('engine/bad-name', `run the graph "${graph.name}": ${error.message}`, {
      cause: error,
      next: error.next,
    })
  }
}
