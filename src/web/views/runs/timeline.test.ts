import { describe, expect, test } from 'vitest'
import type { Task } from '../../parts/run-state.ts'
import { readTimeline, ticksOf } from './timeline.ts'

const BEGIN = 1_700_000_000_000
const at = (second: number): string => new Date(BEGIN + second * 1_000).toISOString()

interface Times {
  readonly seq: number
  readonly times: readonly [scheduled: number, started?: number, ended?: number]
  readonly retry?: number
}

function task(node: string, { seq, times: [scheduled, started, ended], retry = 0 }: Times): Task {
  return {
    ...{ id: `${node}-${String(retry)}`, reference_name: node, node, name: node, kind: 'SIMPLE' },
    ...{
      status: ended === undefined ? 'IN_PROGRESS' : 'COMPLETED',
      retry,
      iteration: 0,
      seq,
      retried: false,
    },
    scheduled_at: at(scheduled),
    ...(started !== undefined && { started_at: at(started) }),
    ...(ended !== undefined && { ended_at: at(ended) }),
  }
}

const GRAPH = {
  nodes: [],
  edges: [
    { from: 'load', to: 'fork' },
    { from: 'fork', to: 'left' },
    { from: 'fork', to: 'right' },
    { from: 'left', to: 'join' },
    { from: 'right', to: 'join' },
    { from: 'join', to: 'sum' },
  ],
}
const TASKS = [
  task('load', { seq: 1, times: [0, 1, 3] }),
  task('left', { seq: 2, times: [3, 3, 5] }),
  task('right', { seq: 3, times: [3, 4, 6] }),
  task('right', { seq: 4, times: [6, 7, 9], retry: 1 }),
  task('sum', { seq: 5, times: [9, 10] }),
  task('last', { seq: 6, times: [10] }),
]

describe('the timeline of a run', () => {
  test('WB-63 attempts of a task stand beneath each other, with what they waited apart from what they worked', () => {
    const tasks = [TASKS[3]!, ...TASKS.slice(0, 3), ...TASKS.slice(4)]
    const { fromMs, toMs, rows } = readTimeline({ tasks, graph: GRAPH }, BEGIN + 12_000)!
    expect(toMs - fromMs).toBe(12_000)
    const second = (ms: number | undefined): number | undefined => ms && (ms - BEGIN) / 1_000
    expect(
      rows.map(({ task: { id }, scheduledMs, startedMs, endMs, isFurther }) => [
        ...[id, (scheduledMs - BEGIN) / 1_000, second(startedMs), second(endMs), isFurther],
      ]),
    ).toEqual([
      ['load-0', 0, 1, 3, false],
      ['left-0', 3, 3, 5, false],
      ['right-0', 3, 4, 6, false],
      ['right-1', 6, 7, 9, true],
      ['sum-0', 9, 10, 12, false],
      ['last-0', 10, undefined, 12, false],
    ])
  })

  test('WB-64 the critical path leads back from what ended last, through attempts and nodes without tasks', () => {
    const criticalOf = (tasks: readonly Task[], graph = GRAPH): readonly string[] =>
      readTimeline({ tasks: [...tasks], graph }, BEGIN + 12_000)!
        .rows.filter(({ isCritical }) => isCritical)
        .map(({ task: { id } }) => id)
    expect(criticalOf(TASKS.slice(0, 5))).toEqual(['load-0', 'right-0', 'right-1', 'sum-0'])
    expect(criticalOf(TASKS.slice(0, 2))).toEqual(['load-0', 'left-0'])
    expect(criticalOf(TASKS.slice(0, 3), { nodes: [], edges: [] })).toEqual(['load-0', 'right-0'])
  })

  test('WB-63 without times there is no timeline', () => {
    const { id, reference_name, node, name, kind, status, retry, iteration, seq, retried } = TASKS[0]!
    const timeless = { id, reference_name, node, name, kind, status, retry, iteration, seq, retried }
    expect(readTimeline({ tasks: [timeless], graph: GRAPH }, BEGIN)).toBeUndefined()
  })

  test('WB-63 the axis has a few round lengths of time, however long a run takes', () => {
    expect(ticksOf(45)).toEqual([0, 10, 20, 30, 40])
    expect(ticksOf(12_000)).toEqual([0, 2_000, 4_000, 6_000, 8_000, 10_000, 12_000])
    expect(ticksOf(30 * 86_400_000)).toHaveLength(7)
    expect(ticksOf(0)).toEqual([0])
  })
})
