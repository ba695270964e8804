import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RulesWorld } from '../../../../test/support/rules-world.ts'
import { InvalidError } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json.ts'
import { defineTask } from '../../../tasks/task-definition.ts'
import { defineWorkflow } from '../../../tasks/workflow-definition.ts'
import { findGraphProblems } from '../../graph/problems.ts'
import { graphOfWorkflow } from './compile-workflow.ts'

type Task = JsonObject

const simple = (ref: string, inputParameters: JsonObject = {}): Task => ({
  ...{ name: 'work', taskReferenceName: ref, inputParameters },
})
const fork = (...forkTasks: Task[][]): Task => ({
  ...{ name: 'f', taskReferenceName: 'f', type: 'FORK_JOIN', forkTasks },
})
const join = (...joinOn: string[]): Task => ({
  ...{ name: 'j', taskReferenceName: 'j', type: 'JOIN', joinOn },
})
const choose = (decisionCases: Record<string, Task[]>, more: JsonObject = {}): Task => ({
  ...{ name: 's', taskReferenceName: 's', type: 'SWITCH', evaluatorType: 'value-param', expression: 'k' },
  inputParameters: { k: '${workflow.input.k}' },
  decisionCases,
  ...more,
})
const loop = (loopCondition: string, loopOver: Task[], inputParameters: JsonObject = {}): Task => ({
  ...{ name: 'l', taskReferenceName: 'l', type: 'DO_WHILE', loopCondition, loopOver, inputParameters },
})
const other = (type: string, ref: string, inputParameters: JsonObject = {}, more: JsonObject = {}): Task => ({
  ...{ name: ref, taskReferenceName: ref, type, inputParameters },
  ...more,
})

const run = (tasks: Task[], input: JsonObject = {}, more: JsonObject = {}): RulesWorld => {
  const graph = graphOfWorkflow({ name: 'w', tasks, ...more })
  expect(findGraphProblems(graph)).toEqual([])
  return new RulesWorld(graph, { input })
}

function problemsOf(definition: unknown): readonly string[] {
  try {
    graphOfWorkflow(definition)
    return []
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error
    expect(error.code).toBe('engine/bad-workflow')
    return error.details['problems'] as readonly string[]
  }
}

describe('FORK_JOIN and JOIN', () => {
  test('EN-573 a JOIN waits for what it joins, and has the outputs of that', () => {
    const world = run([fork([simple('a'), simple('a2')], [simple('b')]), join('a2', 'b'), simple('z')])
    expect(world.record('f')).toMatchObject({ taskType: 'FORK', status: 'COMPLETED', output: {} })
    expect(world.claimable()).toEqual(['a', 'b'])
    world.complete('b', { n: 2 })
    world.complete('a')
    expect(world.statuses('j', 'z')).toBe('j -, z -')
    world.complete('a2', { n: 1 })
    expect(world.record('j')).toMatchObject({
      taskType: 'JOIN',
      status: 'COMPLETED',
      output: { a2: { n: 1 }, b: { n: 2 } },
    })
    expect(world.claimable()).toEqual(['z'])
  })

  test('EN-573 a JOIN does not wait for a branch that it does not name, nor one without names for any', () => {
    const some = run([fork([simple('a')], [simple('b')]), join('a'), simple('z')])
    some.complete('a')
    expect(some.claimable()).toEqual(['b', 'z'])
    const none = run([fork([simple('a')], [simple('b')]), join(), simple('z')])
    expect(none.record('j')).toMatchObject({ taskType: 'JOIN', status: 'COMPLETED', output: {} })
    expect(none.claimable()).toEqual(['a', 'b', 'z'])
  })

  test('EN-573 a failed optional task of a branch completes the JOIN with errors', () => {
    const world = run([
      fork([{ ...simple('a'), optional: true }], [simple('b')]),
      join('a', 'b'),
      simple('z'),
    ])
    world.fail('a')
    world.complete('b')
    expect(world.statuses('a', 'j')).toBe('a COMPLETED_WITH_ERRORS, j COMPLETED_WITH_ERRORS')
    expect(world.claimable()).toEqual(['z'])
  })

  const inCase = [choose({ yes: [simple('a')], no: [simple('c')] }), simple('last')]
  test.each<[string, Task[], string]>([
    [
      'into a case',
      [fork(inCase, [simple('b')]), join('a', 'b')],
      'j: joinOn names "a", which is not in the same case of "s": where it is not chosen, the JOIN would wait for ever; put a NOOP after "s" and join that',
    ],
    [
      'into a loop',
      [fork([loop("$.a['n'] > 1", [simple('a')])], [simple('b')]), join('a', 'b')],
      'j: joinOn names "a", which is not in the same loop of "l"; name the loop itself',
    ],
    [
      'a name that does not exist',
      [fork([simple('a')]), join('b')],
      'j: joinOn names "b", which is not one of its tasks',
    ],
    ['after nothing', [join('a')], 'j: this JOIN must follow a FORK_JOIN directly'],
  ])('EN-573 a JOIN that could wait for ever is refused: %s', (_, tasks, problem) => {
    expect(problemsOf({ name: 'w', tasks })).toContain(problem)
  })

  test('EN-573 inside a case a fork is joined, and skipped as a whole where the case is not chosen', () => {
    const tasks = [choose({ yes: [fork([simple('a')], [simple('b')]), join('a', 'b')] }), simple('z')]
    const chosen = run(tasks, { k: 'yes' })
    expect(chosen.claimable()).toEqual(['a', 'b'])
    const passed = run(tasks, { k: 'no' })
    expect(passed.claimable()).toEqual(['z'])
    expect(passed.statuses('f', 'a', 'b', 'j')).toBe('f SKIPPED, a SKIPPED, b SKIPPED, j SKIPPED')
  })
})

