/** The graph of an execution, to be drawn. Pure. */

import type { DrawnGraph, GraphEdge, GraphNode } from '../../parts/graph/graph.ts'

/** What the drawing needs of a unit; the contract gives the graph as any object. */
interface Unit {
  readonly taskReferenceName: string
  readonly type: string
  readonly name?: string
  readonly phase?: string
  readonly after?: readonly string[]
  readonly onlyIn?: { readonly unit: string; readonly case: string }
  /** Of a loop. */
  readonly units?: readonly Unit[]
}

interface UnitState {
  readonly id: string
  readonly status: string
  readonly attempts: number
}

const KINDS: Readonly<Record<string, string>> = {
  WAIT: 'waits',
  HUMAN: 'waits for somebody',
  SWITCH: 'chooses',
  EACH: 'for each item',
  DO_WHILE: 'repeats',
  SUB_WORKFLOW: 'another pipeline',
  JOIN: 'joins',
  SET_VARIABLE: 'sets variables',
  TERMINATE: 'ends it',
}

export function drawExecution(
  graph: object,
  states: readonly UnitState[],
  addressOf: (unit: string) => string,
): DrawnGraph {
  const { units = [] } = graph as { readonly units?: readonly Unit[] }
  const all = walk(units)
  const latest = latestOf(all, states)
  const nodes = all.map((unit): GraphNode => {
    const { taskReferenceName: id } = unit
    const state = latest.get(id)
    return {
      id,
      title: id,
      state: state?.status ?? 'PENDING',
      note: noteOf(unit, state),
      to: addressOf(state?.id ?? id),
    }
  })
  return { nodes, edges: all.flatMap(edgesOf) }
}

function walk(units: readonly Unit[]): readonly Unit[] {
  return units.flatMap((unit) => [unit, ...walk(unit.units ?? [])])
}

/** The id under which a unit of the graph is looked at: inside a loop, that of its last iteration. */
export function latestUnitOf(states: readonly Pick<UnitState, 'id'>[], name: string): string {
  return states.findLast(({ id }) => id === name || unitOf(id) === name)?.id ?? name
}

function unitOf(id: string): string {
  return id.replace(/(?:__\d+)+$/, '')
}

/** A unit inside a loop stands as its last iteration that has begun. */
function latestOf(
  units: readonly Unit[],
  states: readonly UnitState[],
): ReadonlyMap<string, UnitState & { readonly times: number }> {
  const names = new Set(units.map(({ taskReferenceName }) => taskReferenceName))
  const latest = new Map<string, UnitState & { readonly times: number }>()
  for (const state of states) {
    const unit = names.has(state.id) ? state.id : unitOf(state.id)
    latest.set(unit, { ...state, times: (latest.get(unit)?.times ?? 0) + 1 })
  }
  return latest
}

function noteOf(
  { type, name, phase }: Unit,
  state: (UnitState & { readonly times: number }) | undefined,
): string {
  const told = [type === 'SIMPLE' ? (name ?? 'task') : (KINDS[type] ?? type.toLowerCase())]
  if (phase !== undefined) told.push(phase)
  if (state !== undefined && state.attempts > 1) told.push(`${String(state.attempts)} tries`)
  if (state !== undefined && state.times > 1) told.push(`${String(state.times)} times`)
  return told.join(' · ')
}

function edgesOf({ taskReferenceName: to, after = [], onlyIn, units = [] }: Unit): readonly GraphEdge[] {
  const before = after.map((from): GraphEdge => {
    return { from, to, ...(onlyIn?.unit === from && { label: onlyIn.case }) }
  })
  // What nothing of the loop comes before begins with the loop itself.
  const inside = new Set(units.map(({ taskReferenceName }) => taskReferenceName))
  const first = units.filter((unit) => !(unit.after ?? []).some((name) => inside.has(name)))
  return [...before, ...first.map((unit) => ({ from: to, to: unit.taskReferenceName, isLoop: true }))]
}
