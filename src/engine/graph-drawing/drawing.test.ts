import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Graph, Unit } from '../graph/graph.ts'
import { loadPipelineText } from '../definitions/read-pipeline-file.ts'
import { kindOf, layOut, LOOP_INSIDE, type Drawing } from './layout.ts'
import { drawSvg } from './svg.ts'
import { drawText } from './text.ts'

const GRAPH = loadPipelineText(
  `
name: orders.daily
units:
  ingest: { task: orders.ingest }
  count: { task: orders.count, params: '\${ingest.output.result}' }
  choose:
    switch: \${count.output.result.size}
    cases: { large: { split: { task: orders.split }, parts: { each: '\${split.output.result.parts}', max: 9, atOnce: 3, units: { load: { task: orders.load, params: '\${parts.item}' }, check: { task: orders.check, after: [load], optional: true } } } } }
    default: { all: { task: orders.all } }
  approve: { human: { timeout: 1d }, after: [count], onlyIf: count.result > 100 }
  "publish": { task: orders.publish, after: [choose, approve, ingest], params: '<&">' }
`,
  'daily.yaml',
).graph

test('EN-550 a graph is drawn as text, layer by layer, with the state of each unit', () => {
  expect(drawText(GRAPH)).toBe(`orders.daily, version 1

1    ingest   orders.ingest
2    count    orders.count              after ingest
3    choose   switch                    after count
3    approve  human                     after count; if count.result > 100
4    split    orders.split              case large of choose
4    all      orders.all                case default of choose
5    parts    for each item, 3 at once  case large of choose; after split
  1    load   orders.load
  2    check  orders.check              after load; optional
6    publish  orders.publish            after choose, parts, all, approve, ingest
`)
  expect(drawText(GRAPH, { ingest: 'COMPLETED', count: 'ROLLED_BACK' }).split('\n').slice(2, 4)).toEqual([
    expect.stringMatching(/^1 +ingest +orders\.ingest +completed$/),
    expect.stringMatching(/^2 +count +orders\.count +rolled back +after ingest$/),
  ])
})

test('EN-551 an image shows every unit with its state in words, and the edges that no other way implies', () => {
  const svg = drawSvg(GRAPH, { ingest: 'COMPLETED', count: 'EXECUTING' })
  expect([...svg.matchAll(/data-unit="([^"]+)"/g)].map(([, name]) => name).sort()).toEqual([
    'all',
    'approve',
    'check',
    'choose',
    'count',
    'ingest',
    'load',
    'parts',
    'publish',
    'split',
  ])
  expect(svg).toContain('orders.ingest · completed')
  expect(svg).toContain('data-unit="count" data-state="EXECUTING"')
  expect([...svg.matchAll(/data-edge="([^"]+)"/g)].map(([, edge]) => edge).sort()).toEqual([
    'all publish',
    'approve publish',
    'choose all',
    'choose split',
    'count approve',
    'count choose',
    'ingest count',
    'load check',
    'parts publish',
    'split parts',
  ])
  expect(svg).toMatch(/>large<\/text>/)
  expect(svg).toMatch(/stroke-dasharray/)
})

test('EN-551 text of a definition cannot become markup', () => {
  const evil: Graph = { ...GRAPH, name: '<script>"&', units: [] }
  expect(drawSvg(evil)).not.toContain('<script>')
  expect(drawSvg(evil)).toContain('&#60;script&#62;&#34;&#38;, version 1')
})

test('EN-551 no unit covers another one, and every edge leads to the right', () => {
  const graphs = fc.array(fc.array(fc.nat(11), { maxLength: 3 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(graphs, (rows) => {
      const units = rows.map((row, index) => ({
        ...UNIT,
        taskReferenceName: `u${'x'.repeat(index)}`,
        after: [...new Set(row.filter((at) => at < index))].map((at) => `u${'x'.repeat(at)}`),
      }))
      expectReadable(layOut(units))
    }),
  )
  expectReadable(layOut(GRAPH.units))
})

test('EN-551 the text of a unit has room in it, with its state and in a loop', () => {
  const caption = (unit: Unit): string => `${kindOf(unit)} · rolled back`
  const expectRoom = ({ units }: Drawing): void => {
    for (const { unit, width, inside } of units) {
      // A wide font has about 8.3 units per bold letter of 13, and 6.2 per letter of 11.
      expect(width).toBeGreaterThan(unit.taskReferenceName.length * 8.3)
      expect(width).toBeGreaterThan(caption(unit).length * 6.2)
      if (inside === undefined) continue
      // The two lines of a loop end above its units.
      expect(LOOP_INSIDE.y).toBeGreaterThan(36)
      expectRoom(inside)
    }
  }
  expectRoom(layOut(GRAPH.units, caption))
})

const UNIT = { type: 'SIMPLE', name: 'task', inputParameters: {} } as const

function expectReadable({ units, edges, width, height }: Drawing): void {
  for (const [index, one] of units.entries()) {
    expect(one.x + one.width).toBeLessThanOrEqual(width)
    expect(one.y + one.height).toBeLessThanOrEqual(height)
    for (const other of units.slice(index + 1)) {
      const isApart =
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y
      expect(isApart, `${one.unit.taskReferenceName} ${other.unit.taskReferenceName}`).toBe(true)
    }
    if (one.inside !== undefined) expectReadable(one.inside)
  }
  for (const { from, to, points } of edges) {
    for (const { unit, x, y, width: w, height: h } of units) {
      if (unit.taskReferenceName === from || unit.taskReferenceName === to) continue
      for (const [at, [here, row]] of points.entries()) {
        const [before, rowBefore] = points[at - 1] ?? [here, row]
        const passes = before < x + w && here > x
        const isBehind = passes && (rowBefore !== row || (row > y && row < y + h))
        expect(isBehind, `${from} to ${to} behind ${unit.taskReferenceName}`).toBe(false)
      }
    }
    expect(points.length).toBeGreaterThan(1)
    for (const [at, [x]] of points.entries()) expect(x).toBeGreaterThanOrEqual(points[at - 1]?.[0] ?? 0)
  }
}
