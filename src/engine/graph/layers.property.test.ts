// Goal: whatever the graph, its order has every unit once and after all that it depends on; cycles are named.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyGraph, diamond, graphOf, task } from '../../../test/support/engine-graphs.ts'
import { analyseGraph } from './analysis.ts'
import { findCycles } from './cycles.ts'
import { followersOf, layersOf } from './layers.ts'

const names = (layers: readonly (readonly { readonly taskReferenceName: string }[])[]): string[][] =>
  layers.map((layer) => layer.map(({ taskReferenceName }) => taskReferenceName))

test('X-07 every unit comes after all units that it depends on', () => {
  fc.assert(
    fc.property(anyGraph(60), (graph) => {
      const order = analyseGraph(graph).layers.flat()
      for (const unit of graph.units)
        for (const before of unit.after)
          expect(order.indexOf(before)).toBeLessThan(order.indexOf(unit.taskReferenceName))
    }),
  )
})

test('X-08 X-10 a unit is queued when the last of its incoming edges is gone, whatever the layers between', () => {
  expect(names(layersOf(diamond).layers)).toEqual([['a'], ['b', 'c'], ['d']])
  // The edge from the start is gone first; that from the end of the chain decides.
  const skipping = [
    task('a'),
    task('b', ['a']),
    task('c', ['b']),
    task('d', ['a', 'c']),
    task('e', ['a', 'a']),
  ]
  expect(names(layersOf(skipping).layers)).toEqual([['a'], ['b', 'e'], ['c'], ['d']])
})

test('X-09 the first layer has exactly the units that are after nothing', () => {
  fc.assert(
    fc.property(anyGraph(), (graph) => {
      const roots = graph.units.filter(({ after }) => after.length === 0)
      expect(analyseGraph(graph).layers[0]).toEqual(roots.map(({ taskReferenceName }) => taskReferenceName))
    }),
  )
})

test('X-11 the order has every unit exactly once, in graphs of up to 500 units', () => {
  fc.assert(
    fc.property(anyGraph(500), (graph) => {
      const order = analyseGraph(graph).layers.flat()
      expect([...order].sort()).toEqual(graph.units.map(({ taskReferenceName }) => taskReferenceName).sort())
    }),
    { numRuns: 30 },
  )
})

test('X-12 whatever edges there are, every cycle that is reported is one, and none is left without a unit of them', () => {
  const anyEdges = fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 30 })
  fc.assert(
    fc.property(anyEdges, (edges) => {
      const units = Array.from({ length: 12 }, (_, index) =>
        task(
          `u${index}`,
          edges.filter(([to]) => to === index).map(([, from]) => `u${from}`),
        ),
      )
      const cycles = findCycles(units)
      for (const cycle of cycles) {
        expect(cycle.length).toBeGreaterThan(1)
        cycle.forEach((name, index) => {
          const next = cycle[(index + 1) % cycle.length]
          expect(
            followersOf(units)
              .get(name)
              ?.map((unit) => unit.taskReferenceName),
          ).toContain(next)
        })
      }
      const named = new Set(cycles.flat())
      expect(named.size).toBe(cycles.flat().length)
      const rest = units
        .filter(({ taskReferenceName }) => !named.has(taskReferenceName))
        .map((unit) => ({ ...unit, after: unit.after.filter((name) => name !== unit.taskReferenceName) }))
      expect(layersOf(rest).left).toEqual([])
    }),
  )
})

test('X-14 equal graphs give the same order, and units of a layer keep the order in which they were written', () => {
  fc.assert(
    fc.property(anyGraph(), (graph) => {
      const copy = structuredClone(graph)
      expect(analyseGraph(copy).layers).toEqual(analyseGraph(graph).layers)
      const written = graph.units.map(({ taskReferenceName }) => taskReferenceName)
      for (const layer of analyseGraph(graph).layers)
        expect([...layer].sort((one, other) => written.indexOf(one) - written.indexOf(other))).toEqual(layer)
    }),
  )
  expect(analyseGraph(graphOf([task('z'), task('y'), task('x')])).layers).toEqual([['z', 'y', 'x']])
})
