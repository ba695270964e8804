// Goal: an operator's commands on graphs: what depends on a task runs again, what does not stays.
import { expect, test } from 'vitest'
import { RulesWorld, task, unit } from '../../../test/support/rules-world.ts'
import { rerunExecution, restartExecution, retryExecution, terminateExecution } from './operator.ts'

const diamond = () => [task('a'), task('b', ['a']), task('c', ['a']), task('d', ['b', 'c']), task('e', ['c'])]

function rerun(world: RulesWorld, reference: string): void {
  const fromTaskId = world.record(reference).taskId
  world.operate((execution, moment) => rerunExecution(execution, { fromTaskId }, moment))
}

test('EN-360 a rerun reopens the task under its id and runs what depends on it again, and only that', () => {
  const world = new RulesWorld(diamond())
  for (const name of ['a', 'b', 'c', 'd', 'e']) world.complete(name, { by: 1 })
  const before = { b: world.record('b'), e: world.record('e') }
  rerun(world, 'b')
  expect(world.statuses('a', 'b', 'c', 'd', 'e')).toBe(
    'a COMPLETED, b SCHEDULED, c COMPLETED, d -, e COMPLETED',
  )
  expect(world.record('b')).toMatchObject({
    taskId: before.b.taskId,
    pollCount: 0,
    retryCount: 0,
    output: {},
  })
  expect(world.record('e')).toEqual(before.e)
  world.complete('b', { by: 2 })
  world.complete('d')
  expect(world.execution.status).toBe('COMPLETED')
})

test('EN-361 a rerun runs again what had failed beside it', () => {
  const world = new RulesWorld(diamond())
  world.complete('a')
  world.complete('b')
  world.fail('c')
  rerun(world, 'b')
  expect(world.execution.status).toBe('RUNNING')
  expect(world.claimable()).toEqual(['b', 'c'])
})

test('EN-362 a rerun inside a loop opens the loop at that iteration', () => {
  const world = new RulesWorld([
    unit('DO_WHILE', 'loop', {
      loopCondition: 'a.more == true',
      max: 5,
      units: [task('a'), task('b', ['a'])],
    }),
    task('after', ['loop']),
  ])
  for (const n of [1, 2]) {
    world.complete(`a__${n}`, { more: n < 2 })
    world.complete(`b__${n}`)
  }
  world.complete('after')
  rerun(world, 'a__1')
  expect(world.statuses('loop', 'a__1', 'b__1', 'a__2', 'after')).toBe(
    'loop IN_PROGRESS, a__1 SCHEDULED, b__1 -, a__2 -, after -',
  )
  world.complete('a__1', { more: false })
  world.complete('b__1')
  expect(world.record('loop').output['iteration']).toBe(1)
  world.complete('after')
  expect(world.execution.status).toBe('COMPLETED')
})

test('EN-362 a rerun inside EACH leaves the other iterations alone', () => {
  const world = new RulesWorld([
    unit('EACH', 'each', { items: [1, 2, 3], max: 3, atOnce: 3, units: [task('a'), task('b', ['a'])] }),
  ])
  for (const n of [1, 2, 3]) {
    world.complete(`a__${n}`, { n })
    world.complete(`b__${n}`)
  }
  rerun(world, 'a__2')
  expect(world.claimable()).toEqual(['a__2'])
  expect(world.statuses('b__1', 'b__2', 'b__3', 'each')).toBe(
    'b__1 COMPLETED, b__2 -, b__3 COMPLETED, each IN_PROGRESS',
  )
  world.complete('a__2', { n: 22 })
  world.complete('b__2')
  expect(world.record('each').output['results']).toMatchObject([
    { a: { n: 1 } },
    { a: { n: 22 } },
    { a: { n: 3 } },
  ])
})

test('EN-362 a rerun inside a loop of an iteration leaves the same loop of other iterations alone', () => {
  const loop = unit('DO_WHILE', 'loop', { loopCondition: 'a.more == true', max: 5, units: [task('a')] })
  const world = new RulesWorld([unit('EACH', 'each', { items: [1, 2], max: 2, atOnce: 2, units: [loop] })])
  for (const item of [1, 2]) {
    world.complete(`a__${item}__1`, { more: true })
    world.complete(`a__${item}__2`, { more: false })
  }
  rerun(world, 'a__1__1')
  expect(world.statuses('a__1__1', 'a__1__2', 'a__2__1', 'a__2__2', 'loop__2', 'each')).toBe(
    'a__1__1 SCHEDULED, a__1__2 -, a__2__1 COMPLETED, a__2__2 COMPLETED, loop__2 COMPLETED, each IN_PROGRESS',
  )
  world.complete('a__1__1', { more: false })
  expect(world.execution.status).toBe('COMPLETED')
})

test('EN-363 a retry makes new attempts at everything that failed or was cancelled, inside loops too', () => {
  const world = new RulesWorld([
    task('x'),
    unit('EACH', 'each', { items: [1, 2], max: 2, atOnce: 2, units: [task('a')] }),
    unit('WAIT', 'w', { seconds: 50 }),
  ])
  world.complete('a__1')
  world.fail('a__2')
  const { taskId } = world.record('each')
  expect(world.statuses('x', 'a__1', 'a__2', 'each', 'w')).toBe(
    'x CANCELED, a__1 COMPLETED, a__2 FAILED, each FAILED, w CANCELED',
  )
  world.operate(retryExecution)
  expect(world.statuses('x', 'a__1', 'a__2', 'each', 'w')).toBe(
    'x SCHEDULED, a__1 COMPLETED, a__2 SCHEDULED, each IN_PROGRESS, w IN_PROGRESS',
  )
  expect(world.record('each').taskId).toBe(taskId)
  world.complete('x')
  world.complete('a__2')
  world.pass(50)
  expect(world.execution.status).toBe('COMPLETED')
})

test('EN-364 a restart of a graph removes every attempt and every variable', () => {
  const world = new RulesWorld([
    unit('SET_VARIABLE', 's', { inputParameters: { n: '${workflow.variables.n}', m: 1 } }),
    ...diamond(),
  ])
  world.complete('a')
  world.operate((execution, moment) => terminateExecution(execution, {}, moment))
  world.operate(restartExecution)
  expect(world.execution.rows.map(({ record }) => record.referenceTaskName)).toEqual(['s', 'a'])
  expect(world.execution).toMatchObject({ status: 'RUNNING', run: 2, variables: { n: null, m: 1 } })
})
