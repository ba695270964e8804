// Goal: each kind of unit starts, ends and is skipped as the comments of graph.ts say.
import { expect, test } from 'vitest'
import { nextDeadlineMs } from './deadlines.ts'
import { skipTask } from './operator.ts'
import { graph, RulesWorld, task, unit } from '../../../test/support/rules-world.ts'

test('X-01 the middle of a diamond runs at the same time, its end after both', () => {
  const world = new RulesWorld([task('a'), task('b', ['a']), task('c', ['a']), task('d', ['b', 'c'])])
  expect(world.claimable()).toEqual(['a'])
  world.complete('a')
  expect(world.claimable()).toEqual(['b', 'c'])
  world.claim('b')
  world.complete('c')
  expect(world.statuses('b', 'c', 'd')).toBe('b IN_PROGRESS, c COMPLETED, d -')
  world.post('b', 'COMPLETED')
  world.complete('d', { x: 1 })
  expect(world.execution).toMatchObject({ status: 'COMPLETED', output: { x: 1 } })
})

const BRANCH = [
  task('first'),
  unit('SWITCH', 'which', {
    expression: '${first.output.kind}',
    cases: ['small', 'large'],
    after: ['first'],
  }),
  task('small', ['which'], { onlyIn: { unit: 'which', case: 'small' } }),
  task('large', ['which'], { onlyIn: { unit: 'which', case: 'large' } }),
  task('other', ['which'], { onlyIn: { unit: 'which', case: 'default' } }),
  task('behind-small', ['small']),
  unit('JOIN', 'end', { after: ['behind-small', 'large', 'other'] }),
]

test.each([
  ['small', 'small COMPLETED, behind-small COMPLETED, large SKIPPED, other SKIPPED, end COMPLETED'],
  ['large', 'small SKIPPED, behind-small SKIPPED, large COMPLETED, other SKIPPED, end COMPLETED'],
  ['unheard-of', 'small SKIPPED, behind-small SKIPPED, large SKIPPED, other COMPLETED, end COMPLETED'],
  [null, 'small SKIPPED, behind-small SKIPPED, large SKIPPED, other COMPLETED, end COMPLETED'],
])('X-165 a switch on %j runs exactly one side, and marks the others as skipped', (kind, statuses) => {
  const world = new RulesWorld(BRANCH)
  world.complete('first', { kind })
  for (const name of world.claimable()) world.complete(name)
  for (const name of world.claimable()) world.complete(name)
  expect(world.statuses('small', 'behind-small', 'large', 'other', 'end')).toBe(statuses)
  expect(world.record('which').output).toEqual({
    evaluationResult: [String(kind)],
    selectedCase: String(kind),
  })
  expect(world.execution.status).toBe('COMPLETED')
})

test('EN-301 a barrier has the outputs of what it joins, without those that were skipped', () => {
  const world = new RulesWorld([
    task('a'),
    task('b', [], { onlyIf: 'false' }),
    unit('JOIN', 'both', { after: ['a', 'b'] }),
  ])
  world.complete('a', { n: 1 })
  expect(world.record('both').output).toEqual({ a: { n: 1 } })
})

test('EN-302 what an operator skips counts as done, so that what is after it runs', () => {
  const world = new RulesWorld([task('a'), task('b', ['a']), task('c', ['b'])])
  world.operate((execution, moment) => skipTask(execution, 'b', moment))
  world.complete('a')
  expect(world.statuses('b', 'c')).toBe('b SKIPPED, c SCHEDULED')
})

test.each([
  ['true', 'SCHEDULED'],
  ['false', 'SKIPPED'],
  ['shared.n > 1', 'SCHEDULED'],
  ['shared.n > 9', 'SKIPPED'],
  ['first.n == 3', 'SCHEDULED'],
  ['shared.unknown == 1', 'SKIPPED'],
  ['event:first.completed', 'SCHEDULED'],
])('EN-303 onlyIf "%s" makes the unit %s, and is asked once', (onlyIf, status) => {
  const world = new RulesWorld([task('first'), task('a', ['first'], { onlyIf })])
  world.variables.set('shared.n', 2)
  world.complete('first', { n: 3 })
  expect(world.status('a')).toBe(status)
  world.variables.set('shared.n', 99)
  world.variables.set('shared.unknown', 1)
  world.decide()
  expect(world.status('a')).toBe(status)
})

