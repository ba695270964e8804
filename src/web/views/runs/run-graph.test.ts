import { describe, expect, test } from 'vitest'
import { type Task } from '../../parts/run-state.ts'
import { drawRun } from './run-graph.ts'

const at = (second: number): string => new Date(1_700_000_000_000 + second * 1_000).toISOString()
const task = (node: string, more: Partial<Task> = {}): Task => ({
  ...{
    id: `${node}-id`,
    reference_name: node,
    node,
    name: `orders.${node}`,
    kind: 'SIMPLE',
    status: 'COMPLETED',
  },
  ...{ retry: 0, iteration: 0, seq: 1, retried: false },
  ...more,
})
const addressOf = (of: Task | undefined): string => of?.id ?? ''

describe('the graph of a run', () => {
  test('WB-61 each node stands as its latest attempt, and what is not scheduled yet is pending', () => {
    const graph = {
      nodes: [
        { reference_name: 'load', name: 'orders.load', kind: 'SIMPLE' },
        { reference_name: 'all', name: 'all', kind: 'DO_WHILE' },
        { reference_name: 'part', name: 'orders.part', kind: 'SIMPLE', inside: 'all' },
        { reference_name: 'sum', name: 'orders.sum', kind: 'SIMPLE', inside: 'all' },
      ],
      edges: [
        { from: 'load', to: 'all' },
        { from: 'part', to: 'sum' },
      ],
    }
    const tasks = [
      task('load', { id: 'second', status: 'IN_PROGRESS', retry: 1, seq: 2 }),
      task('load', { id: 'first', status: 'FAILED', seq: 1 }),
      task('part', { id: 'p1', reference_name: 'part__1', iteration: 1, seq: 3 }),
      task('part', { id: 'p2', reference_name: 'part__2', iteration: 2, seq: 4, status: 'FAILED' }),
    ]
    const { nodes, edges, isGuessed } = drawRun({ graph, tasks }, addressOf)
    expect(nodes.map(({ id, state, note, to }) => [id, state, note, to])).toEqual([
      ['load', 'IN_PROGRESS', 'try 2 · orders.load', 'second'],
      ['all', 'PENDING', 'do while', ''],
      ['part', 'FAILED', '2 times · orders.part · in all', 'p2'],
      ['sum', 'PENDING', 'orders.sum · in all', ''],
    ])
    expect(edges).toEqual([...graph.edges, { from: 'all', to: 'part', isLoop: true }])
    expect(isGuessed).toBe(false)
  })

  test('WB-62 without a definition the edges follow from times, and the drawing says so', () => {
    const span = (from: number, to: number | undefined, seq: number): Partial<Task> => ({
      ...{ seq, scheduled_at: at(from) },
      ...(to !== undefined && { ended_at: at(to) }),
    })
    const tasks = [
      task('load', span(0, 2, 1)),
      task('left', span(2, 5, 2)),
      task('right', span(2, 9, 3)),
      task('sum', span(9, undefined, 4)),
    ]
    const { edges, isGuessed } = drawRun({ graph: { nodes: [], edges: [] }, tasks }, addressOf)
    expect(edges.map(({ from, to }) => `${from} ${to}`)).toEqual([
      ...['load left', 'load right', 'left sum', 'right sum'],
    ])
    expect(isGuessed).toBe(true)
  })
})
