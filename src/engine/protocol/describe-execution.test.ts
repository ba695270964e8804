import { expect, test } from 'vitest'
import { graph, RulesWorld, task, unit } from '../../../test/support/rules-world.ts'
import { describeExecution, type ExecutionDescription } from './describe-execution.ts'
import { STAGES } from './stages.ts'

const describeIt = (world: RulesWorld): ExecutionDescription =>
  describeExecution(world.execution, { nowMs: world.nowMs })
const undo = { undo: { name: 'undo' } }

test('X-50 it has the id that submitting gave', () => {
  expect(describeIt(new RulesWorld([task('a')])).execution_id).toBe('w')
})

test('X-51 its status is the stage of the last move, at every step', () => {
  const world = new RulesWorld([task('a'), task('b', ['a'])], { isPending: true })
  const seen: string[] = []
  const look = (): void => {
    const { status } = describeIt(world)
    expect(STAGES).toContain(status)
    expect(status).toBe(world.execution.moves.at(-1)?.stage)
    seen.push(status)
  }
  look()
  world.decide()
  look()
  world.complete('a')
  look()
  world.complete('b')
  look()
  expect(seen).toEqual(['PENDING', 'EXECUTING', 'EXECUTING', 'COMMIT'])
})

test('X-52 its phase is the running one: a label, or else the layer', () => {
  const world = new RulesWorld([
    task('a', [], { phase: 'load' }),
    task('b', ['a'], { phase: 'clean' }),
    task('c', ['b']),
  ])
  const phases = ['a', 'b', 'c'].map((name) => {
    const { phase } = describeIt(world)
    world.complete(name)
    return phase
  })
  expect(phases).toEqual(['load', 'clean', 'layer-3'])
})

test('X-53 its times are ISO 8601 in UTC, and updated_at grows with each change', () => {
  const world = new RulesWorld([task('a')])
  const times = [describeIt(world).updated_at]
  world.nowMs += 5
  world.claim('a')
  times.push(describeIt(world).updated_at)
  world.nowMs += 5
  world.post('a', 'COMPLETED')
  times.push(describeIt(world).updated_at)
  expect(times).toEqual(['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:01.005Z', '1970-01-01T00:00:01.010Z'])
  expect(describeIt(world).created_at).toBe('1970-01-01T00:00:01.000Z')
})

test('X-54 its units have id, status, start once they run, and result once complete', () => {
  const world = new RulesWorld([task('a'), task('b'), task('c', ['a', 'b'])])
  world.complete('a', { ok: 'success' })
  world.claim('b')
  expect(describeIt(world).plan_units).toEqual([
    { id: 'a', status: 'COMPLETED', result: { ok: 'success' }, started_at: '1970-01-01T00:00:01.000Z' },
    { id: 'b', status: 'EXECUTING', started_at: '1970-01-01T00:00:01.000Z' },
    { id: 'c', status: 'PENDING' },
  ])
})

test('X-55 a unit may be pending, executing, completed, failed, rolled back or skipped', () => {
  const world = new RulesWorld(
    graph(
      [
        task('rolled-back', [], undo),
        task('skipped', [], { onlyIf: 'false' }),
        task('failed', ['rolled-back']),
        task('pending', ['failed']),
      ],
      { policy: { onFailure: 'rollback', attempts: 1 } },
    ),
  )
  const states = (): readonly string[] =>
    describeIt(world).plan_units.map(({ id, status }) => `${id} ${status}`)
  world.claim('rolled-back')
  expect(states()[0]).toBe('rolled-back EXECUTING')
  world.post('rolled-back', 'COMPLETED')
  expect(states()[0]).toBe('rolled-back COMPLETED')
  world.fail('failed')
  world.complete('rolled-back__undo')
  expect(states()).toEqual(['rolled-back ROLLED_BACK', 'skipped SKIPPED', 'failed FAILED', 'pending PENDING'])
})

test('X-107 a finished task raises tasks_completed by one and moves updated_at', () => {
  const world = new RulesWorld([task('a'), task('b'), task('c')])
  const before = describeIt(world)
  world.nowMs += 3000
  world.complete('b')
  const after = describeIt(world)
  expect(after.metrics.tasks_completed).toBe(before.metrics.tasks_completed + 1)
  expect(Date.parse(after.updated_at)).toBeGreaterThan(Date.parse(before.updated_at))
})

test('EN-370 the metrics count units, those of iterations too; the duration stops at the end', () => {
  const world = new RulesWorld([
    task('cancelled'),
    unit('EACH', 'each', { items: [1, 2], max: 2, atOnce: 2, units: [task('b')] }),
  ])
  world.complete('b__1')
  world.nowMs += 300_000
  world.fail('b__2')
  world.nowMs += 50_000
  expect(describeIt(world).metrics).toEqual({
    tasks_total: 4,
    tasks_completed: 1,
    tasks_failed: 2,
    execution_duration_seconds: 300,
  })
})
