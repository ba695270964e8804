import { describe, expect, test } from 'vitest'
import type { InvalidError } from '../../base/errors.ts'
import { walkUnits, type Graph, type Unit } from '../graph/graph.ts'
import { loadPipelineText, printFileProblem, readPipelineText } from './read-pipeline-file.ts'

function graphOf(text: string): Graph {
  const { pipeline, problems } = readPipelineText(text)
  expect(problems).toEqual([])
  if (pipeline === undefined) throw new Error('it was refused')
  return pipeline.graph
}

function problemsOf(text: string): readonly string[] {
  return readPipelineText(text).problems.map((problem) => printFileProblem('p', problem))
}

/** `clean<ingest` for each edge, by unit. */
function edgesOf(text: string): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    walkUnits(graphOf(text).units).map((unit) => [unit.taskReferenceName, unit.after]),
  )
}

const unitOf = (text: string): Unit | undefined => graphOf(`name: p\nunits:\n  a:\n${text}`).units[0]

describe('a file', () => {
  test('EN-500 a task without parameters gets none, and inputs of its own are left as they are', () => {
    const graph = graphOf('{ name: p, units: { a: { task: t }, b: { task: t, input: { x: 1 } } } }')
    expect(graph.units.map(({ inputParameters }) => inputParameters)).toEqual([{ params: {} }, { x: 1 }])
  })

  test('EN-500 YAML and JSON give one graph, with the fields named as in Conductor', () => {
    const yaml = `
name: orders.daily
version: 3
input: { workspace: {}, day: { default: '2026-01-15' } }
timeout: 2h
units:
  ingest:
    task: orders.ingest
    workspace: \${workflow.input.workspace}
    params: { day: '\${workflow.input.day}' }
    retry: { times: 5, delay: 10s, backoff: exponential, maxDelay: 5min, jitter: 200ms }
    timeout: 1h
    lease: 60s
    target: warehouse
    planning: { priority: 2, complexity: 0.5, impact: 1, cpu: 2, memory: 512MiB, expected: 90s, affinity: lake }
    undo: { task: orders.remove, input: { day: 1 } }
output: { rows: '\${ingest.output.result.rows}' }
`
    const graph = graphOf(yaml)
    expect(graph).toEqual({
      name: 'orders.daily',
      version: 3,
      inputTemplate: { day: '2026-01-15' },
      outputParameters: { rows: '${ingest.output.result.rows}' },
      restartable: true,
      timeoutSeconds: 7200,
      timeoutPolicy: 'TIME_OUT_WF',
      units: [
        {
          type: 'SIMPLE',
          name: 'orders.ingest',
          taskReferenceName: 'ingest',
          after: [],
          inputParameters: {
            workspace: '${workflow.input.workspace}',
            params: { day: '${workflow.input.day}' },
          },
          retryCount: 5,
          retryDelaySeconds: 10,
          retryLogic: 'EXPONENTIAL_BACKOFF',
          maxRetryDelaySeconds: 300,
          backoffJitterMs: 200,
          timeoutSeconds: 3600,
          responseTimeoutSeconds: 60,
          target: 'warehouse',
          planning: {
            priority: 2,
            complexity: 0.5,
            impact: 1,
            demand: { cpu: 2, memoryBytes: 536_870_912 },
            expectedMs: 90_000,
            affinity: 'lake',
          },
          undo: { name: 'orders.remove', inputParameters: { day: 1 } },
        },
      ],
    })
    expect(graphOf(JSON.stringify(readPipelineText(yaml).pipeline?.document))).toEqual(graph)
  })

  test.each<[string, string, object]>([
    ['wait: { for: 5min }', 'WAIT', { seconds: 300 }],
    ["wait: { until: '${workflow.input.at}' }", 'WAIT', { until: '${workflow.input.at}' }],
    [
      'wait: { events: [external.data_ready], which: any, timeout: 1d }',
      'WAIT',
      { events: ['external.data_ready'], which: 'any', timeoutSeconds: 86_400 },
    ],
    ['human: { input: { q: 1 }, timeout: 1h }', 'HUMAN', { inputParameters: { q: 1 }, timeoutSeconds: 3600 }],
    ['barrier: true', 'JOIN', {}],
    ['set: { count: 1 }', 'SET_VARIABLE', { inputParameters: { count: 1 } }],
    [
      'end: FAILED\n    reason: no\n    output: { x: 1 }',
      'TERMINATE',
      { terminationStatus: 'FAILED', terminationReason: 'no', workflowOutput: { x: 1 } },
    ],
    [
      'pipeline: other\n    version: 2\n    input: { x: 1 }',
      'SUB_WORKFLOW',
      { subWorkflowParam: { name: 'other', version: 2 }, inputParameters: { x: 1 } },
    ],
  ])('EN-500 a unit may be %s', (written, type, fields) => {
    expect(unitOf(`    ${written}\n`)).toMatchObject({ type, taskReferenceName: 'a', after: [], ...fields })
  })

  test('EN-501 a unit that uses the output of another one is after it', () => {
    expect(
      edgesOf(`
name: p
units:
  a: { task: a }
  b: { task: b, params: { rows: 'all of \${a.output.result.rows}', again: '\${a.output.result.rows}' } }
  c: { task: c, onlyIf: b.result > 1, startWhen: 'event:a.completed' }
  d: { task: d, after: [b], input: { x: ['\${ c.output }', '$\${a.output}'] }, undo: { task: u, input: { x: '\${a.output}' } } }
`),
    ).toEqual({ a: [], b: ['a'], c: ['b'], d: ['b', 'c'] })
  })

  test('EN-502 what is after a switch is after the last units of each case', () => {
    const text = `
name: p
units:
  count: { task: count }
  choose:
    switch: \${count.output.result.size}
    cases:
      small: { one: { task: one }, two: { task: two, after: [one] } }
      none: { stop: { end: COMPLETED } }
    default: { other: { if: '\${count.output.result.ok}', then: { yes: { task: yes } }, else: { no: { task: no } } } }
  last: { task: last, after: [choose] }
`
    expect(edgesOf(text)).toEqual({
      count: [],
      choose: ['count'],
      one: ['choose'],
      two: ['choose', 'one'],
      stop: ['choose'],
      other: ['choose', 'count'],
      yes: ['other'],
      no: ['other'],
      last: ['choose', 'two', 'stop', 'yes', 'no'],
    })
    const units = graphOf(text).units
    expect(units.find(({ taskReferenceName }) => taskReferenceName === 'choose')).toMatchObject({
      type: 'SWITCH',
      expression: '${count.output.result.size}',
      cases: ['small', 'none'],
    })
    expect(
      units.map(({ taskReferenceName, onlyIn }) => [taskReferenceName, onlyIn?.unit, onlyIn?.case]),
    ).toEqual([
      ['count', undefined, undefined],
      ['choose', undefined, undefined],
      ['one', 'choose', 'small'],
      ['two', 'choose', 'small'],
      ['stop', 'choose', 'none'],
      ['other', 'choose', 'default'],
      ['yes', 'other', 'true'],
      ['no', 'other', 'default'],
      ['last', undefined, undefined],
    ])
  })

  test('EN-503 edges across the border of a loop belong to the loop', () => {
    const text = `
name: p
units:
  list: { task: list }
  limit: { task: limit }
  all:
    each: \${list.output.result.names}
    max: 50
    atOnce: 4
    units:
      load: { task: load, params: { name: '\${all.item}', limit: '\${limit.output.result}' } }
      again: { while: load.result == false, max: 3, units: { try: { task: try, params: '\${load.output.result}' } } }
  sum: { task: sum, params: '\${try.output.result}' }
`
    expect(edgesOf(text)).toEqual({
      list: [],
      limit: [],
      all: ['list', 'limit'],
      load: [],
      again: ['load'],
      try: [],
      sum: ['all'],
    })
    expect(graphOf(text).units[2]).toMatchObject({
      type: 'EACH',
      items: '${list.output.result.names}',
      max: 50,
      atOnce: 4,
      units: [{ name: 'load' }, { type: 'DO_WHILE', loopCondition: 'load.result == false', max: 3 }],
    })
  })
})

