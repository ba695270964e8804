import { expect, test } from 'vitest'
import { describeValue, describeWriter } from './describe-write.ts'

test.for([
  [{ kind: 'set', by: { unit: 'load', attempt: 0 } }, 'by load'],
  [{ kind: 'set', by: { unit: 'load', attempt: 1, worker_id: 'w1' } }, 'by load, attempt 1 on w1'],
  [{ kind: 'set', by: { event: 'pipeline.started' } }, 'at the start'],
  [{ kind: 'set', by: {} }, 'by the engine or a program'],
  [{ kind: 'unknown', by: {} }, 'it is not known when'],
] as const)('WB-82 the writer of %j is shown as “%s”', ([write, shown]) => {
  expect(describeWriter(write)).toBe(shown)
})

test('WB-83 a value that was removed, or is too large to be kept, is said to be that', () => {
  expect(describeValue({ kind: 'removed', by: {} })).toBe('removed')
  expect(describeValue({ kind: 'set', bytes: 5_000, by: {} })).toBe('4.9 KiB, too large to be kept')
  expect(describeValue({ kind: 'set', value: { n: 1 }, by: {} })).toContain('n')
})