test('EN-304 a unit waits until startWhen holds, and stays scheduled when it holds no more', () => {
  const world = new RulesWorld([task('a', [], { startWhen: 'event:go.ahead && shared.n > 1' })])
  world.events.add('go.ahead')
  world.decide()
  expect(world.status('a')).toBe('-')
  world.variables.set('shared.n', 2)
  world.decide()
  expect(world.status('a')).toBe('SCHEDULED')
  world.variables.set('shared.n', 0)
  world.decide()
  expect(world.claimable()).toEqual(['a'])
})

test('EN-304 what another unit sets in the same step counts, wherever it is written', () => {
  const world = new RulesWorld([
    task('a', [], { startWhen: 'shared.n == 2 && first.rows > 5' }),
    task('first'),
    unit('SET_VARIABLE', 'set', { after: ['first'], inputParameters: { n: 2 } }),
  ])
  world.complete('first', { rows: 6 })
  expect(world.status('a')).toBe('SCHEDULED')
})

test('EN-305 a condition that cannot be evaluated fails its unit, and says why', () => {
  const world = new RulesWorld([task('first'), task('a', ['first'], { startWhen: 'first.n > "x"' })])
  world.complete('first', { n: 3 })
  expect(world.status('a')).toBe('FAILED_WITH_TERMINAL_ERROR')
  expect(world.execution.status).toBe('FAILED')
  expect(world.execution.reasonForIncompletion).toContain('a number and a string cannot be ordered')
})

test('EN-306 a failed unit that is optional is completed with errors, and so is the barrier after it', () => {
  const world = new RulesWorld([
    task('a', [], { optional: true, retryCount: 1, retryDelaySeconds: 0 }),
    task('b'),
    unit('JOIN', 'both', { after: ['a', 'b'] }),
    task('c', ['both']),
  ])
  world.fail('a')
  expect(world.status('a')).toBe('SCHEDULED')
  world.fail('a')
  world.complete('b')
  expect(world.statuses('a', 'both', 'c')).toBe(
    'a COMPLETED_WITH_ERRORS, both COMPLETED_WITH_ERRORS, c SCHEDULED',
  )
})

test('EN-307 a wait ends when its time has come, also after the delay before it', () => {
  const world = new RulesWorld(
    [
      unit('WAIT', 'w', { seconds: 10, startDelay: 5 }),
      unit('WAIT', 'u', { until: '${workflow.input.at}' }),
      task('a', ['w', 'u']),
    ],
    { input: { at: '1970-01-01T00:00:10Z' } },
  )
  expect(world.statuses('w', 'u')).toBe('w SCHEDULED, u IN_PROGRESS')
  expect(nextDeadlineMs(world.execution)).toBe(6000)
  world.pass(5)
  expect(nextDeadlineMs(world.execution)).toBe(10_000)
  world.pass(4)
  expect(world.statuses('w', 'u')).toBe('w IN_PROGRESS, u COMPLETED')
  expect(nextDeadlineMs(world.execution)).toBe(16_000)
  world.pass(6)
  expect(world.claimable()).toEqual(['a'])
})

test('EN-307 a wait until something that is no time fails for good', () => {
  const world = new RulesWorld([unit('WAIT', 'w', { until: '${workflow.input.at}' })], {
    input: { at: 'noon' },
  })
  expect(world.execution.reasonForIncompletion).toContain('"noon" is not a time')
})

test.each([
  ['all', ['IN_PROGRESS', 'COMPLETED']],
  ['any', ['COMPLETED', 'COMPLETED']],
] as const)('EN-308 a wait for %s of two events', (which, statuses) => {
  const world = new RulesWorld([unit('WAIT', 'w', { events: ['a.x', 'b.x'], which })])
  expect(world.status('w')).toBe('IN_PROGRESS')
  const seen = ['b.x', 'a.x'].map((type) => {
    world.events.add(type)
    world.decide()
    return world.status('w')
  })
  expect(seen).toEqual(statuses)
  expect(world.record('w').output).toEqual({ events: which === 'all' ? ['a.x', 'b.x'] : ['b.x'] })
})

