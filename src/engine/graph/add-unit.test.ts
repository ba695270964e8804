import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyGraph, diamond, graphOf, lasting, task } from '../../../test/support/engine-graphs.ts'
import { addUnit } from './add-unit.ts'
import { analyseGraph } from './analysis.ts'
import { AnalysisCache, digestGraph } from './analysis-cache.ts'
import { slackMs, totalMs } from './critical-path.ts'
import type { Graph, Unit } from './graph.ts'

test('X-120 adding one unit after another gives the analysis of the whole graph', () => {
  fc.assert(
    fc.property(anyGraph(25), fc.boolean(), (graph, inLoop) => {
      const ordered = analyseGraph(graph).layers.flat()
      const units: readonly Unit[] = ordered.flatMap((name) =>
        graph.units.filter(({ taskReferenceName }) => taskReferenceName === name),
      )
      const loop: Unit = {
        ...task(
          'loop',
          units.slice(0, 1).map(({ taskReferenceName }) => taskReferenceName),
        ),
        type: 'DO_WHILE',
        loopCondition: 'shared.more',
        max: 3,
        units: [task('in', [], lasting(7)), task('out', ['in'], lasting(3))],
      }
      const all = inLoop ? [...units, loop] : units
      const grown = all.reduce((analysis, unit) => addUnit(analysis, unit), analyseGraph(graphOf([])))
      expect(grown).toEqual(analyseGraph(graphOf(all)))
    }),
  )
})

test('X-120 only the new unit and those before it are analysed again, though the slack of all changes', () => {
  const before = analyseGraph(graphOf([...diamond, task('e', ['a'])]))
  const after = addUnit(before, task('f', ['c'], lasting(500_000)))
  const same = [...after.units]
    .filter(([name, unit]) => before.units.get(name) === unit)
    .map(([name]) => name)
  expect(same.sort()).toEqual(['b', 'd', 'e'])
  expect(totalMs(after)).toBe(620_000)
  expect(slackMs(before, 'b')).toBe(0)
  expect(slackMs(after, 'b')).toBe(440_000)
})

test.each([
  ['engine/duplicate-unit', task('a')],
  ['engine/unknown-unit', task('f', ['x'])],
  ['engine/unit-after-itself', task('f', ['f'])],
  ['engine/bad-factor', task('f', [], { planning: { impact: 3 } })],
  ['engine/demand-too-large', task('f', [], { planning: { demand: { cpu: 1000 } } })],
])('X-120 adding a unit reports %s', (code, unit) => {
  const analysis = analyseGraph(graphOf(diamond))
  expect(() => addUnit(analysis, unit)).toThrow(expect.objectContaining({ code }))
})

test('X-120 X-137 no unit can be added to a full graph', () => {
  expect(() => addUnit(analyseGraph(graphOf(diamond)), task('f'), { unitsMax: 4 })).toThrow(
    expect.objectContaining({ code: 'engine/too-many-units' }),
  )
})

test('X-118 a definition that was analysed before is not analysed again', () => {
  const cache = new AnalysisCache()
  const graph = graphOf(diamond)
  const first = cache.analyse(graph)
  expect(cache.analyse(graph)).toBe(first)
  // Read anew from a store, with its fields in another order.
  const copy = Object.fromEntries(Object.entries(structuredClone(graph)).reverse()) as unknown as Graph
  expect(cache.analyse(copy)).toBe(first)
  expect(cache.analyse({ ...graph, version: 2 })).not.toBe(first)
})

test('X-118 new recorded runs, another pool or another predictor make a new analysis', () => {
  const cache = new AnalysisCache()
  const graph = graphOf(diamond)
  const history = { a: { runs: 1, failures: 1, meanMs: 0, successes: 0 } }
  const first = cache.analyse(graph)
  const second = cache.analyse(graph, { history })
  expect(second.units.get('a')?.factors.failureRate).toBe(1)
  expect(cache.analyse(graph, { history })).toBe(second)
  expect(cache.analyse(graph, { predict: () => 5 }).units.get('a')?.lengthMs).toBe(5)
  expect(cache.analyse(graph)).toEqual(first)
})

test('X-118 a graph with problems is refused each time', () => {
  const cache = new AnalysisCache()
  const graph = graphOf([task('a', ['x'])])
  for (let time = 0; time < 2; time++)
    expect(() => cache.analyse(graph)).toThrow(expect.objectContaining({ code: 'engine/unknown-unit' }))
})

test('X-118 the digest of a graph ignores fields that are undefined and sees every other change', () => {
  const graph = graphOf(diamond)
  expect(digestGraph({ ...graph, outputParameters: undefined })).toBe(digestGraph(graph))
  expect(digestGraph({ ...graph, units: [...diamond].reverse() })).not.toBe(digestGraph(graph))
  expect(digestGraph({ ...graph, outputParameters: {} })).not.toBe(digestGraph(graph))
})