describe('SWITCH', () => {
  const tasks = [
    choose({ a: [simple('a1'), simple('a2')], empty: [] }, { defaultCase: [simple('d')] }),
    simple('z'),
  ]
  test.each<[unknown, string, string]>([
    ['a', 'a', 'a1'],
    ['empty', 'empty', 'z'],
    ['else', 'else', 'd'],
    [null, 'null', 'd'],
    [true, 'true', 'd'],
    [7, '7', 'd'],
  ])('EN-572 the value %j chooses as text, and an empty case goes straight on', (k, selected, next) => {
    const world = run(tasks, { k: k as string })
    expect(world.record('s').output).toEqual({ evaluationResult: [selected], selectedCase: selected })
    expect(world.claimable()).toEqual([next])
  })

  test('EN-572 what follows a switch starts when the chosen case has ended, also inside another case', () => {
    const nested = [
      choose({ outer: [{ ...choose({ in: [simple('x')] }), taskReferenceName: 't' }, simple('y')] }),
      simple('z'),
    ]
    const world = run(nested, { k: 'outer' })
    expect(world.claimable()).toEqual(['y'])
    world.complete('y')
    expect(world.claimable()).toEqual(['z'])
    const chosen = run(tasks, { k: 'a' })
    chosen.complete('a1')
    chosen.complete('a2')
    expect(chosen.statuses('d')).toBe('d SKIPPED')
    expect(chosen.claimable()).toEqual(['z'])
    const passed = run(
      [choose({ no: nested.slice(0, 1).map((task) => ({ ...task, taskReferenceName: 'o' })) }), simple('z')],
      { k: 'outer' },
    )
    expect(passed.statuses('o', 't', 'x', 'y')).toBe('o SKIPPED, t SKIPPED, x SKIPPED, y SKIPPED')
  })

  test('EN-572 a script that only names a parameter chooses by it', () => {
    for (const evaluatorType of ['javascript', 'graaljs'])
      expect(
        run([choose({ a: [simple('x')] }, { evaluatorType, expression: '$.k;' })], { k: 'a' }).claimable(),
      ).toEqual(['x'])
  })

  test('EN-572 a JOIN on a NOOP after a switch waits for the chosen case, whichever it is', () => {
    const joined = [
      fork([choose({ a: [simple('x')] }), other('NOOP', 'n')], [simple('b')]),
      join('n', 'b'),
      simple('z'),
    ]
    const taken = run(joined, { k: 'a' })
    taken.complete('b')
    expect(taken.statuses('n', 'j')).toBe('n -, j -')
    taken.complete('x')
    expect(taken.claimable()).toEqual(['z'])
    const untaken = run(joined, { k: 'else' })
    untaken.complete('b')
    expect(untaken.record('n')).toMatchObject({ taskType: 'NOOP', output: {} })
    expect(untaken.claimable()).toEqual(['z'])
  })
})

