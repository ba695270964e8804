/** Names in `after` and `onlyIn` that cannot be followed. */

import { suggest } from '../../base/suggestion.ts'
import type { SwitchUnit, Unit } from './graph.ts'
import type { GraphProblem } from './problem.ts'

/** Those of `units`, which are in `list`. `all`: every unit of the graph, to tell a unit of another list from one that does not exist. */
export function findReferenceProblems(
  units: readonly Unit[],
  { list, all }: { readonly list: readonly Unit[]; readonly all: readonly Unit[] },
): readonly GraphProblem[] {
  const here = new Map(list.map((unit) => [unit.taskReferenceName, unit]))
  const anywhere = new Set(all.map(({ taskReferenceName }) => taskReferenceName))
  const hints = hintsFor(units, [...here.keys()], anywhere)
  return units.flatMap((unit) => [
    ...[...new Set(unit.after)].flatMap((name) => judgeAfter(unit, name, { here, anywhere, hints })),
    ...judgeCase(unit, here, hints),
  ])
}

interface Names {
  readonly here: ReadonlyMap<string, Unit>
  readonly anywhere: ReadonlySet<string>
  readonly hints: Hints
}

/** For names that do not exist, the most similar one. */
type Hints = ReadonlyMap<string, string>

/** Comparing names is slow, and nobody reads a hundred hints. */
const HINTS_MAX = 20

function hintsFor(units: readonly Unit[], known: readonly string[], anywhere: ReadonlySet<string>): Hints {
  const unknownNames = new Set<string>()
  for (const { after, onlyIn } of units) {
    for (const name of after) if (!anywhere.has(name)) unknownNames.add(name)
    if (onlyIn !== undefined && !anywhere.has(onlyIn.unit)) unknownNames.add(onlyIn.unit)
  }
  return new Map(
    [...unknownNames].slice(0, HINTS_MAX).flatMap((name) => {
      const near = suggest(name, known)
      return near === undefined ? [] : [[name, near] as const]
    }),
  )
}

function judgeAfter({ taskReferenceName: unit }: Unit, name: string, names: Names): readonly GraphProblem[] {
  if (name === unit) {
    return [
      {
        kind: 'invalid',
        code: 'engine/unit-after-itself',
        unit,
        message: `"${unit}" is after itself`,
        next: 'Remove its own name from "after".',
      },
    ]
  }
  if (names.here.has(name)) return []
  if (names.anywhere.has(name)) {
    return [
      {
        kind: 'invalid',
        code: 'engine/unit-elsewhere',
        unit,
        message: `"${unit}" is after "${name}", which is inside another loop or outside of this one`,
        next: 'Name a unit of the same list; of a loop, name the loop itself.',
      },
    ]
  }
  return [unknown(unit, name, { where: 'after', hint: names.hints.get(name) })]
}

function unknown(
  unit: string,
  name: string,
  { where, hint }: { readonly where: string; readonly hint: string | undefined },
): GraphProblem {
  return {
    kind: 'invalid',
    code: 'engine/unknown-unit',
    unit,
    message: `"${unit}" names "${name}" in "${where}", and there is no such unit${hint === undefined ? '' : `; did you mean "${hint}"?`}`,
    next: 'Correct the name, or add the unit.',
  }
}

function judgeCase(unit: Unit, here: Names['here'], hints: Hints): readonly GraphProblem[] {
  const { onlyIn, taskReferenceName: name } = unit
  if (onlyIn === undefined) return []
  const chooser = here.get(onlyIn.unit)
  if (chooser === undefined)
    return unit.after.includes(onlyIn.unit)
      ? []
      : [unknown(name, onlyIn.unit, { where: 'onlyIn', hint: hints.get(onlyIn.unit) })]
  if (chooser.type !== 'SWITCH') {
    return [
      {
        kind: 'invalid',
        code: 'engine/not-a-switch',
        unit: name,
        message: `"${name}" runs only in a case of "${onlyIn.unit}", which is a ${chooser.type}`,
        next: 'Name a unit of the type SWITCH.',
      },
    ]
  }
  return [...judgeOrder(unit, onlyIn.unit), ...judgeCaseName(unit, chooser, onlyIn.case)]
}

function judgeOrder({ taskReferenceName: unit, after }: Unit, chooser: string): readonly GraphProblem[] {
  if (after.includes(chooser)) return []
  return [
    {
      kind: 'invalid',
      code: 'engine/case-before-switch',
      unit,
      message: `"${unit}" runs only in a case of "${chooser}", but is not after it`,
      next: 'Add the SWITCH to "after".',
    },
  ]
}

function judgeCaseName(
  { taskReferenceName: unit }: Unit,
  chooser: SwitchUnit,
  name: string,
): readonly GraphProblem[] {
  if (name === 'default' || chooser.cases.includes(name)) return []
  const cases = [...chooser.cases, 'default'].map((each) => `"${each}"`).join(', ')
  return [
    {
      kind: 'invalid',
      code: 'engine/unknown-case',
      unit,
      message: `"${unit}" runs only in the case "${name}" of "${chooser.taskReferenceName}", which has ${cases}`,
      next: 'Correct the case, or add it to the SWITCH.',
    },
  ]
}
