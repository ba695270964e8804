/** The order of units: Kahn's algorithm, a whole layer at a time. */

import type { Unit } from './graph.ts'

export interface Layered {
  /** Each in the order in which its units were written, so that equal graphs give equal orders. */
  readonly layers: readonly (readonly Unit[])[]
  /** Units on cycles, and those behind them. */
  readonly left: readonly Unit[]
}

/** Names that are not units of this list are left out: see the problems of a graph. */
export function layersOf(units: readonly Unit[]): Layered {
  const followers = followersOf(units)
  const incoming = new Map(units.map((unit) => [unit, 0]))
  for (const each of followers.values())
    for (const follower of each) incoming.set(follower, (incoming.get(follower) ?? 0) + 1)
  const place = new Map(units.map((unit, index) => [unit, index]))
  const layers: (readonly Unit[])[] = []
  let layer = units.filter((unit) => incoming.get(unit) === 0)
  while (layer.length > 0) {
    layers.push(layer)
    const freed: Unit[] = []
    for (const unit of layer) {
      for (const follower of followers.get(unit.taskReferenceName) ?? []) {
        const count = (incoming.get(follower) ?? 0) - 1
        incoming.set(follower, count)
        if (count === 0) freed.push(follower)
      }
    }
    layer = freed.sort((one, other) => (place.get(one) ?? 0) - (place.get(other) ?? 0))
  }
  return { layers, left: units.filter((unit) => (incoming.get(unit) ?? 0) > 0) }
}

/** By name, the units directly after it. */
export function followersOf(units: readonly Unit[]): ReadonlyMap<string, readonly Unit[]> {
  const followers = new Map<string, Unit[]>(units.map(({ taskReferenceName }) => [taskReferenceName, []]))
  for (const unit of units)
    // A name that is given twice is one dependency.
    for (const name of new Set(unit.after)) followers.get(name)?.push(unit)
  return followers
}
