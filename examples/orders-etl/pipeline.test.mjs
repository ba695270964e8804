// The pipeline with its real tasks, over a repository in memory: node --test examples/orders-etl/pipeline.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fail, inTurn, loseWorker, real, testPipeline } from 'perago/testing'

const pipeline = fileURLToPath(new URL('pipeline.yaml', import.meta.url))
const tasks = fileURLToPath(new URL('tasks.ts', import.meta.url))
const input = { day: '2026-01-15' }

test('each task publishes what it made, and the day is summed up', async () => {
  const run = await testPipeline(pipeline, { tasks, input })
  assert.equal(run.requireCompleted().summary.day, '2026-01-15')
  assert.deepEqual(run.order, ['ingest', 'validate', 'aggregate'])
  assert.deepEqual(
    run.published.map(({ unit, paths }) => [unit, ...paths]),
    [
      ['ingest', 'raw/2026-01-15.parquet'],
      ['validate', 'good/2026-01-15.parquet', 'rejected/2026-01-15.csv'],
      ['aggregate', 'revenue/2026-01-15.parquet', 'revenue/latest.json'],
    ],
  )
})

test('a worker that is lost after publishing is replaced, and its publication too', async () => {
  const units = { ingest: inTurn(loseWorker(real()), real()) }
  const run = await testPipeline(pipeline, { tasks, input, units })
  assert.deepEqual(
    run.unit('ingest').attempts.map(({ status }) => status),
    ['TIMED_OUT', 'COMPLETED'],
  )
  assert.deepEqual(
    run.published.map(({ unit, attempt }) => [unit, attempt]),
    [
      ['ingest', 2],
      ['validate', 1],
      ['aggregate', 1],
    ],
  )
})

test('a day that cannot be checked is not summed up', async () => {
  const units = { validate: fail('half of the orders are wrong', { terminal: true }) }
  const run = await testPipeline(pipeline, { tasks, input, units })
  assert.equal(run.status, 'FAILED')
  assert.match(run.reason, /half of the orders are wrong/)
  assert.equal(run.units.aggregate, 'NOT_STARTED')
})
