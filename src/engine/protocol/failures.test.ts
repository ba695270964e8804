// Goal: what a failure leads to: another attempt at the right time, or the end of everything that is open.
import { expect, test } from 'vitest'
import { graph, RulesWorld, task, unit } from '../../../test/support/rules-world.ts'
import { nextDeadlineMs } from './deadlines.ts'
import { pauseExecution, resumeExecution } from './operator.ts'

/** The seconds before each further attempt. */
function delays(more: Parameters<typeof task>[2], random = 0, scale = 1): readonly number[] {
  const def = { name: 'work', retryCount: 3, retryDelaySeconds: 2, backoffScaleFactor: scale }
  const unit = task('a', [], { retryCount: 3, ...more })
  const world = new RulesWorld([unit], { defs: [def] })
  world.random = random
  return [1, 2, 3].map(() => {
    world.fail('a')
    const seconds = (world.row('a').queuedFromMs! - world.nowMs) / 1000
    world.nowMs = world.row('a').queuedFromMs!
    return seconds
  })
}

test.each([
  ['FIXED', {}, [2, 2, 2]],
  ['LINEAR_BACKOFF', {}, [6, 12, 18]],
  ['EXPONENTIAL_BACKOFF', {}, [2, 4, 8]],
  ['EXPONENTIAL_BACKOFF', { maxRetryDelaySeconds: 5 }, [2, 4, 5]],
  ['FIXED', { retryDelaySeconds: 7 }, [7, 7, 7]],
] as const)('X-84 %s with %j waits %j seconds', (retryLogic, more, seconds) => {
  expect(delays({ retryLogic, ...more }, 0, 3)).toEqual(seconds)
})

test('X-84 jitter adds at most what it says, also to a capped delay', () => {
  const more = { backoffJitterMs: 500, maxRetryDelaySeconds: 1 }
  expect(delays(more, 0)).toEqual([1, 1, 1])
  expect(delays(more, 0.999_999)).toEqual([1.5, 1.5, 1.5])
})

test('X-84 a unit is tried as often as it says, then it fails', () => {
  const world = new RulesWorld([task('a', [], { retryCount: 2, retryDelaySeconds: 0 })])
  for (const retryCount of [0, 1, 2]) {
    expect(world.record('a')).toMatchObject({ retryCount, status: 'SCHEDULED' })
    world.fail('a', `try ${retryCount}`)
  }
  expect(world.execution.status).toBe('FAILED')
  expect(world.execution.reasonForIncompletion).toContain("'try 2'")
  expect(world.execution.rows.map(({ record }) => record.isRetried)).toEqual([true, true, false])
})

test('EN-340 a failure without retries left cancels what is open and ends the execution', () => {
  const world = new RulesWorld([
    task('a'),
    task('b'),
    task('c'),
    unit('WAIT', 'w', { seconds: 100 }),
    task('d', ['a']),
  ])
  world.claim('b')
  world.fail('a')
  expect(world.statuses('a', 'b', 'c', 'w', 'd')).toBe('a FAILED, b CANCELED, c CANCELED, w CANCELED, d -')
  expect(world.execution.status).toBe('FAILED')
  expect(nextDeadlineMs(world.execution)).toBeUndefined()
})

test('EN-341 of several failures at once the fatal one counts, and nothing is retried beside it', () => {
  const world = new RulesWorld([
    task('a', [], { retryCount: 5, responseTimeoutSeconds: 10 }),
    task('b', [], { responseTimeoutSeconds: 10 }),
  ])
  world.claim('a')
  world.claim('b')
  world.pass(10)
  expect(world.statuses('a', 'b')).toBe('a TIMED_OUT, b TIMED_OUT')
  expect(world.execution.rows).toHaveLength(2)
  expect(world.execution.status).toBe('TIMED_OUT')
})

test('EN-341 several failures that may be retried are all retried', () => {
  const names = ['a', 'b', 'c']
  const world = new RulesWorld(
    names.map((name) => task(name, [], { retryCount: 1, responseTimeoutSeconds: 10 })),
  )
  for (const name of names) world.claim(name)
  world.pass(10)
  expect(names.map((name) => world.record(name).retryCount)).toEqual([1, 1, 1])
})

test('EN-342 the delay that a unit asks for is not shortened by the limit of its definition', () => {
  const def = { name: 'work', retryCount: 2, retryDelaySeconds: 5, maxRetryDelaySeconds: 120 }
  const world = new RulesWorld([task('a', [], { retryCount: 2, retryDelaySeconds: 3600 })], { defs: [def] })
  world.claim('a')
  world.post('a', 'FAILED')
  expect(world.row('a').queuedFromMs).toBe(world.nowMs + 3_600_000)
})

test('EN-342 the time limits of a unit replace those of its definition', () => {
  const defs = [{ name: 'work', retryCount: 0, responseTimeoutSeconds: 100 }]
  const world = new RulesWorld([task('a', [], { timeoutSeconds: 5 })], { defs })
  world.claim('a')
  expect(nextDeadlineMs(world.execution)).toBe(world.nowMs + 5000)
  world.pass(5)
  expect(world.status('a')).toBe('TIMED_OUT')
})

test('EN-343 while an execution is paused nothing new starts and no time runs out; then it counts at once', () => {
  const world = new RulesWorld([task('a'), task('b', ['a']), unit('WAIT', 'w', { seconds: 5 })])
  world.claim('a')
  world.operate(pauseExecution)
  world.post('a', 'COMPLETED')
  world.pass(10)
  expect(world.statuses('a', 'b', 'w')).toBe('a COMPLETED, b -, w IN_PROGRESS')
  expect(nextDeadlineMs(world.execution)).toBeUndefined()
  world.operate(resumeExecution)
  expect(world.statuses('a', 'b', 'w')).toBe('a COMPLETED, b SCHEDULED, w COMPLETED')
})

test('EN-344 the time limit of an execution ends it, whatever it waits for', () => {
  const limits = { timeoutSeconds: 30, timeoutPolicy: 'TIME_OUT_WF' as const }
  const world = new RulesWorld(graph([unit('HUMAN', 'h', {})], limits))
  world.pass(30)
  expect(world.execution.status).toBe('TIMED_OUT')
  expect(world.status('h')).toBe('CANCELED')
})
