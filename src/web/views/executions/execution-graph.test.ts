import { expect, test } from 'vitest'
import { drawExecution } from './execution-graph.ts'

const GRAPH = {
  units: [
    { taskReferenceName: 'load', type: 'SIMPLE', name: 'orders.load', phase: 'in', after: [] },
    { taskReferenceName: 'kind', type: 'SWITCH', after: ['load'] },
    { taskReferenceName: 'large', type: 'HUMAN', after: ['kind'], onlyIn: { unit: 'kind', case: 'big' } },
    {
      taskReferenceName: 'each',
      type: 'EACH',
      after: ['load'],
      units: [
        { taskReferenceName: 'part', type: 'SIMPLE', name: 'orders.part', after: [] },
        { taskReferenceName: 'sum', type: 'SIMPLE', name: 'orders.sum', after: ['part'] },
      ],
    },
  ],
}
const STATES = [
  { id: 'load', status: 'COMPLETED', attempts: 3 },
  { id: 'part__1', status: 'COMPLETED', attempts: 1 },
  { id: 'part__2', status: 'FAILED', attempts: 1 },
]

test('WB-56 the graph of an execution shows cases, loops, and how often a unit ran', () => {
  const { nodes, edges } = drawExecution(GRAPH, STATES, (unit) => `#${unit}`)
  expect(nodes.map(({ id, state, note, to }) => [id, state, note, to])).toEqual([
    ['load', 'COMPLETED', 'orders.load · in · 3 tries', '#load'],
    ['kind', 'PENDING', 'chooses', '#kind'],
    ['large', 'PENDING', 'waits for somebody', '#large'],
    ['each', 'PENDING', 'for each item', '#each'],
    ['part', 'FAILED', 'orders.part · 2 times', '#part__2'],
    ['sum', 'PENDING', 'orders.sum', '#sum'],
  ])
  expect(edges).toEqual([
    { from: 'load', to: 'kind' },
    { from: 'kind', to: 'large', label: 'big' },
    { from: 'load', to: 'each' },
    { from: 'each', to: 'part', isLoop: true },
    { from: 'part', to: 'sum' },
  ])
})

test('WB-56 a graph in another form is drawn as nothing', () => {
  expect(drawExecution({}, STATES, String)).toEqual({ nodes: [], edges: [] })
})
