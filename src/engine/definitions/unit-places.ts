/** Which units there are, inside which loops, and which names stand for several units. */

import type { UnitBase } from '../graph/graph.ts'
import type { Instance, PlacedUnit } from './expand-templates.ts'
import type { ShapeProblem } from './shape.ts'

/** A unit of the document with its surroundings. */
export interface Place {
  readonly placed: PlacedUnit
  /** The loops around it, outermost first. */
  readonly loops: readonly string[]
  readonly onlyIn: UnitBase['onlyIn'] | undefined
}

export interface Places {
  /** Every unit once, in the order of the document. */
  readonly all: readonly Place[]
  readonly byName: ReadonlyMap<string, Place>
  /** A switch, or an instance of a template: the units that have to end before what is after it. */
  readonly groups: ReadonlyMap<string, readonly string[]>
  readonly problems: readonly ShapeProblem[]
}

export function findPlaces(units: readonly PlacedUnit[], instances: ReadonlyMap<string, Instance>): Places {
  const all = walk(units, [], undefined)
  const byName = new Map<string, Place>()
  const problems: ShapeProblem[] = []
  for (const place of all) {
    const { name, path } = place.placed
    if (byName.has(name) || instances.has(name))
      problems.push({ path, message: `the name "${name}" is used twice`, isAboutKey: true })
    else byName.set(name, place)
  }
  return { all, byName, groups: findGroups(all, instances), problems }
}

/** The names that a reader may use for a unit or several. */
export function knownNames({ byName, groups }: Pick<Places, 'byName' | 'groups'>): readonly string[] {
  return [...new Set([...byName.keys(), ...groups.keys()])]
}

function walk(
  units: readonly PlacedUnit[],
  loops: readonly string[],
  onlyIn: UnitBase['onlyIn'] | undefined,
): readonly Place[] {
  return units.flatMap((placed) => [
    { placed, loops, onlyIn },
    ...placed.rows.flatMap((row) =>
      row.case === undefined
        ? walk(row.units, [...loops, placed.name], undefined)
        : walk(row.units, loops, { unit: placed.name, case: row.case }),
    ),
  ])
}

function findGroups(
  all: readonly Place[],
  instances: ReadonlyMap<string, Instance>,
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { placed } of all) {
    const rows = placed.rows.filter((row) => row.case !== undefined)
    if (rows.length > 0)
      groups.set(placed.name, [placed.name, ...rows.flatMap((row) => namesOutsideLoops(row.units))])
  }
  for (const name of instances.keys())
    groups.set(
      name,
      all.filter(({ placed }) => isOfInstance(placed, name, instances)).map(({ placed }) => placed.name),
    )
  return groups
}

/** Whether a unit comes from this instance, or from one inside it. */
export function isOfInstance(
  { instance }: Pick<PlacedUnit, 'instance'>,
  name: string,
  instances: ReadonlyMap<string, Instance>,
): boolean {
  for (let at = instance; at !== undefined; at = instances.get(at)?.outer) if (at === name) return true
  return false
}

/** Units inside a loop end with the loop. */
function namesOutsideLoops(units: readonly PlacedUnit[]): readonly string[] {
  return units.flatMap((placed) => [
    placed.name,
    ...placed.rows.flatMap((row) => (row.case === undefined ? [] : namesOutsideLoops(row.units))),
  ])
}
