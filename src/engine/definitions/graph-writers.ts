/**
 * Finds units of a graph that may write one branch at the same time. The publish fence would refuse the later one; this
 * check reports it before anything runs.
 *
 * - Two units are parallel unless one is after the other, or they are in different cases of one SWITCH. Iterations that run
 *   at the same time are parallel too, unless the item chooses the branch.
 * - A unit writes when its task has a workspace that is not read-only. A task that is not known, and a graph that runs as a
 *   unit, count as writers if they are given a workspace.
 * - Two units write the same branch if their workspaces, traced back through earlier units, come from the same text. Branches
 *   that turn out to be the same only at run time are left to the fence.
 */

import type { JsonObject } from '../../base/json.ts'
import { traceWorkspaces } from '../../tasks/parallel-writers.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import { walkUnits, type EachUnit, type Graph, type Unit } from '../graph/graph.ts'
import { layersOf } from '../graph/layers.ts'

/** By name: whether a task has a workspace, and only reads it. */
export type KnownTasks = ReadonlyMap<string, Pick<TaskDefinition, 'workspace'>>

export interface WriterConflict {
  /** Two units, or one whose iterations run at the same time. */
  readonly units: readonly [string] | readonly [string, string]
  readonly target: string
  readonly message: string
}

export function findGraphWriters(graph: Graph, tasks: KnownTasks): readonly WriterConflict[] {
  const targets = traceWorkspaces(inOrder(graph.units).map(withWorkspace))
  const writers = placeUnits(graph.units)
    .filter(({ unit }) => mayUnitWrite(unit, tasks))
    .flatMap((placed) => {
      const target = targets.get(placed.unit.taskReferenceName)
      return target === undefined ? [] : [{ ...placed, target }]
    })
  const order = new Order(graph.units)
  return [...findPairs(writers, order), ...writers.flatMap(findIterations)].map((conflict) => ({
    ...conflict,
    message: describe(conflict, tasks, graph),
  }))
}

/** Whether any unit of a graph may write a branch. */
export function mayGraphWrite(graph: Graph, tasks: KnownTasks): boolean {
  return walkUnits(graph.units).some((unit) => mayUnitWrite(unit, tasks) || unit.type === 'SUB_WORKFLOW')
}

function mayUnitWrite(unit: Unit, tasks: KnownTasks): boolean {
  if (unit.type === 'SUB_WORKFLOW') return workspaceOf(unit) !== undefined
  if (unit.type !== 'SIMPLE') return false
  const task = tasks.get(unit.name)
  if (task === undefined) return unit.inputParameters['workspace'] !== undefined
  return task.workspace !== undefined && task.workspace.readOnly !== true
}

/** What is passed to a graph as its workspace may have any name there. */
function workspaceOf({ inputParameters }: Unit): JsonObject[string] | undefined {
  const given = Object.values(inputParameters)
  return inputParameters['workspace'] ?? given.find((value) => looksLikeWorkspace(value))
}

function looksLikeWorkspace(value: JsonObject[string]): boolean {
  if (typeof value === 'string') return /^\s*\$\{[^{}]*\bworkspace\s*\}\s*$/.test(value)
  return typeof value === 'object' && value !== null && 'repository' in value && 'branch' in value
}

function withWorkspace(unit: Unit): {
  readonly taskReferenceName: string
  readonly inputParameters: JsonObject
} {
  const workspace = unit.type === 'SUB_WORKFLOW' ? workspaceOf(unit) : unit.inputParameters['workspace']
  return {
    taskReferenceName: unit.taskReferenceName,
    inputParameters: workspace === undefined ? {} : { workspace },
  }
}

/** Every unit after those that it is after; a loop before its units. */
function inOrder(units: readonly Unit[]): readonly Unit[] {
  const { layers, left } = layersOf(units)
  return [...layers.flat(), ...left].flatMap((unit) => [unit, ...inOrder(insideOf(unit))])
}

interface PlacedUnit {
  readonly unit: Unit
  /** The loops around it, outermost first. */
  readonly loops: readonly Unit[]
}

interface Writer extends PlacedUnit {
  readonly target: string
}

function placeUnits(units: readonly Unit[], loops: readonly Unit[] = []): readonly PlacedUnit[] {
  return units.flatMap((unit) => [{ unit, loops }, ...placeUnits(insideOf(unit), [...loops, unit])])
}

type Found = Omit<WriterConflict, 'message'>

function findPairs(writers: readonly Writer[], order: Order): readonly Found[] {
  return writers.flatMap((one, index) =>
    writers
      .slice(index + 1)
      .filter((other) => other.target === one.target && order.areParallel(one, other))
      .map((other) => ({
        units: [one.unit.taskReferenceName, other.unit.taskReferenceName] as const,
        target: one.target,
      })),
  )
}

