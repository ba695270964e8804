/** A graph that grows while it is known: only what a new unit affects is analysed again. */

import {
  addBackward,
  addForward,
  GRAPH,
  type GraphAnalysis,
  type ListPlace,
  type UnitAnalysis,
} from './analysis.ts'
import type { Graph, Unit } from './graph.ts'
import { findUnitProblems, requireNone, type GraphLimits } from './problems.ts'

/**
 * The analysis of the graph with this unit added at its end; equal to that of the whole graph. The entries of units that are
 * not before it are those of `analysis`. Throws what `requireSoundGraph` throws, for the new unit.
 */
export function addUnit(analysis: GraphAnalysis, unit: Unit, limits: GraphLimits = {}): GraphAnalysis {
  const { basis } = analysis
  requireNone(analysis.graph.name, findUnitProblems(analysis.graph, unit, { pool: basis.pool, ...limits }))
  const graph: Graph = { ...analysis.graph, units: [...analysis.graph.units, unit] }
  const units = new Map(analysis.units)
  const lengthsMs = new Map(analysis.lengthsMs)
  const place: ListPlace = { loop: undefined, basis, units, lengthsMs }
  const name = unit.taskReferenceName
  const layer = Math.max(-1, ...unit.after.map((each) => units.get(each)?.layer ?? -1)) + 1
  addForward(unit, layer, place)
  addBackward(name, { dependents: 0, tailMs: 0 }, place)
  updateBefore(unit, place)
  const { earliestStartMs = 0, lengthMs = 0 } = units.get(name) ?? {}
  lengthsMs.set(GRAPH, Math.max(lengthsMs.get(GRAPH) ?? 0, earliestStartMs + lengthMs))
  return { graph, basis, layers: layersWith(analysis.layers, layer, name), units, lengthsMs }
}

/** The units before the new one have one dependent more, and perhaps a longer tail. */
function updateBefore(unit: Unit, place: ListPlace): void {
  const { units } = place
  /** The longest new tail directly behind each of them. */
  const behind = new Map<string, number>()
  const handOn = (name: string): void => {
    const entry = units.get(name)
    for (const earlier of entry?.unit.after ?? [])
      behind.set(earlier, Math.max(behind.get(earlier) ?? 0, entry?.tailMs ?? 0))
  }
  handOn(unit.taskReferenceName)
  // From the end to the start: by the time a unit's turn comes, everything behind it is known.
  for (const { unit: earlier, dependents, tailMs, lengthMs } of unitsBefore(unit, units)) {
    const name = earlier.taskReferenceName
    const longest = Math.max(tailMs - lengthMs, behind.get(name) ?? 0)
    addBackward(name, { dependents: dependents + 1, tailMs: longest }, place)
    handOn(name)
  }
}

function unitsBefore(unit: Unit, units: ReadonlyMap<string, UnitAnalysis>): readonly UnitAnalysis[] {
  const found = new Set<string>()
  // Grows while it is walked.
  const open = [...unit.after]
  for (const name of open) {
    if (found.has(name)) continue
    found.add(name)
    open.push(...(units.get(name)?.unit.after ?? []))
  }
  return [...found].flatMap((name) => units.get(name) ?? []).sort((one, other) => other.layer - one.layer)
}

function layersWith(layers: GraphAnalysis['layers'], layer: number, name: string): GraphAnalysis['layers'] {
  return layers[layer] === undefined
    ? [...layers, [name]]
    : layers.map((names, index) => (index === layer ? [...names, name] : names))
}
