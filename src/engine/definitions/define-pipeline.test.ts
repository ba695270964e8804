import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { InvalidError } from '../../base/errors.ts'
import { defineCommandTask, defineTask, defineWorkspaceTask } from '../../tasks/task-definition.ts'
import { definePipeline, workspaceInput } from './define-pipeline.ts'
import { isPipelineDefinition } from './pipeline-definition.ts'
import type { PipelineBuilder } from './pipeline-builder.ts'
import { readPipelineText } from './read-pipeline-file.ts'
import { condition, text } from './typed-reference.ts'

const owner = 'data@example.org'
const count = defineTask({
  name: 'count',
  owner,
  params: z.object({ day: z.iso.date(), limit: z.int().optional() }),
  result: z.object({
    rows: z.int(),
    isLarge: z.boolean(),
    names: z.array(z.string()),
    size: z.enum(['small', 'large']),
    'odd name': z.string(),
  }),
  body: () => ({ rows: 1, isLarge: false, names: [], size: 'small' as const, 'odd name': '' }),
})
const note = defineTask({
  name: 'note',
  owner,
  params: z.object({ text: z.string().optional() }),
  result: z.null(),
  body: () => null,
})
const clean = defineWorkspaceTask({
  name: 'clean',
  owner,
  params: z.object({}),
  result: z.object({ rows: z.int() }),
  workspace: {},
  body: () => ({ rows: 1 }),
})
const publish = defineCommandTask({
  name: 'publish',
  owner,
  params: z.object({}),
  result: z.null(),
  workspace: {},
  command: ['true'],
})

const input = z.object({ workspace: workspaceInput, day: z.iso.date().default('2026-01-15') })
type Input = z.output<typeof input>

function problemsOf(build: (pipeline: PipelineBuilder<Input>) => void): readonly string[] {
  try {
    definePipeline({ name: 'p', input }, build as () => undefined)
    return []
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error
    expect(error.code).toBe('engine/invalid-pipeline')
    return error.details['problems'] as readonly string[]
  }
}

