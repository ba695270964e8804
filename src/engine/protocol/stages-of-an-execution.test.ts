// Goal: the stages that an execution goes through, what is verified and what is undone on the way.
import { expect, test } from 'vitest'
import type { Policy, Unit } from '../graph/graph.ts'
import { graph, RulesWorld, task, unit } from '../../../test/support/rules-world.ts'
import { isPeragoError } from '../../base/errors.ts'
import { decide } from './decide.ts'
import { retryExecution, terminateExecution } from './operator.ts'
import { moveStage } from './stages.ts'

const undo = (name: string) => ({ undo: { name: 'undo', inputParameters: { of: name } } })

function world(
  policy: Partial<Policy>,
  units: readonly Unit[] = [task('a', [], undo('a')), task('b', ['a'], undo('b'))],
) {
  return new RulesWorld(graph(units, { policy: { onFailure: 'fail', attempts: 1, ...policy } }))
}

test('X-91 a submitted execution is PENDING and has nothing to do', () => {
  const submitted = new RulesWorld([task('a')], { isPending: true })
  expect(submitted.stages()).toBe('PENDING')
  expect(submitted.execution.rows).toEqual([])
})

test('X-92 a sound graph: PENDING, then SCHEDULING, before anything else', () => {
  expect(new RulesWorld([task('a')]).stages()).toBe('PENDING SCHEDULING EXECUTING')
})

test('X-93 without room it stays in SCHEDULING, and executes once there is some', () => {
  const waiting = new RulesWorld([task('a')], { hasRoom: false })
  expect(waiting.stages()).toBe('PENDING SCHEDULING')
  waiting.pass(100)
  expect(waiting.execution.rows).toEqual([])
  waiting.hasRoom = true
  waiting.decide()
  expect(waiting.stages()).toBe('PENDING SCHEDULING EXECUTING')
  expect(waiting.claimable()).toEqual(['a'])
})

test('X-94 a graph with a cycle: PENDING, SCHEDULING, FAILED, and the reason names its units', () => {
  const bad = new RulesWorld([task('a', ['b']), task('b', ['a'])])
  expect(bad.stages()).toBe('PENDING SCHEDULING FAILED')
  expect(bad.execution.status).toBe('FAILED')
  expect(bad.execution.reasonForIncompletion).toMatch(/a.*b|b.*a/)
})

test('X-105 nothing is scheduled before SCHEDULING, and nothing of a graph that is not sound', () => {
  const [sound, bad] = [[task('a')], [task('a'), task('b', ['nobody'])]].map(
    (units) => new RulesWorld(units, { hasRoom: false }),
  )
  expect([sound!.execution.rows, bad!.execution.rows]).toEqual([[], []])
  expect(bad!.stages()).toBe('PENDING SCHEDULING FAILED')
})

test('X-06 a good run is scheduled, executed, verified and committed; a failed one is rolled back', () => {
  const [good, failing] = [world({}), world({ onFailure: 'rollback' })]
  good.complete('a')
  good.complete('b')
  expect(good.stages()).toBe('PENDING SCHEDULING EXECUTING VERIFYING COMMIT')
  failing.complete('a')
  failing.fail('b')
  failing.complete('a__undo')
  expect(failing.stages()).toBe('PENDING SCHEDULING EXECUTING ROLLBACK FAILED')
})

test('X-95 the last unit done: VERIFYING is next', () => {
  const done = world({ verify: { name: 'check' } })
  done.complete('a')
  expect(done.stages()).toBe('PENDING SCHEDULING EXECUTING')
  done.complete('b')
  expect(done.stages()).toBe('PENDING SCHEDULING EXECUTING VERIFYING')
  expect(done.execution.status).toBe('RUNNING')
})

test('X-109 the validator is called once, with all results', () => {
  const done = world({ verify: { name: 'check', inputParameters: { strict: true } } })
  done.complete('a', { n: 1 })
  done.complete('b', { n: 2 })
  done.decide()
  expect(done.claimable()).toEqual(['execution__verify'])
  expect(done.record('execution__verify')).toMatchObject({
    taskType: 'check',
    input: { outputs: { a: { n: 1 }, b: { n: 2 } }, output: { n: 2 }, strict: true },
  })
})

