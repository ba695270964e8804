/**
 * What each unit is after: the units that it names in `after`, those whose outputs it uses, and the `switch` around it.
 *
 * - Inside a loop, an edge to a unit outside belongs to the loop; an edge from outside to a unit inside leads to the loop.
 * - A name that stands for several units (a `switch`, an instance of a template) means those of them that no other is after.
 */

import { readCondition } from './conditions.ts'
import { valuesOf } from './build-unit.ts'
import type { Instance } from './expand-templates.ts'
import { findReferences } from './references.ts'
import { isOfInstance, type Place, type Places } from './unit-places.ts'

export function findEdges(
  places: Places,
  instances: ReadonlyMap<string, Instance>,
): ReadonlyMap<string, readonly string[]> {
  return new Edges(places, instances).find()
}

/** The units and groups whose outputs a unit uses. */
function usedNames({ placed }: Place): readonly string[] {
  const { unit } = placed
  const inValues = valuesOf(unit).flatMap(([field, value]) =>
    // The task that undoes a unit runs long after it, and gets the unit's own output.
    field === 'undo' ? [] : findReferences(value).map(({ root }) => root),
  )
  const condition = unit.onlyIf === undefined ? undefined : readCondition(unit.onlyIf)
  const inCondition =
    condition?.isRead === true ? condition.variables.map((name) => name.split('.')[0] ?? '') : []
  return [...new Set([...inValues, ...inCondition])]
}

class Edges {
  private readonly places: Places
  private readonly instances: ReadonlyMap<string, Instance>
  /** With names that stand for several units. */
  private readonly written = new Map<string, Set<string>>()
  private readonly found = new Map<string, ReadonlySet<string>>()

  constructor(places: Places, instances: ReadonlyMap<string, Instance>) {
    this.places = places
    this.instances = instances
  }

  find(): ReadonlyMap<string, readonly string[]> {
    for (const place of this.places.all) this.collect(place)
    for (const place of this.places.all) this.followInstances(place)
    return new Map(
      this.places.all.map(({ placed }) => [placed.name, [...this.afterOf(placed.name)]] as const),
    )
  }

  private collect(place: Place): void {
    const { placed, onlyIn } = place
    this.edgesOf(placed.name)
    if (onlyIn !== undefined) this.edgesOf(placed.name).add(onlyIn.unit)
    for (const name of placed.unit.after ?? []) this.add(place, name)
    for (const name of usedNames(place)) this.add(place, name)
  }

  /** What an instance is after, its first units are. */
  private followInstances(place: Place): void {
    const { placed } = place
    for (let name = placed.instance; name !== undefined; name = this.instances.get(name)?.outer) {
      const instance = this.instances.get(name)
      if (instance === undefined || this.isAfterOneOf(place, instance.name)) return
      for (const before of instance.after) this.add(place, before)
    }
  }

  private isAfterOneOf({ placed, loops }: Place, instance: string): boolean {
    const isOf = (name: string): boolean => {
      const other = this.places.byName.get(name)?.placed
      return other !== undefined && isOfInstance(other, instance, this.instances)
    }
    // A loop of the instance is after what the instance is after, and its units with it.
    if (loops.some(isOf)) return true
    return [...this.edgesOf(placed.name)].some((name) => isOf(name) || this.isInner(name, instance))
  }

  private isInner(name: string, instance: string): boolean {
    for (let at = this.instances.get(name)?.outer; at !== undefined; at = this.instances.get(at)?.outer)
      if (at === instance) return true
    return false
  }

  private add(from: Place, name: string): void {
    const to = this.places.byName.get(name)
    if (to === undefined) {
      const [member] = this.places.groups.get(name) ?? []
      const inside = member === undefined ? undefined : this.places.byName.get(member)
      if (inside !== undefined) this.connect(from, { name, loops: this.loopsAround(name, inside) })
      return
    }
    this.connect(from, { name, loops: to.loops })
  }

  /** An instance is in the loops that are around all of its units. */
  private loopsAround(instance: string, member: Place): readonly string[] {
    return member.loops.filter((loop) => {
      const placed = this.places.byName.get(loop)?.placed
      return placed === undefined || !isOfInstance(placed, instance, this.instances)
    })
  }

  private connect(
    { placed, loops }: Place,
    to: { readonly name: string; readonly loops: readonly string[] },
  ): void {
    const common = loops.findIndex((loop, index) => loop !== to.loops[index])
    const depth = common === -1 ? loops.length : common
    const source = loops[depth] ?? placed.name
    const target = to.loops[depth] ?? to.name
    // The loop around the unit itself: `${LOOP.item}`.
    if (source === target && source !== placed.name) return
    this.edgesOf(source).add(target)
  }

  private edgesOf(name: string): Set<string> {
    const edges = this.written.get(name) ?? new Set()
    this.written.set(name, edges)
    return edges
  }

  /** The units in the place of names that stand for several. */
  private afterOf(name: string): ReadonlySet<string> {
    const known = this.found.get(name)
    if (known !== undefined) return known
    const own = this.edgesOf(name)
    // A circle ends here, and is reported by the check of the graph.
    this.found.set(name, new Set([...own].filter((to) => this.places.byName.has(to))))
    const around = this.switchesAround(name)
    const after = new Set([...own].flatMap((to) => (around.has(to) ? [to] : this.lastOf(to))))
    this.found.set(name, after)
    return after
  }

  /** To its own units, a switch is one unit. */
  private switchesAround(name: string): ReadonlySet<string> {
    const around = new Set<string>()
    for (
      let at = this.places.byName.get(name)?.onlyIn?.unit;
      at !== undefined;
      at = this.places.byName.get(at)?.onlyIn?.unit
    )
      around.add(at)
    return around
  }

  private lastOf(name: string): readonly string[] {
    const members = this.places.groups.get(name)
    if (members === undefined) return [name]
    const outer = members.filter((member) => this.isDirect(name, member))
    const followed = new Set(
      outer
        .filter((member) => member !== name)
        .flatMap((member) => [...this.afterOf(member)].filter((to) => to !== member)),
    )
    // The switch itself stays: where no case was chosen, its units are skipped and it is not.
    return outer.filter((member) => member === name || !followed.has(member))
  }

  /** Units in a loop of the group end with the loop. */
  private isDirect(group: string, member: string): boolean {
    const loops = this.places.byName.get(member)?.loops ?? []
    const members = this.places.groups.get(group) ?? []
    return !loops.some((loop) => members.includes(loop))
  }
}