describe('definePipeline', () => {
  test('EN-530 references become expressions, and edges follow from them', () => {
    const pipeline = definePipeline(
      { name: 'daily', owner, input, timeout: '2h', schedules: { nightly: { cron: '0 2 * * *' } } },
      (p) => {
        const counted = p.task('count', count, {
          params: { day: p.input.day },
          retry: { times: 2, backoff: 'exponential', delay: '5s' },
        })
        const cleaned = p.task('clean', clean, { workspace: p.input.workspace, after: [counted] })
        p.task('note', note, {
          params: { text: text`${counted.result.rows} rows \${kept}, ${counted.result.names[0]}` },
          onlyIf: condition`${counted.result.rows} > ${100} && ${p.input.day} != ${'x'}`,
        })
        const published = p.task('publish', publish, {
          workspace: { ...MAIN, ref: cleaned.workspace.ref },
          undo: { task: note, input: { text: 'undone' } },
        })
        return { rows: cleaned.result.rows, workspace: published.workspace, odd: counted.result['odd name'] }
      },
    )
    expect(isPipelineDefinition(pipeline)).toBe(true)
    expect(pipeline.tasks.map(({ name }) => name)).toEqual(['count', 'clean', 'note', 'publish'])
    const yaml = `
name: daily
version: 1
owner: data@example.org
timeout: 2h
schedules: { nightly: { cron: '0 2 * * *' } }
input: { workspace: {}, day: { default: '2026-01-15' } }
units:
  count:
    task: count
    params: { day: '\${workflow.input.day}' }
    retry: { times: 2, backoff: exponential, delay: 5s }
  clean: { task: clean, workspace: '\${workflow.input.workspace}', params: {}, after: [count] }
  note:
    task: note
    params: { text: '\${count.output.result.rows} rows $\${kept}, \${count.output.result.names[0]}' }
    onlyIf: count.result["rows"] > 100 && pipeline.input.day != "x"
  publish:
    task: publish
    workspace: { repository: lake, branch: main, refType: commit, ref: '\${clean.output.workspace.ref}' }
    params: {}
    undo: { task: note, input: { text: undone } }
output:
  rows: \${clean.output.result.rows}
  workspace: \${publish.output.workspace}
  odd: \${count.output.result['odd name']}
`
    const read = readPipelineText(yaml)
    expect(read.problems).toEqual([])
    expect(pipeline.graph).toEqual(read.pipeline?.graph)
    expect(pipeline.document).toEqual(read.pipeline?.document)
    expect(pipeline.graph.units.map(({ after }) => after)).toEqual([[], ['count'], ['count'], ['clean']])
  })

  test('EN-531 cases, loops, waits, sub-pipelines and variables can be written in code', () => {
    const child = definePipeline({ name: 'child', version: 3, input: z.object({ rows: z.int() }) }, (p) => {
      const cleaned = p.task('note', note, {})
      return { text: text`${p.input.rows} rows`, done: cleaned.result }
    })
    const pipeline = definePipeline({ name: 'all', input }, (p) => {
      const counted = p.task('count', count, { params: { day: p.input.day, limit: 5 } })
      const choice = p.switch('choose', counted.result.size, {
        cases: { small: () => p.barrier('nothing') },
        default: () =>
          p.end('stop', { status: 'FAILED', reason: 'too large', output: { rows: counted.result.rows } }),
      })
      p.if('decide', counted.result.isLarge, {
        then: () => p.taskNamed('python', 'py.task', { input: { x: counted.result.rows }, timeout: '1h' }),
        else: () => p.wait('pause', { for: '5min' }),
        after: [choice],
      })
      p.each('all', counted.result.names, { max: 10, atOnce: 2 }, (item, index) => {
        p.task('one', note, { params: { text: text`${index}: ${item}` } })
      })
      p.repeat('again', { max: 3, while: condition`${p.variable<number>('tries')} < 3` }, () => {
        p.set('tried', { tries: 1 })
      })
      p.wait('until', { until: p.variable<string>('at') })
      p.wait('events', { events: ['external.go'], which: 'any', timeout: '1d' })
      const approved = p.human<{ isRight: boolean }>('approve', { input: { rows: counted.result.rows } })
      const ran = p.pipeline('run', child, { input: { rows: counted.result.rows }, after: [approved] })
      return { said: ran.output.text, isRight: approved.output.isRight }
    })
    expect(pipeline.children).toEqual([child])
    expect(pipeline.graph.outputParameters).toEqual({
      said: '${run.output.text}',
      isRight: '${approve.output.isRight}',
    })
    expect(
      pipeline.graph.units.map(({ taskReferenceName, type, after }) => [taskReferenceName, type, after]),
    ).toEqual([
      ['count', 'SIMPLE', []],
      ['choose', 'SWITCH', ['count']],
      ['nothing', 'JOIN', ['choose']],
      ['stop', 'TERMINATE', ['choose', 'count']],
      ['decide', 'SWITCH', ['choose', 'nothing', 'stop', 'count']],
      ['python', 'SIMPLE', ['decide', 'count']],
      ['pause', 'WAIT', ['decide']],
      ['all', 'EACH', ['count']],
      ['again', 'DO_WHILE', []],
      ['until', 'WAIT', []],
      ['events', 'WAIT', []],
      ['approve', 'HUMAN', ['count']],
      ['run', 'SUB_WORKFLOW', ['approve', 'count']],
    ])
    expect(pipeline.graph.units[7]).toMatchObject({
      items: '${count.output.result.names}',
      units: [{ inputParameters: { params: { text: '${all.index}: ${all.item}' } } }],
    })
    expect(pipeline.graph.units[8]).toMatchObject({ loopCondition: 'shared.tries < 3' })
  })

  test('EN-532 all problems are reported at once', () => {
    expect(
      problemsOf((p) => {
        const first = p.taskNamed('system', 'x', { onlyIf: 'a.b >' })
        p.taskNamed('twice', 'x')
        p.taskNamed('twice', 'x', { after: [first], timeout: 'soon' })
        p.task('note', note, {})
        p.task('other', { ...note }, {})
      }),
    ).toEqual([
      'units.twice: the name "twice" is used twice',
      'two tasks are named "note"',
      'units.system: read "system" as a node id: it is reserved',
      'units.twice.timeout: must be a duration of whole seconds, such as 30s, 5min, 2h or 1d, and is "soon"',
    ])
    expect(
      problemsOf((p) => {
        const [a, b] = ['a', 'b'].map((name) => ({ name, output: p.variable<unknown>(name) }))
        p.taskNamed('a', 'x', { after: b === undefined ? [] : [b], onlyIf: 'a.b >' })
        p.taskNamed('b', 'x', { after: a === undefined ? [] : [a] })
      }),
    ).toEqual([
      expect.stringMatching(/^units\.a\.onlyIf: .*"a\.b >"/),
      'units.a: each of these units waits for the one before it: "a" → "b" → "a"',
    ])
  })

  test('EN-533 a reference is not text: it is refused where it would be written as one', () => {
    expect(problemsIn((p) => `day ${p.input.day as unknown as string}`)).toMatch(
      /\$\{workflow\.input\.day\} into text: its value is known only/,
    )
    expect(problemsIn((p) => condition`${p.input} > 1`)).toMatch(/it is no input, output or variable/)
    expect(problemsIn((p) => p.set('x', { y: p.variable<Record<string, string>>("it's")['{}'] }))).toMatch(
      /refer to the member "it's": no expression can/,
    )
  })
})

const MAIN = { repository: 'lake', branch: 'main', refType: 'commit' } as const

function problemsIn(build: (pipeline: PipelineBuilder<Input>) => unknown): string {
  try {
    definePipeline({ name: 'p', input }, (p) => {
      build(p)
      return undefined
    })
    return ''
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error
    expect(error.code).toBe('engine/bad-reference')
    return error.message
  }
}
