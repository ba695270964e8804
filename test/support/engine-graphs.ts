// Graphs for tests: short to write, and random ones.
import fc from 'fast-check'
import type { Graph, TaskUnit, Unit } from '../../src/engine/graph/graph.ts'

export function task(name: string, after: readonly string[] = [], more: Partial<TaskUnit> = {}): TaskUnit {
  return { type: 'SIMPLE', name: 't', taskReferenceName: name, inputParameters: {}, after, ...more }
}

export function lasting(ms: number, more: Partial<TaskUnit> = {}): Partial<TaskUnit> {
  return { ...more, planning: { ...more.planning, expectedMs: ms } }
}

export function graphOf(units: readonly Unit[], name = 'g'): Graph {
  return {
    name,
    version: 1,
    units,
    inputTemplate: {},
    outputParameters: undefined,
    restartable: true,
    timeoutSeconds: 0,
    timeoutPolicy: 'ALERT_ONLY',
  }
}

export const diamond: readonly TaskUnit[] = [
  task('a'),
  task('b', ['a']),
  task('c', ['a']),
  task('d', ['b', 'c']),
]

/** Acyclic graphs of tasks, written in any order, with expected durations from 0 to 50 ms. */
export function anyGraph(max = 30): fc.Arbitrary<Graph> {
  return fc
    .array(
      fc.record({
        before: fc.array(fc.nat(max), { maxLength: 4 }),
        ms: fc.nat(50),
        priority: fc.integer({ min: -2, max: 2 }),
        place: fc.nat(),
      }),
      { minLength: 1, maxLength: max },
    )
    .map((drawn) => {
      const units = drawn.map(({ before, ms, priority }, index) =>
        task(
          `u${index}`,
          index === 0 ? [] : [...new Set(before.map((place) => `u${place % index}`))],
          lasting(ms, { planning: { priority } }),
        ),
      )
      const places = drawn.map(({ place }, index) => ({ place, index }))
      const written = places.sort((one, other) => one.place - other.place || one.index - other.index)
      return graphOf(written.flatMap(({ index }) => units[index] ?? []))
    })
}
