/**
 * What scheduling needs to know of a graph: its layers, its phases, how risky each unit is, when each could start and how much work
 * depends on it. Times assume that nothing waits for a worker or a resource.
 *
 * Slack is computed from what is stored: when a unit is added, only its own entry and those of the units before it are new.
 */

import { EXPECTED_DURATION_MS } from '../limits.ts'
import type { Graph, Unit } from './graph.ts'
import { meanDurationOf, type GraphHistory } from './history.ts'
import { followersOf, layersOf } from './layers.ts'
import { DEFAULT_POOL, type ResourcePool } from './resources.ts'
import { riskFactorsOf, riskScore, type RiskFactors } from './risk.ts'

export interface UnitAnalysis {
  readonly unit: Unit
  /** The loop that it is inside of. */
  readonly loop: string | undefined
  /** Within its list, from 0. */
  readonly layer: number
  /** That of its loop; else its label, or its layer: `layer-1` is the first one. */
  readonly phase: string
  /** Units that wait for it, directly or not. */
  readonly dependents: number
  readonly factors: RiskFactors
  readonly risk: number
  /** Its start delay and its expected duration, in whole milliseconds. */
  readonly lengthMs: number
  /** After the start of its list. */
  readonly earliestStartMs: number
  /** From its start to the end of the longest chain that begins with it. */
  readonly tailMs: number
}

export interface GraphAnalysis {
  readonly graph: Graph
  readonly basis: Basis
  /** Names of the graph's own units. All layers one after the other are the order of the units. */
  readonly layers: readonly (readonly string[])[]
  /** Units inside loops included. */
  readonly units: ReadonlyMap<string, UnitAnalysis>
  /** Length of the longest chain, of the graph (`''`) and of an iteration of each loop. */
  readonly lengthsMs: ReadonlyMap<string, number>
}

/** What an analysis depends on, besides the graph. */
export interface Basis {
  readonly history: GraphHistory
  readonly pool: ResourcePool
  readonly predict: PredictDuration
}

/** The expected duration of one run of a unit; `undefined` where nothing is known. */
export type PredictDuration = (unit: Unit, history: GraphHistory) => number | undefined

export interface AnalysisOptions {
  /** Default: none was recorded. */
  readonly history?: GraphHistory
  /** Default: that of the reference page. */
  readonly pool?: ResourcePool
  /** Default: the mean of the recorded runs. */
  readonly predict?: PredictDuration
}

export const GRAPH = ''

/** The graph must be sound: see `requireSoundGraph`. */
export function analyseGraph(graph: Graph, options: AnalysisOptions = {}): GraphAnalysis {
  const basis: Basis = {
    history: options.history ?? {},
    pool: options.pool ?? DEFAULT_POOL,
    predict: options.predict ?? meanOfHistory,
  }
  const units = new Map<string, UnitAnalysis>()
  const lengthsMs = new Map<string, number>()
  const layers = analyseList(graph.units, { loop: undefined, basis, units, lengthsMs })
  return { graph, basis, layers, units, lengthsMs }
}

export interface ListPlace {
  readonly loop: UnitPlace | undefined
  readonly basis: Basis
  readonly units: Map<string, UnitAnalysis>
  readonly lengthsMs: Map<string, number>
}

interface UnitPlace {
  readonly name: string
  /** Also that of what is inside. */
  readonly phase: string
}

function analyseList(list: readonly Unit[], place: ListPlace): readonly (readonly string[])[] {
  const { layers } = layersOf(list)
  layers.forEach((layer, index) => {
    for (const unit of layer) addForward(unit, index, place)
  })
  const followers = followersOf(list)
  const dependents = countDependents(layers.flat(), followers)
  for (const { taskReferenceName: name } of layers.flat().reverse()) {
    const tails = (followers.get(name) ?? []).map(
      (unit) => place.units.get(unit.taskReferenceName)?.tailMs ?? 0,
    )
    addBackward(name, { dependents: dependents.get(name) ?? 0, tailMs: Math.max(0, ...tails) }, place)
  }
  place.lengthsMs.set(
    place.loop?.name ?? GRAPH,
    Math.max(0, ...list.map((unit) => place.units.get(unit.taskReferenceName)?.tailMs ?? 0)),
  )
  return layers.map((layer) => layer.map(({ taskReferenceName }) => taskReferenceName))
}

