// Goal: EACH and DO_WHILE run their units as often as they say, each iteration with its own names, and fail as they say.
import { expect, test } from 'vitest'
import { RulesWorld, task, unit } from '../../../test/support/rules-world.ts'

const item = { inputParameters: { item: '${each.item}', index: '${each.index}', of: '${a.output.got}' } }

test('EN-320 each item has its own iteration; its units see the item, the index and their own iteration', () => {
  const world = new RulesWorld(
    [
      unit('EACH', 'each', {
        ...{ items: '${workflow.input.list}', max: 5, atOnce: 2 },
        units: [task('a', [], item), task('b', ['a'], item)],
      }),
      task('after', ['each'], {
        inputParameters: { all: '${each.output.results}', last: '${a.output.got}' },
      }),
    ],
    { input: { list: ['x', 'y', 'z'] } },
  )
  expect(world.claimable()).toEqual(['a__1', 'a__2'])
  expect(world.record('a__2')).toMatchObject({ input: { item: 'y', index: 1 }, iteration: 2 })
  world.complete('a__2', { got: 'Y' })
  expect(world.record('b__2').input).toEqual({ item: 'y', index: 1, of: 'Y' })
  world.complete('b__2', { done: 'y' })
  expect(world.claimable()).toEqual(['a__1', 'a__3'])
  world.complete('a__3', { got: 'Z' })
  world.complete('b__3', { done: 'z' })
  world.complete('a__1', { got: 'X' })
  world.complete('b__1', { done: 'x' })
  expect(world.record('after').input).toEqual({
    all: [
      { a: { got: 'X' }, b: { done: 'x' } },
      { a: { got: 'Y' }, b: { done: 'y' } },
      { a: { got: 'Z' }, b: { done: 'z' } },
    ],
    last: 'Z',
  })
})

test('EN-321 an empty list ends at once; a longer one than allowed, or none at all, fails', () => {
  const each = (items: string) => [unit('EACH', 'each', { items, max: 2, atOnce: 1, units: [task('a')] })]
  const run = (input: readonly number[] | string) =>
    new RulesWorld(each('${workflow.input.list}'), { input: { list: input } }).execution
  expect(run([])).toMatchObject({ status: 'COMPLETED', output: { results: [] } })
  expect(run([1, 2, 3])).toMatchObject({ status: 'FAILED' })
  expect(run([1, 2, 3]).reasonForIncompletion).toContain('it has 3 items; at most 2 are allowed')
  expect(run('abc').reasonForIncompletion).toContain('its items are string and must be a list')
})

test('EN-322 loops inside loops: the names carry both numbers', () => {
  const inner = unit('EACH', 'inner', {
    ...{ items: '${outer.item}', max: 3, atOnce: 3 },
    units: [task('a', [], { inputParameters: { of: '${inner.item}', in: '${outer.index}' } })],
  })
  const world = new RulesWorld(
    [unit('EACH', 'outer', { items: '${workflow.input.lists}', max: 3, atOnce: 1, units: [inner] })],
    { input: { lists: [['p', 'q'], ['r']] } },
  )
  expect(world.claimable()).toEqual(['a__1__1', 'a__1__2'])
  expect(world.record('a__1__2').input).toEqual({ of: 'q', in: 0 })
  world.complete('a__1__1')
  world.complete('a__1__2')
  expect(world.claimable()).toEqual(['a__2__1'])
  expect(world.record('a__2__1').input).toEqual({ of: 'r', in: 1 })
  world.complete('a__2__1')
  expect(world.execution.status).toBe('COMPLETED')
})

const again = (max: number) =>
  unit('DO_WHILE', 'loop', { loopCondition: 'a.more == true', max, units: [task('a'), task('b', ['a'])] })

test('EN-323 a loop runs again while its condition holds after an iteration, with the outputs of that one', () => {
  const world = new RulesWorld([
    again(5),
    task('after', ['loop'], { inputParameters: { n: '${a.output.n}' } }),
  ])
  for (const n of [1, 2, 3]) {
    expect(world.record('loop').iteration).toBe(n)
    world.complete(`a__${n}`, { n, more: n < 3 })
    world.complete(`b__${n}`, { n })
  }
  expect(world.record('loop').output).toEqual({
    1: { a: { n: 1, more: true }, b: { n: 1 } },
    2: { a: { n: 2, more: true }, b: { n: 2 } },
    3: { a: { n: 3, more: false }, b: { n: 3 } },
    iteration: 3,
  })
  expect(world.record('after').input).toEqual({ n: 3 })
})

test('EN-324 one iteration more than allowed fails the loop', () => {
  const world = new RulesWorld([again(2)])
  for (const n of [1, 2]) {
    world.complete(`a__${n}`, { more: true })
    world.complete(`b__${n}`)
  }
  expect(world.execution.status).toBe('FAILED')
  expect(world.execution.reasonForIncompletion).toContain('still holds after 2 iterations, the maximum')
})

test('EN-325 a failure inside ends its loop and the other iterations; an optional loop is completed with errors', () => {
  const run = (optional: boolean) => {
    const world = new RulesWorld([
      unit('EACH', 'each', { items: [1, 2, 3], max: 3, atOnce: 2, optional, units: [task('a')] }),
      task('after', ['each']),
    ])
    world.claim('a__2')
    world.fail('a__1', 'no luck')
    return world
  }
  const ended = run(false)
  expect(ended.statuses('a__1', 'a__2', 'a__3', 'each', 'after')).toBe(
    'a__1 FAILED, a__2 CANCELED, a__3 -, each FAILED, after -',
  )
  expect(ended.execution.reasonForIncompletion).toContain('no luck')
  const borne = run(true)
  expect(borne.statuses('a__2', 'each', 'after')).toBe(
    'a__2 CANCELED, each COMPLETED_WITH_ERRORS, after SCHEDULED',
  )
})

test('EN-326 a unit of an iteration is retried in its iteration', () => {
  const world = new RulesWorld([
    unit('EACH', 'each', { items: [1, 2], max: 2, atOnce: 2, units: [task('a', [], { retryCount: 1 })] }),
  ])
  world.fail('a__1')
  world.complete('a__2')
  world.pass(60)
  expect(world.record('a__1')).toMatchObject({ retryCount: 1, iteration: 1, status: 'SCHEDULED' })
  world.complete('a__1')
  expect(world.execution.status).toBe('COMPLETED')
})

test('EN-327 skipping works inside an iteration, by what that iteration chose', () => {
  const world = new RulesWorld([
    unit('EACH', 'each', {
      ...{ items: ['odd', 'even'], max: 2, atOnce: 2 },
      units: [
        unit('SWITCH', 'kind', { expression: '${each.item}', cases: ['odd'] }),
        task('a', ['kind'], { onlyIn: { unit: 'kind', case: 'odd' } }),
        task('b', ['kind'], { onlyIn: { unit: 'kind', case: 'default' } }),
      ],
    }),
  ])
  expect(world.claimable()).toEqual(['a__1', 'b__2'])
  expect(world.statuses('b__1', 'a__2')).toBe('b__1 SKIPPED, a__2 SKIPPED')
  world.complete('a__1')
  world.complete('b__2')
  expect(world.record('each').output).toEqual({
    results: [
      { kind: { evaluationResult: ['odd'], selectedCase: 'odd' }, a: {} },
      { kind: { evaluationResult: ['even'], selectedCase: 'even' }, b: {} },
    ],
  })
})
