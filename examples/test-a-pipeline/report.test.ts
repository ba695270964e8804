import { answer, failTimes, testPipeline } from 'perago/testing'
import { expect, test } from 'vitest'
import { report } from './report.ts'

test('the report adds the sales up, although the warehouse is away for two hours', async () => {
  const run = await testPipeline(report, {
    input: { day: '2026-01-15' },
    units: { load: failTimes(2, answer({ sales: [3, 4] })) },
  })
  expect(run.requireCompleted()).toEqual({ total: 7, sent: true })
  expect(run.order).toEqual(['load', 'load', 'load', 'add', 'send'])
})