test.each<[Policy['verify'], boolean]>([
  [undefined, false],
  [{ expression: 'b.n == 2' }, false],
  [{ name: 'check' }, true],
])('X-97 results that pass %j: COMMIT', (verify, isTask) => {
  const done = world(verify === undefined ? {} : { verify })
  done.complete('a')
  done.complete('b', { n: 2 })
  if (isTask) done.complete('execution__verify', { passed: true })
  expect(done.stages()).toBe('PENDING SCHEDULING EXECUTING VERIFYING COMMIT')
  expect(done.execution).toMatchObject({ status: 'COMPLETED', output: { n: 2 } })
})

test.each<[Policy['verify'], boolean]>([
  [{ expression: 'b.n == 3' }, false],
  [{ expression: 'b.n > "x"' }, false],
  [{ name: 'check' }, true],
])('X-98 results that do not pass %j: ROLLBACK', (verify, isTask) => {
  const done = world(verify === undefined ? {} : { verify })
  done.complete('a')
  done.complete('b', { n: 2 })
  if (isTask) done.complete('execution__verify', { passed: false, reason: 'too few' })
  expect(done.stages()).toBe('PENDING SCHEDULING EXECUTING VERIFYING ROLLBACK')
  expect(done.execution.ending?.reason).toMatch(/^verification failed: /)
  expect(done.claimable()).toEqual(['b__undo'])
})

test('EN-350 a validator that fails is tried again like any task, and then its failure counts', () => {
  const done = new RulesWorld(
    graph([task('a')], { policy: { onFailure: 'fail', attempts: 1, verify: { name: 'check' } } }),
    { defs: [{ name: 'check', retryCount: 1, retryDelaySeconds: 1 }] },
  )
  done.complete('a')
  done.fail('execution__verify')
  done.pass(1)
  expect(done.stages()).toBe('PENDING SCHEDULING EXECUTING VERIFYING')
  done.fail('execution__verify')
  expect(done.stages()).toBe('PENDING SCHEDULING EXECUTING VERIFYING ROLLBACK FAILED')
})

test('X-96 policy fail: a failed unit leads to FAILED, and nothing is undone', () => {
  const failed = world({})
  failed.complete('a')
  failed.fail('b')
  expect(failed.stages()).toBe('PENDING SCHEDULING EXECUTING FAILED')
})

test('X-96 policy rollback: it leads to ROLLBACK, or to FAILED if there is nothing to undo', () => {
  const failed = world({ onFailure: 'rollback' })
  failed.complete('a', { path: '/a' })
  failed.fail('b')
  expect(failed.stages()).toBe('PENDING SCHEDULING EXECUTING ROLLBACK')
  expect(failed.record('a__undo')).toMatchObject({ taskType: 'undo', input: { path: '/a', of: 'a' } })
  const nothing = world({ onFailure: 'rollback' })
  nothing.fail('a')
  expect(nothing.stages()).toBe('PENDING SCHEDULING EXECUTING FAILED')
})

test('X-99 with attempts left it starts again from PENDING, with none left it is FAILED', () => {
  const failed = world({ onFailure: 'rollback', attempts: 2 })
  for (const attempt of [1, 2]) {
    expect(failed.execution.attempt).toBe(attempt)
    failed.complete('a', { attempt })
    failed.fail('b')
    failed.complete('a__undo')
  }
  expect(failed.stages()).toBe(
    'PENDING SCHEDULING EXECUTING ROLLBACK PENDING SCHEDULING EXECUTING ROLLBACK FAILED',
  )
  expect(failed.execution.rollbacks).toMatchObject([{ undone: ['a'] }, { undone: ['a'] }])
  expect(failed.execution).toMatchObject({ status: 'FAILED' })
  expect(failed.execution.reasonForIncompletion).toContain('broken')
})

