/** Cycles of a graph. */

import type { Unit } from './graph.ts'
import { followersOf, layersOf } from './layers.ts'

/**
 * Cycles that have no unit in common, each a shortest one through its first unit; a unit after itself is not reported here.
 * Every cycle of the graph shares a unit with one of them: where two cycles cross, the second one shows once the first is gone.
 */
export function findCycles(units: readonly Unit[]): readonly (readonly string[])[] {
  const open = new Set(layersOf(units).left.map(({ taskReferenceName }) => taskReferenceName))
  if (open.size === 0) return []
  const followers = followersOf(units)
  const next = (name: string): readonly string[] =>
    (followers.get(name) ?? [])
      .map(({ taskReferenceName }) => taskReferenceName)
      .filter((follower) => follower !== name && open.has(follower))
  const cycles: (readonly string[])[] = []
  for (const start of [...open]) {
    if (!open.has(start)) continue
    const cycle = shortestCycle(start, next)
    for (const name of cycle) open.delete(name)
    // Without a cycle through it, it is on none of the ones that are left.
    open.delete(start)
    if (cycle.length > 0) cycles.push(cycle)
  }
  return cycles
}

function shortestCycle(start: string, next: (name: string) => readonly string[]): readonly string[] {
  const cameFrom = new Map<string, string>()
  // Grows while it is walked.
  const queue = [start]
  for (const name of queue) {
    for (const follower of next(name)) {
      if (follower === start) return pathTo(name, cameFrom)
      if (cameFrom.has(follower)) continue
      cameFrom.set(follower, name)
      queue.push(follower)
    }
  }
  return []
}

function pathTo(end: string, cameFrom: ReadonlyMap<string, string>): readonly string[] {
  const path = [end]
  for (let name = cameFrom.get(end); name !== undefined; name = cameFrom.get(name)) path.unshift(name)
  return path
}