describe('DO_WHILE', () => {
  test('EN-575 a loop counts its iterations against a number that it is given', () => {
    const condition = "if ($.l['iteration'] < $.times && $.a['stop'] != true) { true; } else { false; }"
    const world = run(
      [
        loop(condition, [simple('a', { it: '${l.output.iteration}' })], { times: '${workflow.input.times}' }),
        simple('z'),
      ],
      { times: 3 },
    )
    for (const n of [1, 2, 3]) {
      expect(world.record(`a__${n}`).input).toEqual({ it: n })
      world.complete(`a__${n}`, { n })
    }
    expect(world.record('l')).toMatchObject({
      status: 'COMPLETED',
      output: { 1: { a: { n: 1 } }, 2: { a: { n: 2 } }, 3: { a: { n: 3 } }, iteration: 3 },
    })
    expect(world.claimable()).toEqual(['z'])
  })

  test('EN-575 a loop ends by the output of a task in it, which is that of the present iteration', () => {
    const world = run([loop("$.a['stop'] != true", [simple('a')]), simple('z', { n: '${a.output.n}' })])
    world.complete('a__1', { n: 1 })
    expect(world.claimable()).toEqual(['a__2'])
    world.complete('a__2', { n: 2, stop: true })
    expect(world.record('z').input).toEqual({ n: 2 })
  })

  test.each([
    ['$.elsewhere > 1', 'is neither a task of the loop nor one of its inputParameters'],
    ['$.a.n + 1 < 3', '"+ 1 < 3" is not supported'],
    ['$.a', 'is the whole output of a task'],
    ['(function () { return true })()', 'is not supported'],
    ['$.a.n >', 'it ends too early'],
    ['$.mixed > 1', 'which changes in the loop'],
  ])('EN-575 a condition that cannot be run is refused: %s', (condition, why) => {
    const problems = problemsOf({
      name: 'w',
      tasks: [loop(condition, [simple('a')], { mixed: 'at ${a.output.n}' })],
    })
    expect(problems.join()).toContain(why)
    expect(problems).toHaveLength(1)
  })
})

describe('other tasks', () => {
  test('EN-577 variables are set, a wait ends by its time, a human step from outside, and an end ends', () => {
    const world = run(
      [
        other('SET_VARIABLE', 'set', { x: '${workflow.input.x}' }),
        other('WAIT', 'wait', { duration: '1 minute 5 seconds' }),
        other('HUMAN', 'ask', { about: '${workflow.variables.x}' }),
        fork(
          [simple('open')],
          [
            other('TERMINATE', 'end', {
              ...{ terminationStatus: 'COMPLETED', terminationReason: 'because ${workflow.input.x}' },
              workflowOutput: { r: '${ask.output.r}' },
            }),
          ],
        ),
        join('open', 'end'),
      ],
      { x: 7 },
    )
    world.pass(64)
    expect(world.status('wait')).toBe('IN_PROGRESS')
    world.pass(1)
    expect(world.record('ask')).toMatchObject({ status: 'IN_PROGRESS', input: { about: 7 } })
    world.post('ask', 'COMPLETED', { r: 'fine' })
    expect(world.execution).toMatchObject({
      ...{ status: 'COMPLETED', reasonForIncompletion: 'because 7', output: { r: 'fine' } },
    })
    expect(world.status('open')).toBe('CANCELED')
  })

  test('EN-577 a wait without a time ends from outside, and one until a time ends then', () => {
    const world = run([
      other('WAIT', 'signal'),
      other('WAIT', 'until', { until: '1970-01-01T00:02:00Z' }),
      simple('z'),
    ])
    world.pass(100)
    world.post('signal', 'COMPLETED')
    expect(world.status('until')).toBe('IN_PROGRESS')
    world.pass(19)
    expect(world.claimable()).toEqual(['z'])
  })

  test('EN-577 a child is started with its input', () => {
    const world = run([
      other('SUB_WORKFLOW', 'c', { x: 1 }, { subWorkflowParam: { name: 'child', version: 2 } }),
    ])
    expect(world.row('c').child).toMatchObject({ name: 'child', version: 2 })
    expect(world.record('c').input).toEqual({ x: 1 })
  })

  test('EN-577 what defineWorkflow makes runs, and its empty outputParameters are none', () => {
    const t = defineTask({
      name: 'work',
      owner: 'a@b.c',
      params: z.object({}),
      result: z.object({}),
      body: () => ({}),
    })
    const { document } = defineWorkflow({
      ...{ name: 'daily', owner: 'a@b.c', inputParameters: ['x'] },
      steps: [
        fork([simple('a', { params: {} })], [simple('b', { params: {} })]) as never,
        join('a', 'b') as never,
        { task: t, taskReferenceName: 'z', inputParameters: { params: {} }, optional: true },
      ],
    })
    const graph = graphOfWorkflow(JSON.parse(JSON.stringify(document)))
    expect(graph.outputParameters).toBeUndefined()
    const world = new RulesWorld(graph)
    for (const name of ['a', 'b', 'z']) world.complete(name, { last: name })
    expect(world.execution).toMatchObject({ status: 'COMPLETED', output: { last: 'z' } })
  })

  test('EN-576 fields that say nothing are passed over, as a server answers them', () => {
    const empty = {
      ...{ startDelay: 0, optional: false, asyncComplete: false, permissive: false, joinOn: [] },
      ...{ decisionCases: {}, defaultCase: [], forkTasks: [], loopOver: [], onStateChange: {} },
      ...{ defaultExclusiveJoinTask: [], description: 'for people', sink: null },
    }
    const plain = graphOfWorkflow({ name: 'w', tasks: [simple('a'), other('SET_VARIABLE', 'v', { x: 1 })] })
    const served = graphOfWorkflow({
      ...{ name: 'w', version: 1, schemaVersion: 2, createTime: 1, updateTime: 2, ownerEmail: 'a@b.c' },
      ...{ failureWorkflow: '', variables: {}, inputParameters: ['x'], outputParameters: {} },
      ...{ restartable: true, timeoutPolicy: 'ALERT_ONLY', timeoutSeconds: 0 },
      tasks: [
        { ...simple('a'), type: 'SIMPLE', ...empty },
        { ...other('SET_VARIABLE', 'v', { x: 1 }), ...empty },
      ],
    })
    const withoutDelay = JSON.parse(
      JSON.stringify(served).replace(/,"startDelay":0|,"optional":false/g, ''),
    ) as unknown
    expect(withoutDelay).toEqual(JSON.parse(JSON.stringify(plain)))
  })
})

