/** What is wrong with a graph. All problems are found at once, and each names its unit. */

import { InvalidError } from '../../base/errors.ts'
import { EXECUTION_UNITS_MAX } from '../limits.ts'
import { findCycles } from './cycles.ts'
import { walkUnits, type Graph, type Unit } from './graph.ts'
import { findPlanningProblems } from './planning-problems.ts'
import type { GraphProblem } from './problem.ts'
import { findReferenceProblems } from './reference-problems.ts'
import { DEFAULT_POOL, type ResourcePool } from './resources.ts'

export interface GraphLimits {
  /** Default: that of the reference page. */
  readonly pool?: ResourcePool
  /** Default: `EXECUTION_UNITS_MAX`. */
  readonly unitsMax?: number
}

/**
 * ```ts
 * const problems = findGraphProblems(graph)
 * for (const { code, unit, message } of problems) console.log(code, unit, message)
 * ```
 */
export function findGraphProblems(graph: Graph, limits: GraphLimits = {}): readonly GraphProblem[] {
  const all = walkUnits(graph.units)
  const max = limits.unitsMax ?? EXECUTION_UNITS_MAX
  // Reported alone: what the other checks cost is bounded by the number of units.
  if (all.length > max) return [tooMany(all, max)]
  return [
    ...findDuplicates(all),
    ...listsOf(graph.units).flatMap((units) => findListProblems(units, all)),
    ...all.flatMap((unit) => findOwnProblems(unit, limits)),
  ]
}

/** The problems that adding this unit to a sound graph would make. */
export function findUnitProblems(
  graph: Graph,
  unit: Unit,
  limits: GraphLimits = {},
): readonly GraphProblem[] {
  const before = walkUnits(graph.units)
  const added = walkUnits([unit])
  const all = [...before, ...added]
  const max = limits.unitsMax ?? EXECUTION_UNITS_MAX
  if (all.length > max) return [tooMany(all, max)]
  const inside = listsOf(unit.type === 'EACH' || unit.type === 'DO_WHILE' ? unit.units : [])
  return [
    ...findDuplicates(all),
    ...findReferenceProblems([unit], { list: [...graph.units, unit], all }),
    // Nothing is after the new unit yet: a cycle can only be inside of it.
    ...inside.flatMap((units) => findListProblems(units, all)),
    ...added.flatMap((each) => findOwnProblems(each, limits)),
  ]
}

/** Throws an `InvalidError` with the code of the first problem; its message and `details.problems` contain all of them. */
export function requireSoundGraph(graph: Graph, limits?: GraphLimits): void {
  requireNone(graph.name, findGraphProblems(graph, limits))
}

export function requireNone(graphName: string, problems: readonly GraphProblem[]): void {
  const [first] = problems
  if (first === undefined) return
  const why = problems.map(({ message }) => message).join('; ')
  throw new InvalidError(first.code, `check the graph "${graphName}": ${why}`, {
    details: { problems: problems.map(({ code, unit, message }) => ({ code, unit, message })) },
    next: problems.length === 1 ? first.next : 'Correct what is listed.',
  })
}

function findListProblems(list: readonly Unit[], all: readonly Unit[]): readonly GraphProblem[] {
  return [...findReferenceProblems(list, { list, all }), ...findCycles(list).map(cycleProblem)]
}

function findOwnProblems(unit: Unit, { pool = DEFAULT_POOL }: GraphLimits): readonly GraphProblem[] {
  return [...findPlanningProblems(unit, pool), ...findBoundProblems(unit)]
}

/** The graph's own list of units, and that of every loop: `after` names units of the same list. */
function listsOf(units: readonly Unit[]): readonly (readonly Unit[])[] {
  return [
    units,
    ...walkUnits(units).flatMap((unit) =>
      unit.type === 'EACH' || unit.type === 'DO_WHILE' ? [unit.units] : [],
    ),
  ]
}

function tooMany(all: readonly Unit[], max: number): GraphProblem {
  const unit = all[max]?.taskReferenceName ?? ''
  return {
    kind: 'invalid',
    code: 'engine/too-many-units',
    unit,
    message: `it has ${all.length} units, and at most ${max} are allowed; the first one too many is "${unit}"`,
    next: 'Split the graph: let a unit run a part of it as an execution of its own.',
  }
}

function findDuplicates(all: readonly Unit[]): readonly GraphProblem[] {
  const counts = new Map<string, number>()
  for (const { taskReferenceName: name } of all) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].flatMap(([unit, count]) =>
    count === 1
      ? []
      : [
          {
            kind: 'invalid',
            code: 'engine/duplicate-unit',
            unit,
            message: `${count} units have the name "${unit}"`,
            next: 'Give every unit a name of its own, also inside loops.',
          },
        ],
  )
}

function cycleProblem(cycle: readonly string[]): GraphProblem {
  const [unit = ''] = cycle
  return {
    kind: 'invalid',
    code: 'engine/cycle',
    unit,
    message: `each of these units waits for the one before it: ${[...cycle, unit].map((name) => `"${name}"`).join(' → ')}`,
    next: 'Remove one of these dependencies.',
  }
}

function findBoundProblems(unit: Unit): readonly GraphProblem[] {
  const bounds = {
    ...(unit.type === 'EACH' ? { max: unit.max, atOnce: unit.atOnce } : {}),
    ...(unit.type === 'DO_WHILE' ? { max: unit.max } : {}),
  }
  return Object.entries(bounds)
    .filter(([, value]) => !Number.isSafeInteger(value) || value < 1)
    .map(([name, value]) => ({
      kind: 'invalid',
      code: 'engine/bad-bound',
      unit: unit.taskReferenceName,
      message: `"${unit.taskReferenceName}": ${name} must be a whole number from 1, not ${String(value)}`,
      next: 'Correct the number.',
    }))
}
