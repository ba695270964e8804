/** What the rules look up in a graph, found once per graph. */

import { isTask, walkUnits, type Graph, type Unit } from '../graph/graph.ts'
import { layersOf } from '../graph/layers.ts'
import type { AttemptRow } from './execution.ts'

export interface GraphIndex {
  /** Those inside others included. */
  readonly units: ReadonlyMap<string, Unit>
  /** The EACH or DO_WHILE whose units a unit belongs to; `undefined` at the top. */
  readonly containers: ReadonlyMap<string, string | undefined>
  /**
   * The units that may start when this one has ended. For a unit inside a loop that waits for one outside, this is the loop
   * beside the outer one.
   */
  readonly dependents: ReadonlyMap<string, readonly string[]>
  /** The label, or the layer: `layer-1`, `layer-2`, … Units inside others are of the phase of these. */
  readonly phases: ReadonlyMap<string, string>
}

const indexes = new WeakMap<Graph, GraphIndex>()

export function indexOf(graph: Graph): GraphIndex {
  const known = indexes.get(graph)
  if (known !== undefined) return known
  const units = new Map(walkUnits(graph.units).map((unit) => [unit.taskReferenceName, unit]))
  const containers = new Map(containersIn(graph.units, undefined))
  const found = { units, containers, dependents: dependentsOf(units, containers), phases: phasesOf(graph) }
  indexes.set(graph, found)
  return found
}

/** The units of the graph or, with the name of an EACH or DO_WHILE, those inside it. */
export function unitsIn(graph: Graph, container: string | undefined): readonly Unit[] {
  if (container === undefined) return graph.units
  const unit = indexOf(graph).units.get(container)
  return unit?.type === 'EACH' || unit?.type === 'DO_WHILE' ? unit.units : []
}

/** The unit in this container that is or holds `name`; `undefined` if none does. */
function heldBy(
  containers: GraphIndex['containers'],
  name: string,
  container: string | undefined,
): string | undefined {
  let at: string | undefined = name
  while (at !== undefined && containers.get(at) !== container) at = containers.get(at)
  return at
}

/** Whether workers poll for it. */
export function isPolled({ units }: GraphIndex, row: Pick<AttemptRow, 'role' | 'unit'>): boolean {
  const unit = units.get(row.unit)
  return row.role !== 'run' || (unit !== undefined && isTask(unit))
}

function containersIn(
  units: readonly Unit[],
  container: string | undefined,
): readonly (readonly [string, string | undefined])[] {
  return units.flatMap((unit) => [
    [unit.taskReferenceName, container] as const,
    ...(unit.type === 'EACH' || unit.type === 'DO_WHILE'
      ? containersIn(unit.units, unit.taskReferenceName)
      : []),
  ])
}

function dependentsOf(
  units: GraphIndex['units'],
  containers: GraphIndex['containers'],
): ReadonlyMap<string, readonly string[]> {
  const dependents = new Map<string, string[]>()
  for (const [name, unit] of units)
    for (const before of unit.after) {
      const waiting = heldBy(containers, name, containers.get(before))
      if (waiting === undefined || waiting === before) continue
      const others = dependents.get(before)
      if (others === undefined) dependents.set(before, [waiting])
      else others.push(waiting)
    }
  return dependents
}

function phasesOf(graph: Graph): ReadonlyMap<string, string> {
  const phases = layersOf(graph.units).layers.flatMap((layer, at) =>
    layer.flatMap((unit) => {
      const phase = unit.phase ?? `layer-${at + 1}`
      return walkUnits([unit]).map(({ taskReferenceName }) => [taskReferenceName, phase] as const)
    }),
  )
  return new Map(phases)
}