describe('what is refused', () => {
  test.each([
    'FORK_JOIN_DYNAMIC',
    'DYNAMIC',
    'EVENT',
    'INLINE',
    'JSON_JQ_TRANSFORM',
    'HTTP',
    'START_WORKFLOW',
    'DECISION',
    'LAMBDA',
    'MINE',
  ])('EN-574 a task of type %s is refused by name', (type) => {
    expect(problemsOf({ name: 'w', tasks: [other(type, 'x')] })).toEqual([
      expect.stringContaining(`tasks[0]: tasks of type ${type} are not supported`),
    ])
  })

  test('EN-574 all problems of the form are told at once, with their place', () => {
    const tasks = [
      { ...simple('a'), permissive: true },
      fork([{ name: 'x', taskReferenceName: '' }]),
      { ...join('a'), joinOn: 'a' },
      other(
        'SUB_WORKFLOW',
        'c',
        {},
        { subWorkflowParam: { name: 'child', workflowDefinition: { name: 'x' } } },
      ),
    ]
    expect(problemsOf({ name: 'w', failureWorkflow: 'again', schemaVersion: 1, tasks })).toEqual([
      'schemaVersion: Invalid input: expected 2',
      'tasks[0]: the engine does not support permissive',
      'tasks[1].forkTasks[0][0].taskReferenceName: must not be empty',
      'tasks[2].joinOn: Invalid input: expected array, received string',
      'tasks[3].subWorkflowParam: the engine does not support workflowDefinition',
      'the engine does not support failureWorkflow',
    ])
    expect(problemsOf(null)).toHaveLength(1)
  })

  test('EN-574 all problems of meaning are told at once, with their task', () => {
    const tasks = [
      choose({ default: [simple('a', { x: '${ghost.output.y}' })] }),
      {
        ...choose({}, { evaluatorType: 'javascript', expression: '$.k > 1 ? "a" : "b"' }),
        taskReferenceName: 's2',
      },
      other('WAIT', 'wait', { duration: '${workflow.input.d}' }),
      other('WAIT', 'until', { until: '2026-01-01 10:00' }),
      other('TERMINATE', 'end', { terminationStatus: '${workflow.input.s}' }),
      other('TERMINATE', 'end2', { terminationStatus: 'FAILED', workflowOutput: '${a.output}' }),
      simple('a'),
      simple('b__1'),
      fork([simple('c')]),
    ]
    expect(problemsOf({ name: '', tasks })).toEqual([
      'it has no name',
      'the taskReferenceName "a" is used twice',
      'b__1: in loops, names end with "__" and a number; rename it',
      'a: an expression names "ghost", which is not one of its tasks',
      's: none of its decisionCases may be named "default"',
      's2: its javascript script "$.k > 1 ? \\"a\\" : \\"b\\"" is not supported: only "$.NAME" is, for a name of its inputParameters',
      'wait: "${workflow.input.d}" is not a duration that is known in advance, such as "5 seconds"',
      'until: "2026-01-01 10:00" is not a time with its zone, such as 2026-01-01T00:00:00Z, nor an expression',
      'end: its terminationStatus must be one of COMPLETED, FAILED, TERMINATED',
      'end2: its workflowOutput must be an object; give each part a name',
      'f: a JOIN must follow this FORK_JOIN directly',
    ])
  })
})