const chain = [
  task('a', [], undo('a')),
  task('b', [], undo('b')),
  unit('JOIN', 'both', { after: ['a', 'b'] }),
  task('c', ['both'], undo('c')),
  task('d', ['c']),
  task('e', ['d']),
]

test('X-170 units are undone in the order they say, then the last completed first', () => {
  const failed = world({ onFailure: 'rollback' }, [
    task('a', [], { undo: { name: 'undo', order: -1 } }),
    task('b', ['a'], undo('b')),
    task('c', ['b'], undo('c')),
    task('d', ['c']),
  ])
  for (const name of ['a', 'b', 'c']) failed.complete(name)
  failed.fail('d')
  const order: string[] = []
  while (failed.claimable().length > 0) {
    const [next = '', ...others] = failed.claimable()
    expect(others).toEqual([])
    order.push(next)
    failed.complete(next)
  }
  expect(order).toEqual(['a__undo', 'c__undo', 'b__undo'])
})

test('EN-351 units are undone in the reverse order of their completion, within one millisecond too', () => {
  const failed = world({ onFailure: 'rollback' }, chain)
  for (const name of ['b', 'a', 'c', 'd']) failed.complete(name)
  failed.fail('e')
  for (const name of ['c', 'a', 'b']) {
    expect(failed.claimable()).toEqual([`${name}__undo`])
    failed.complete(`${name}__undo`)
  }
  expect(failed.execution.rollbacks).toMatchObject([
    { undone: ['c', 'a', 'b'], notUndone: [{ unit: 'd', why: 'it has no undo' }] },
  ])
})

test('EN-352 what cannot be undone is told, the others are undone, and it does not start again', () => {
  const failed = world({ onFailure: 'rollback', attempts: 5 }, [
    task('a', [], undo('a')),
    task('b', ['a'], undo('b')),
    task('c', ['b']),
  ])
  failed.complete('a')
  failed.complete('b')
  failed.fail('c')
  failed.fail('b__undo', 'gone')
  failed.complete('a__undo')
  expect(failed.stages()).toBe('PENDING SCHEDULING EXECUTING ROLLBACK FAILED')
  expect(failed.execution.rollbacks).toMatchObject([
    { undone: ['a'], notUndone: [{ unit: 'b', why: 'undoing it failed: gone' }] },
  ])
})

test('EN-353 retrying what was rolled back starts from the beginning, as a new run from PENDING', () => {
  const failed = world({ onFailure: 'rollback' })
  failed.complete('a')
  failed.fail('b')
  failed.complete('a__undo')
  failed.operate(retryExecution)
  expect(failed.stages()).toBe('PENDING SCHEDULING EXECUTING')
  expect(failed.execution.run).toBe(2)
  expect(failed.claimable()).toEqual(['a'])
})

test('X-100 whatever is decided or moved, COMMIT and FAILED stay', () => {
  const [done, failed] = [world({}), world({})]
  done.complete('a')
  done.complete('b')
  failed.fail('a')
  for (const { execution, nowMs } of [done, failed]) {
    expect(decide(execution, { ...done.moment(), nowMs: nowMs + 1e9 })).toBe(execution)
    let refused: unknown
    try {
      moveStage(execution, 'EXECUTING', nowMs)
    } catch (error) {
      refused = error
    }
    expect(isPeragoError(refused) && refused.code).toBe('engine/illegal-move')
  }
})

test('EN-354 an operator can end an execution in every stage that is not final', () => {
  const pending = new RulesWorld([task('a')], { isPending: true })
  const scheduling = new RulesWorld([task('a')], { hasRoom: false })
  const verifying = world({ verify: { name: 'check' } })
  verifying.complete('a')
  verifying.complete('b')
  const undoing = world({ onFailure: 'rollback' })
  undoing.complete('a')
  undoing.fail('b')
  for (const open of [pending, scheduling, world({}), verifying, undoing]) {
    open.operate((execution, moment) => terminateExecution(execution, { reason: 'enough' }, moment))
    expect(open.execution).toMatchObject({ status: 'TERMINATED', stage: 'CANCELLED' })
    expect(open.claimable()).toEqual([])
  }
})
