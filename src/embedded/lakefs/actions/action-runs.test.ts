import { expect, test } from 'vitest'

import { EMBEDDED_ACTION_RUNS_MAX, EMBEDDED_ACTION_RUNS_MAX_BYTES } from '../../limits.ts'
import { ActionRuns, newRunId, type ActionRun } from './action-runs.ts'

const EVERY = { after: '', amount: 10_000, branch: '', commit: '' }

function run(atMs: number, output: string): ActionRun {
  const times = { startedAtMs: atMs, endedAtMs: atMs }
  return {
    ...{ id: newRunId(atMs), branch: 'main', commitId: 'c', eventType: 'pre-merge', passed: true, ...times },
    hooks: [{ id: '0000_0000', actionName: 'a', hookId: 'h', status: 'completed', ...times, output }],
  }
}

test('ES-139 runs are kept up to a number of each repository, the newest', () => {
  const runs = new ActionRuns()
  for (let atMs = 1; atMs <= EMBEDDED_ACTION_RUNS_MAX + 10; atMs += 1) runs.add('lake', run(atMs, ''))
  const kept = runs.list('lake', EVERY).items
  expect(kept).toHaveLength(EMBEDDED_ACTION_RUNS_MAX)
  expect([kept[0]?.startedAtMs, kept.at(-1)?.startedAtMs]).toEqual([EMBEDDED_ACTION_RUNS_MAX + 10, 11])
})

test('ES-139 runs of all repositories are kept up to an amount of memory; the oldest of all go first', () => {
  const runs = new ActionRuns()
  const output = 'x'.repeat(65_536)
  const count = Math.ceil(EMBEDDED_ACTION_RUNS_MAX_BYTES / output.length)
  for (let atMs = 1; atMs <= count; atMs += 1) runs.add(atMs % 2 === 0 ? 'even' : 'odd', run(atMs, output))
  const kept = ['even', 'odd'].flatMap((name) => runs.list(name, EVERY).items)
  expect(kept.length * output.length * 2).toBeLessThan(EMBEDDED_ACTION_RUNS_MAX_BYTES)
  expect(kept.length * output.length * 2).toBeGreaterThan(EMBEDDED_ACTION_RUNS_MAX_BYTES * 0.9)
  expect(Math.min(...kept.map(({ startedAtMs }) => startedAtMs))).toBe(count - kept.length + 1)
  runs.forget('even')
  runs.forget('odd')
  runs.add('new', run(count + 1, output))
  expect(runs.list('new', EVERY).items).toHaveLength(1)
})