/** What follows from the units before it. */
export function addForward(unit: Unit, layer: number, place: ListPlace): void {
  const { basis, units, loop } = place
  const phase = loop?.phase ?? unit.phase ?? `layer-${layer + 1}`
  if (unit.type === 'EACH' || unit.type === 'DO_WHILE')
    analyseList(unit.units, { ...place, loop: { name: unit.taskReferenceName, phase } })
  const before = unit.after.map((name) => units.get(name))
  const factors = riskFactorsOf(unit, { ...basis, dependents: 0 })
  units.set(unit.taskReferenceName, {
    unit,
    loop: loop?.name,
    layer,
    phase,
    dependents: 0,
    factors,
    risk: riskScore(factors),
    lengthMs: Math.round((unit.startDelay ?? 0) * 1000 + expectedMs(unit, place)),
    earliestStartMs: Math.max(
      0,
      ...before.map((each) => (each === undefined ? 0 : each.earliestStartMs + each.lengthMs)),
    ),
    tailMs: 0,
  })
}

/** What follows from the units after it: `tailMs` is the longest of their tails. */
export function addBackward(
  name: string,
  after: { readonly dependents: number; readonly tailMs: number },
  { basis, units }: Pick<ListPlace, 'basis' | 'units'>,
): void {
  const known = units.get(name)
  if (known === undefined) return
  const factors = riskFactorsOf(known.unit, { ...basis, dependents: after.dependents })
  units.set(name, {
    ...known,
    dependents: after.dependents,
    factors,
    risk: riskScore(factors),
    tailMs: known.lengthMs + after.tailMs,
  })
}

/** How many units wait for each one. A bit per unit, because sets of names would take most of the time of an analysis. */
function countDependents(
  order: readonly Unit[],
  followers: ReadonlyMap<string, readonly Unit[]>,
): ReadonlyMap<string, number> {
  const place = new Map(order.map((unit, index) => [unit.taskReferenceName, index]))
  const words = Math.ceil(order.length / 32)
  const reach = new Map<string, Uint32Array>()
  const counts = new Map<string, number>()
  for (const { taskReferenceName: name } of [...order].reverse()) {
    const reached = new Uint32Array(words)
    for (const { taskReferenceName: follower } of followers.get(name) ?? []) {
      const at = place.get(follower) ?? 0
      reached[at >>> 5] = (reached[at >>> 5] ?? 0) | (1 << (at & 31))
      const further = reach.get(follower)
      for (let word = 0; word < words; word++) reached[word] = (reached[word] ?? 0) | (further?.[word] ?? 0)
    }
    reach.set(name, reached)
    let count = 0
    for (const bits of reached) count += countBits(bits)
    counts.set(name, count)
  }
  return counts
}

function countBits(bits: number): number {
  let count = 0
  for (let left = bits; left !== 0; left &= left - 1) count++
  return count
}

function meanOfHistory(unit: Unit, history: GraphHistory): number | undefined {
  return meanDurationOf(history, unit.taskReferenceName)
}

function expectedMs(unit: Unit, { basis, lengthsMs }: ListPlace): number {
  const predicted = basis.predict(unit, basis.history) ?? unit.planning?.expectedMs
  if (predicted !== undefined) return predicted
  switch (unit.type) {
    case 'EACH':
    case 'DO_WHILE':
      return (lengthsMs.get(unit.taskReferenceName) ?? 0) * rounds(unit)
    case 'WAIT':
      return (unit.seconds ?? 0) * 1000
    case 'JOIN':
    case 'SWITCH':
    case 'SET_VARIABLE':
    case 'TERMINATE':
      return 0
    case 'SIMPLE':
    case 'SUB_WORKFLOW':
    case 'HUMAN':
      return EXPECTED_DURATION_MS
  }
}

/** Iterations one after the other, as far as the definition shows them. */
function rounds(unit: Extract<Unit, { readonly type: 'EACH' | 'DO_WHILE' }>): number {
  if (unit.type === 'DO_WHILE' || !Array.isArray(unit.items)) return 1
  return Math.ceil(Math.min(unit.items.length, unit.max) / unit.atOnce)
}