function findIterations({ unit, loops, target }: Writer): readonly Found[] {
  const shares = loops.some((loop) => loop.type === 'EACH' && loop.atOnce > 1 && !dependsOnItem(target, loop))
  return shares ? [{ units: [unit.taskReferenceName], target }] : []
}

function dependsOnItem(target: string, { taskReferenceName }: EachUnit): boolean {
  return [`${taskReferenceName}.item`, `${taskReferenceName}.index`].some((name) =>
    target.split(/[^\w.-]+/).some((word) => word === name || word.startsWith(`${name}.`)),
  )
}

/** Which units of a graph may run at the same time. */
class Order {
  /** A bit per unit: sets of names would take most of the time that it takes to read a long pipeline. */
  private readonly before = new Map<string, Uint32Array>()
  private readonly places: ReadonlyMap<string, number>
  private readonly cases = new Map<string, ReadonlyMap<string, string>>()

  constructor(units: readonly Unit[]) {
    this.places = new Map(walkUnits(units).map((unit, place) => [unit.taskReferenceName, place]))
    this.read(units)
  }

  areParallel(one: PlacedUnit, other: PlacedUnit): boolean {
    const [first, second] = sameLevel(one, other)
    return !(this.isBefore(first, second) || this.isBefore(second, first) || this.areApart(first, second))
  }

  private isBefore(one: string, other: string): boolean {
    const place = this.places.get(one)
    const bits = this.before.get(other)
    return place !== undefined && bits !== undefined && ((bits[place >>> 5] ?? 0) & (1 << (place & 31))) !== 0
  }

  private areApart(one: string, other: string): boolean {
    const cases = this.cases.get(other)
    return [...(this.cases.get(one) ?? [])].some(
      ([chooser, name]) => cases?.has(chooser) === true && cases.get(chooser) !== name,
    )
  }

  private read(units: readonly Unit[]): void {
    const { layers } = layersOf(units)
    for (const unit of layers.flat()) {
      this.before.set(unit.taskReferenceName, this.beforeOf(unit))
      this.cases.set(unit.taskReferenceName, this.casesOf(unit))
      this.read(insideOf(unit))
    }
  }

  private beforeOf({ after }: Unit): Uint32Array {
    const bits = new Uint32Array(Math.ceil(this.places.size / 32))
    for (const name of after) {
      const place = this.places.get(name)
      if (place !== undefined) bits[place >>> 5] = (bits[place >>> 5] ?? 0) | (1 << (place & 31))
      this.before.get(name)?.forEach((word, at) => (bits[at] = (bits[at] ?? 0) | word))
    }
    return bits
  }

  /** The cases in which a unit runs: its own, and those in which all units run that it is after. */
  private casesOf({ after, onlyIn }: Unit): ReadonlyMap<string, string> {
    const [first, ...others] = after.map((name) => this.cases.get(name) ?? new Map<string, string>())
    const shared = [...(first ?? [])].filter(([chooser, name]) =>
      others.every((cases) => cases.get(chooser) === name),
    )
    const around = onlyIn === undefined ? [] : [...(this.cases.get(onlyIn.unit) ?? [])]
    return new Map([
      ...shared,
      ...around,
      ...(onlyIn === undefined ? [] : [[onlyIn.unit, onlyIn.case] as const]),
    ])
  }
}

/** The two units, or the loops around them, that are in one list. */
function sameLevel(one: PlacedUnit, other: PlacedUnit): readonly [string, string] {
  const depth = one.loops.findIndex((loop, index) => loop !== other.loops[index])
  const common = depth === -1 ? one.loops.length : depth
  const at = ({ unit, loops }: PlacedUnit): string => (loops[common] ?? unit).taskReferenceName
  return [at(one), at(other)]
}

function insideOf(unit: Unit): readonly Unit[] {
  return unit.type === 'EACH' || unit.type === 'DO_WHILE' ? unit.units : []
}

function describe({ units, target }: Found, tasks: KnownTasks, graph: Graph): string {
  const [one, other] = units
  const who = other === undefined ? `iterations of ${one}` : `${one} and ${other}`
  const unknown = walkUnits(graph.units).find(
    (unit) =>
      unit.type === 'SIMPLE' &&
      (units as readonly string[]).includes(unit.taskReferenceName) &&
      !tasks.has(unit.name),
  )
  const hint =
    unknown?.type === 'SIMPLE'
      ? `; whether the task "${unknown.name}" only reads is not known without its module`
      : ''
  const remedy =
    other === undefined
      ? 'run them one at a time, or let the item choose the branch'
      : 'run one after the other, or use a different branch for each'
  return `${who} may write one branch at the same time (${target}): ${remedy}${hint}`
}