describe('problems', () => {
  test('EN-510 all of them are told at once, each with its line and column, and what was meant', () => {
    expect(
      problemsOf(`name: p
verison: 2
units:
  clean:
    task: orders.clean
    aftr: [ingest]
    retry: { times: many, backoff: squared }
  load: { taks: orders.load }
  both: { task: a, barrier: true }
  wait: { wait: { for: 1500ms } }
`),
    ).toEqual([
      'p:2:1: verison: there is no key "verison" here; did you mean "version"?',
      'p:6:5: units.clean.aftr: there is no key "aftr" here; did you mean "after"?',
      'p:7:21: units.clean.retry.times: must be a whole number from 0 to 1000, and is "many"',
      'p:7:36: units.clean.retry.backoff: must be fixed, linear or exponential, and is "squared"',
      'p:8:11: units.load.taks: there is no key "taks" here; did you mean "task"?',
      'p:9:20: units.both.barrier: a unit is of one kind only; it has "task" already',
      'p:10:24: units.wait.wait.for: must be a duration of whole seconds, such as 30s, 5min, 2h or 1d, and is "1500ms"',
    ])
  })

  test('EN-511 names that are not there are told where they are used', () => {
    expect(
      problemsOf(`name: p
input: { day: {} }
units:
  clean:
    task: orders.clean
    after: [ingst]
    params:
      day: \${workflow.input.dya}
      rows: [1, '\${ingset.output.rows}']
    onlyIf: ingestt.rows > 1
    startWhen: event:nothing.completed &&
  ingest: { task: orders.ingest }
output: { x: '\${claen.output}' }
`),
    ).toEqual([
      'p:6:13: units.clean.after[0]: there is no unit "ingst"; did you mean "ingest"?',
      'p:8:12: units.clean.params.day: ${workflow.input.dya}: there is no input "dya"; did you mean "day"?',
      'p:9:17: units.clean.params.rows[1]: ${ingset.output.rows}: there is no unit "ingset"; did you mean "ingest"?',
      'p:10:13: units.clean.onlyIf: there is no unit "ingestt"; did you mean "ingest"?',
      expect.stringMatching(
        /^p:11:16: units\.clean\.startWhen: .*column 31|^p:11:16: units\.clean\.startWhen: /,
      ),
      'p:13:14: output.x: ${claen.output}: there is no unit "claen"; did you mean "clean"?',
    ])
  })

  test.each(['system', 'pipeline', 'external', 'shared', 'a.b', 'a b', '', 'workflow', 'loop__2'])(
    'N-20 a unit cannot be named %j, and the message names it',
    (name) => {
      const problems = problemsOf(JSON.stringify({ name: 'p', units: { [name]: { task: 't' } } }))
      expect(problems).toHaveLength(1)
      expect(problems[0]).toContain(JSON.stringify(name))
      expect(problems[0]).toMatch(/^p:1:22: units/)
    },
  )

  test('EN-512 a file that is no YAML, too large or too deep is refused, whatever is in it', () => {
    expect(problemsOf('name: [p\nunits: {}')[0]).toMatch(/^p:2:1: /)
    expect(problemsOf('name: p\nname: q\nunits: { a: { task: t } }')[0]).toMatch(/^p:2:1: .*unique/)
    expect(problemsOf('')).toEqual(['p:1:1: must be an object, and is empty'])
    expect(problemsOf('a: 1\n---\nb: 2')[0]).toMatch(/documents/)
    expect(problemsOf(`name: ${'x'.repeat(1_048_577)}`)).toEqual(['p:1:1: it has more than 1048576 bytes'])
    expect(problemsOf('['.repeat(200_000))).toEqual(['p:1:1: it is nested more than 500 deep'])
    expect(problemsOf(`${'- '.repeat(100_000)}x`)).toEqual(['p:1:1: it is nested more than 500 deep'])
    expect(
      problemsOf(`name: p\nunits: { a: { task: t, params: ${'['.repeat(150)}${']'.repeat(150)} } }`)[0],
    ).toMatch(/nested more than 100 deep/)
    expect(problemsOf('name: p\nunits: { a: { task: t, params: { x: .nan } } }')).toEqual([
      'p:2:37: units.a.params.x: must be a finite number',
    ])
    const bomb = [
      'a: &a [1,1,1,1,1,1,1,1,1]',
      ...Array.from('bcdefgh').map(
        (name, at) =>
          `${name}: &${name} [${Array(9)
            .fill(`*${'abcdefg'[at] ?? ''}`)
            .join(',')}]`,
      ),
    ]
    expect(problemsOf(bomb.join('\n'))[0]).toMatch(/alias/)
  })

  test('EN-513 a unit is declared once, in whatever case or loop it is', () => {
    expect(
      problemsOf(`name: p
units:
  a: { task: a }
  b: { if: '\${a.output}', then: { a: { task: a } } }
  c: { each: [1], max: 1, units: { c: { task: c } } }
`),
    ).toEqual([
      'p:4:35: units.b.then.a: the name "a" is used twice',
      'p:5:36: units.c.units.c: the name "c" is used twice',
    ])
  })

  test('EN-510 the error for code names all of them', () => {
    expect(() => loadPipelineText('name: p\nunits: { a: { tsk: 1 } }\nx: 1', 'daily.yaml')).toThrow(
      expect.objectContaining({
        code: 'engine/bad-pipeline',
        message:
          'read the pipeline "daily.yaml": daily.yaml:2:15: units.a.tsk: there is no key "tsk" here; did you mean "task"?; daily.yaml:3:1: x: there is no key "x" here; the keys here are $schema, name, version, description, owner, input, timeout, onTimeout, restartable, policy, units, output, templates, schedules',
        // As text: whoever prints them needs no knowledge of their parts.
        details: {
          problems: [
            expect.stringMatching(/^daily\.yaml:2:15: units\.a\.tsk: /) as string,
            expect.stringMatching(/^daily\.yaml:3:1: x: /) as string,
          ],
        },
      }) as InvalidError,
    )
  })
})
