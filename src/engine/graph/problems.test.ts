import { expect, test } from 'vitest'
import { diamond, graphOf, task } from '../../../test/support/engine-graphs.ts'
import { InvalidError } from '../../base/errors.ts'
import type { EachUnit, Graph, SwitchUnit, Unit } from './graph.ts'
import { findGraphProblems, requireSoundGraph, type GraphLimits } from './problems.ts'
import { DEFAULT_POOL } from './resources.ts'

const base = { inputParameters: {}, after: [] } as const
const choose: SwitchUnit = {
  ...base,
  type: 'SWITCH',
  taskReferenceName: 'choose',
  expression: '${workflow.input.how}',
  cases: ['fast', 'slow'],
}

function each(units: readonly Unit[], more: Partial<EachUnit> = {}): EachUnit {
  return { ...base, type: 'EACH', taskReferenceName: 'each', items: [], max: 10, atOnce: 2, units, ...more }
}

function codes(units: readonly Unit[], limits?: GraphLimits): readonly string[] {
  return findGraphProblems(graphOf(units), limits).map(({ code, unit }) => `${code} ${unit}`)
}

function thrownBy(graph: Graph, limits?: GraphLimits): InvalidError {
  try {
    requireSoundGraph(graph, limits)
  } catch (error) {
    if (error instanceof InvalidError) return error
  }
  throw new Error('the graph was accepted')
}

test('X-13 a sound graph has no problems', () => {
  const all = [...diamond, choose, task('e', ['choose'], { onlyIn: { unit: 'choose', case: 'default' } })]
  expect(codes([...all, each([task('inside'), task('then', ['inside'])])])).toEqual([])
})

test.each<readonly [string, readonly Unit[]]>([
  ['engine/duplicate-unit a', [task('a'), task('a')]],
  ['engine/duplicate-unit a', [task('a'), each([task('a')])]],
  ['engine/unknown-unit b', [task('a'), task('b', ['x'])]],
  ['engine/unit-after-itself a', [task('a', ['a'])]],
  ['engine/unit-elsewhere inside', [task('a'), each([task('inside', ['a'])])]],
  ['engine/unit-elsewhere b', [each([task('inside')]), task('b', ['inside'])]],
  ['engine/unknown-unit b', [task('b', [], { onlyIn: { unit: 'chose', case: 'fast' } }), choose]],
  ['engine/not-a-switch b', [task('a'), task('b', ['a'], { onlyIn: { unit: 'a', case: 'fast' } })]],
  ['engine/case-before-switch b', [choose, task('b', [], { onlyIn: { unit: 'choose', case: 'fast' } })]],
  ['engine/unknown-case b', [choose, task('b', ['choose'], { onlyIn: { unit: 'choose', case: 'fats' } })]],
  ['engine/bad-bound each', [each([task('a')], { max: 0 })]],
  ['engine/bad-bound each', [each([task('a')], { atOnce: 1.5 })]],
  ['engine/bad-planning a', [task('a', [], { planning: { expectedMs: -1 } })]],
  ['engine/bad-planning a', [task('a', [], { planning: { priority: NaN } })]],
  ['engine/bad-demand a', [task('a', [], { planning: { demand: { cpu: -1 } } })]],
])('X-13 the only problem found is %s', (expected, units) => {
  expect(codes(units)).toEqual([expected])
  const error = thrownBy(graphOf(units))
  expect(`${error.code} `).toBe(expected.slice(0, expected.indexOf(' ') + 1))
  expect(error.message).toContain(`"${expected.slice(expected.indexOf(' ') + 1)}"`)
  expect(error.next).not.toBeUndefined()
})

test('X-13 a name that does not exist comes with the most similar one', () => {
  const [problem] = findGraphProblems(graphOf([task('extract'), task('load', ['extrakt'])]))
  expect(problem?.message).toBe(
    '"load" names "extrakt" in "after", and there is no such unit; did you mean "extract"?',
  )
})

test('X-12 a cycle is reported with its units, in the order in which they wait for each other', () => {
  const error = thrownBy(graphOf([task('a', ['b']), task('b', ['a'])]))
  expect(error.code).toBe('engine/cycle')
  expect(error.message).toContain('"a" → "b" → "a"')
  expect(codes([task('a', ['c']), task('b', ['a']), task('c', ['b']), task('behind', ['c'])])).toEqual([
    'engine/cycle a',
  ])
  expect(codes([each([task('a', ['b']), task('b', ['a'])])])).toEqual(['engine/cycle a'])
})

test('X-13 all problems of a graph are reported at once', () => {
  const units = [
    ...[task('a', ['b']), task('b', ['a']), task('c', ['x']), task('d', ['d'])],
    task('e', [], { planning: { impact: 2, demand: { cpu: 101, gpu: 11 } } }),
  ]
  const found = ['unknown-unit c', 'unit-after-itself d', 'cycle a', 'bad-factor e', 'demand-too-large e']
  expect(codes(units)).toEqual([...found, 'demand-too-large e'].map((code) => `engine/${code}`))
  const error = thrownBy(graphOf(units))
  expect(error.details.problems).toHaveLength(6)
  expect(error.message).toContain('"c" names "x"')
  expect(error.message).toContain('11 GPUs')
})

test.each([
  ['cpu', { cpu: 101 }, 'demands 101 CPU cores, and the whole pool has 100 CPU cores'],
  [
    'memory',
    { memoryBytes: 501 * 2 ** 30 },
    'demands 501 GiB of memory, and the whole pool has 500 GiB of memory',
  ],
  ['gpu', { gpu: 11 }, 'demands 11 GPUs, and the whole pool has 10 GPUs'],
])(
  'X-38 a demand of more %s than the whole pool is refused with unit, resource and limit',
  (_, demand, message) => {
    const error = thrownBy(graphOf([task('a'), task('train', [], { planning: { demand } })]))
    expect(error.code).toBe('engine/demand-too-large')
    expect(error.message).toContain(`"train" ${message}`)
  },
)

test('X-38 a demand of exactly the whole pool is accepted', () => {
  const demand = { cpu: 100, memoryBytes: 500 * 2 ** 30, gpu: 10 }
  expect(codes([task('a', [], { planning: { demand } })])).toEqual([])
})

test('X-36 without GPUs, units that demand one are refused and others are not', () => {
  const units = [task('a', [], { planning: { demand: { gpu: 1 } } }), task('b')]
  expect(codes(units)).toEqual([])
  const pool = { ...DEFAULT_POOL, gpu: 0 }
  expect(codes(units, { pool })).toEqual(['engine/demand-too-large a'])
  expect(thrownBy(graphOf(units), { pool }).message).toContain('the whole pool has no GPUs')
})

test.each([-0.1, 1.1, NaN, Infinity])('X-20 a complexity or impact of %d is refused', (value) => {
  expect(codes([task('a', [], { planning: { complexity: value } })])).toEqual(['engine/bad-factor a'])
  expect(codes([task('a', [], { planning: { impact: value } })])).toEqual(['engine/bad-factor a'])
})

test('X-137 500 units are accepted and 501 are refused, those inside loops counted', () => {
  const many = (count: number): Unit[] => Array.from({ length: count }, (_, index) => task(`u${index}`))
  expect(codes(many(500))).toEqual([])
  expect(codes(many(501))).toEqual(['engine/too-many-units u500'])
  expect(codes([each(many(499))])).toEqual([])
  expect(codes([each(many(500))])).toEqual(['engine/too-many-units u499'])
  expect(codes(many(3), { unitsMax: 2 })).toEqual(['engine/too-many-units u2'])
})
