import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyGraph, graphOf, lasting, task } from '../../../test/support/engine-graphs.ts'
import { analyseGraph } from './analysis.ts'
import { criticalPath, isCritical, phasesOf, slackMs, totalMs } from './critical-path.ts'
import type { EachUnit, Graph } from './graph.ts'
import { recordRuns } from './history.ts'

const weighted = graphOf([
  task('read', [], lasting(10)),
  task('clean', ['read'], lasting(40)),
  task('count', ['read'], lasting(5)),
  task('join', ['clean', 'count'], lasting(10)),
  task('report', ['count'], lasting(20)),
])

/** Every chain from a unit without followers back to a root, by brute force. */
function chains(graph: Graph): readonly (readonly string[])[] {
  const unitOf = (name: string) => graph.units.find(({ taskReferenceName }) => taskReferenceName === name)
  const endingAt = (name: string): readonly (readonly string[])[] => {
    const before = unitOf(name)?.after ?? []
    return before.length === 0 ? [[name]] : before.flatMap(endingAt).map((chain) => [...chain, name])
  }
  return graph.units.flatMap(({ taskReferenceName }) => endingAt(taskReferenceName))
}

test('X-21 the critical path is the chain with the greatest total duration', () => {
  const analysis = analyseGraph(weighted)
  expect(criticalPath(analysis)).toEqual(['read', 'clean', 'join'])
  expect(totalMs(analysis)).toBe(60)
})

test('X-21 no chain of any graph is longer than its critical path, which begins and ends the graph', () => {
  fc.assert(
    fc.property(anyGraph(9), (graph) => {
      const analysis = analyseGraph(graph)
      const msOf = (chain: readonly string[]): number =>
        chain.reduce((sum, name) => sum + (analysis.units.get(name)?.lengthMs ?? NaN), 0)
      const path = criticalPath(analysis)
      expect(msOf(path)).toBe(Math.max(...chains(graph).map(msOf)))
      expect(msOf(path)).toBe(totalMs(analysis))
      expect(chains(graph)).toContainEqual(path)
    }),
  )
})

test('X-23 a unit has no slack exactly if a longest chain goes through it', () => {
  fc.assert(
    fc.property(anyGraph(9), (graph) => {
      const analysis = analyseGraph(graph)
      const msOf = (chain: readonly string[]): number =>
        chain.reduce((sum, name) => sum + (analysis.units.get(name)?.lengthMs ?? NaN), 0)
      for (const { taskReferenceName: name } of graph.units) {
        const longest = Math.max(
          ...chains(graph)
            .filter((chain) => chain.includes(name))
            .map(msOf),
        )
        expect(slackMs(analysis, name)).toBe(totalMs(analysis) - longest)
        expect(isCritical(analysis, name)).toBe(longest === totalMs(analysis))
      }
    }),
  )
  const slack = weighted.units.map((unit) => slackMs(analyseGraph(weighted), unit.taskReferenceName))
  expect(slack).toEqual([0, 0, 25, 0, 25])
})

test('X-121 expected durations come from recorded runs, and move the critical path', () => {
  const history = recordRuns({}, [
    { unit: 'report', succeeded: true, durationMs: 100 },
    { unit: 'report', succeeded: true, durationMs: 200 },
    // A failure says nothing about how long it takes.
    { unit: 'report', succeeded: false, durationMs: 9000 },
  ])
  const analysis = analyseGraph(weighted, { history })
  expect(criticalPath(analysis)).toEqual(['read', 'count', 'report'])
  expect(totalMs(analysis)).toBe(165)
})

test('X-169 another predictor of durations replaces the mean', () => {
  const predict = (unit: { readonly taskReferenceName: string }): number | undefined =>
    unit.taskReferenceName === 'count' ? 1000 : undefined
  expect(totalMs(analyseGraph(weighted, { predict }))).toBe(1030)
})

test('EN-100 units inside a loop take its slack, its iterations and its phase into account', () => {
  const inside = [task('x', [], lasting(10)), task('y', ['x'], lasting(5)), task('z', ['x'], lasting(2))]
  const each: EachUnit = {
    type: 'EACH',
    taskReferenceName: 'each',
    inputParameters: {},
    after: ['a'],
    items: [1, 2, 3, 4, 5],
    max: 100,
    atOnce: 2,
    units: inside,
  }
  const other = task('other', ['a'], lasting(100, { phase: 'late' }))
  const analysis = analyseGraph(graphOf([task('a', [], lasting(1)), each, other]))
  // Three rounds of 15 ms; the other unit takes 100.
  expect(analysis.units.get('each')?.lengthMs).toBe(45)
  expect(slackMs(analysis, 'x')).toBe(55)
  expect(slackMs(analysis, 'z')).toBe(58)
  expect(phasesOf(analysis)).toEqual([
    { name: 'layer-1', units: ['a'] },
    { name: 'layer-2', units: ['each', 'x', 'y', 'z'] },
    { name: 'late', units: ['other'] },
  ])
})

test('EN-101 the delay before a unit counts as a part of its duration', () => {
  const analysis = analyseGraph(
    graphOf([task('a', [], lasting(10, { startDelay: 1.5 })), task('b', ['a'], lasting(1))]),
  )
  expect(totalMs(analysis)).toBe(1511)
})