test('EN-309 events that come too late: the wait and the execution are timed out, on time they are not', () => {
  const late = new RulesWorld([unit('WAIT', 'w', { events: ['a.x'], timeoutSeconds: 5 })])
  late.pass(4.9)
  expect(late.status('w')).toBe('IN_PROGRESS')
  late.pass(0.1)
  expect(late.status('w')).toBe('TIMED_OUT')
  expect(late.execution.status).toBe('TIMED_OUT')
  const onTime = new RulesWorld([unit('WAIT', 'w', { events: ['a.x'], timeoutSeconds: 5 })])
  onTime.events.add('a.x')
  onTime.pass(5)
  expect(onTime.execution.status).toBe('COMPLETED')
})

test('EN-310 a human unit ends with a result from outside, is never handed out, and may time out', () => {
  const units = [unit('HUMAN', 'h', { timeoutSeconds: 60 }), task('a', ['h'])]
  const answered = new RulesWorld(units)
  expect(answered.claimable()).toEqual([])
  answered.post('h', 'IN_PROGRESS', { seen: true })
  expect(answered.record('h')).toMatchObject({ status: 'IN_PROGRESS', output: { seen: true } })
  answered.post('h', 'COMPLETED', { yes: true })
  expect(answered.claimable()).toEqual(['a'])
  const forgotten = new RulesWorld(units)
  forgotten.pass(60)
  expect(forgotten.execution.status).toBe('TIMED_OUT')
})

test('EN-311 variables are merged, read by templates, and lead to the values a host stores', () => {
  const world = new RulesWorld(
    [
      unit('SET_VARIABLE', 's', { inputParameters: { n: 1, who: '${workflow.input.who}' } }),
      unit('SET_VARIABLE', 't', { inputParameters: { n: 2 }, after: ['s'] }),
      task('a', ['t'], { inputParameters: { all: '${workflow.variables}' } }),
    ],
    { input: { who: 'me' } },
  )
  expect(world.record('a').input).toEqual({ all: { n: 2, who: 'me' } })
  expect(Object.fromEntries(world.variables)).toEqual({ 'shared.n': 2, 'shared.who': 'me' })
})

test.each([
  ['COMPLETED', 'COMPLETED', 'PENDING SCHEDULING EXECUTING VERIFYING COMMIT'],
  ['FAILED', 'FAILED', 'PENDING SCHEDULING EXECUTING FAILED'],
  ['TERMINATED', 'TERMINATED', 'PENDING SCHEDULING EXECUTING CANCELLED'],
] as const)(
  'EN-312 a unit ends the execution as %s: what is open is cancelled',
  (terminationStatus, status, stages) => {
    const world = new RulesWorld(
      graph(
        [
          task('slow'),
          task('a'),
          unit('TERMINATE', 'stop', {
            ...{ terminationStatus, after: ['a'], workflowOutput: { n: '${a.output.n}' } },
            terminationReason: 'because of ${a.output.n}',
          }),
        ],
        { outputParameters: { not: 'this' } },
      ),
    )
    world.claim('slow')
    world.complete('a', { n: 7 })
    expect(world.statuses('slow', 'stop')).toBe('slow CANCELED, stop COMPLETED')
    expect(world.execution).toMatchObject({ status, output: { n: 7 }, reasonForIncompletion: 'because of 7' })
    expect(world.stages()).toBe(stages)
  },
)

test('EN-313 nobody but its own kind ends a unit that is no task', () => {
  const world = new RulesWorld([
    unit('SUB_WORKFLOW', 'child', { subWorkflowParam: { name: 'c' } }),
    unit('EACH', 'each', { items: [1], max: 1, atOnce: 1, units: [task('a')] }),
  ])
  const before = world.execution
  world.post('child', 'COMPLETED', { x: 1 })
  world.post('each', 'FAILED')
  expect(world.execution).toEqual(before)
})
