// Goal: whatever the graph knows can be written in a pipeline. The compiler sees to it that the lists below name every field.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineTask } from '../../tasks/task-definition.ts'
import {
  walkUnits,
  type Demand,
  type Graph,
  type Planning,
  type Policy,
  type Recovery,
  type Undo,
  type Unit,
  type UnitType,
  type Verification,
} from '../graph/graph.ts'
import { definePipeline } from './define-pipeline.ts'
import { readPipelineText } from './read-pipeline-file.ts'

/** Of a union: the fields of all its members. */
type Fields<T> = T extends unknown ? Record<keyof T, true> : never
type AllFields<T> = (
  Fields<T> extends infer F ? (F extends unknown ? (x: F) => void : never) : never
) extends (x: infer All) => void
  ? All
  : never

const base = {
  ...({ type: true, taskReferenceName: true, inputParameters: true, after: true, onlyIn: true } as const),
  ...({ startWhen: true, onlyIf: true, startDelay: true, optional: true, phase: true } as const),
  ...({ planning: true, undo: true } as const),
}

/** Not a setting: it tells readers what a unit was in a definition of Conductor. */
const NOT_WRITTEN = ['SET_VARIABLE.shownAs']

const UNITS: { readonly [T in UnitType]: AllFields<Extract<Unit, { type: T }>> } = {
  SIMPLE: {
    ...base,
    ...({ name: true, retryCount: true, retryLogic: true, retryDelaySeconds: true, target: true } as const),
    ...({ maxRetryDelaySeconds: true, backoffJitterMs: true, timeoutSeconds: true } as const),
    responseTimeoutSeconds: true,
  },
  WAIT: { ...base, seconds: true, until: true, events: true, which: true, timeoutSeconds: true },
  HUMAN: { ...base, timeoutSeconds: true },
  SWITCH: { ...base, expression: true, cases: true },
  EACH: { ...base, items: true, max: true, atOnce: true, units: true },
  DO_WHILE: { ...base, loopCondition: true, max: true, units: true },
  SUB_WORKFLOW: { ...base, subWorkflowParam: true },
  JOIN: base,
  SET_VARIABLE: { ...base, shownAs: true },
  TERMINATE: { ...base, terminationStatus: true, terminationReason: true, workflowOutput: true },
}
const GRAPH: AllFields<Graph> = {
  ...({ name: true, version: true, units: true, inputTemplate: true, outputParameters: true } as const),
  ...({ restartable: true, timeoutSeconds: true, timeoutPolicy: true, policy: true } as const),
}
const PARTS = {
  policy: { onFailure: true, attempts: true, verify: true, recover: true } satisfies AllFields<Policy>,
  recover: { back: true, times: true } satisfies AllFields<Recovery>,
  verify: { name: true, inputParameters: true, expression: true } satisfies AllFields<Verification>,
  undo: { name: true, inputParameters: true, order: true } satisfies AllFields<Undo>,
  planning: {
    ...({ priority: true, complexity: true, impact: true, demand: true, expectedMs: true } as const),
    affinity: true,
  } satisfies AllFields<Planning>,
  demand: { cpu: true, memoryBytes: true, gpu: true } satisfies AllFields<Demand>,
}

const COMMON = `
      onlyIf: a.x > 1
      startWhen: event:external.go
      startDelay: 5s
      optional: true
      phase: early
      after: [a]
      planning: { priority: 1, complexity: 0.2, impact: 0.3, cpu: 1, memory: 1GiB, gpu: 1, expected: 1s, affinity: k }
      undo: { task: remove, input: { x: 1 }, order: 2 }`
const OF_EACH_KIND = [
  '{ task: t, input: { x: 1 }, target: w, timeout: 1h, lease: 30s, retry: { times: 2, delay: 10s, backoff: linear, maxDelay: 1min, jitter: 1s }',
  '{ wait: { for: 1min }',
  "{ wait: { until: '2026-01-01T00:00:00Z' }",
  '{ wait: { events: [external.x], which: any, timeout: 1h }',
  '{ human: { timeout: 1h, input: { x: 1 } }',
  "{ switch: '${a.output.x}', cases: { y: { ya: { task: t } } }",
  '{ each: [1], max: 3, atOnce: 2, units: { ea: { task: t } }',
  '{ while: wa.x, max: 3, units: { wa: { task: t } }',
  '{ pipeline: other, version: 1',
  '{ barrier: true',
  '{ set: { x: 1 }',
  '{ end: FAILED, reason: r, output: { x: 1 }',
]

function fileOf(verify: string): string {
  const common = COMMON.trim()
    .split('\n')
    .map((line) => line.trim())
    .join(', ')
  const units = OF_EACH_KIND.map((unit, index) => `      u${index}: ${unit}, ${common} }`)
  return [
    'name: all',
    'version: 2',
    "input: { day: { default: 'today' } }",
    'timeout: 1h',
    'restartable: false',
    `policy: { onFailure: rollback, attempts: 3, recover: { back: phase, times: 2 }, verify: ${verify} }`,
    'output: { x: 1 }',
    'units:',
    '  a: { task: t }',
    // In a case, so that each of them runs only in it.
    "  in: { switch: '${a.output.x}', cases: { yes: {",
    units.join(',\n'),
    '      } } }',
  ].join('\n')
}

function graphOf(text: string): Graph {
  const { pipeline, problems } = readPipelineText(text)
  expect(problems).toEqual([])
  if (pipeline === undefined) throw new Error('it was not read')
  return pipeline.graph
}

const namesOf = (values: readonly (object | undefined)[]): readonly string[] =>
  [...new Set(values.flatMap((value) => Object.keys(value ?? {})))].sort()

test('EN-500 every setting of the graph can be written in a file', () => {
  const graph = graphOf(fileOf('{ task: check, input: { x: 1 } }'))
  const judged = graphOf(fileOf('{ condition: a.x > 1 }'))
  expect(namesOf([graph])).toEqual(Object.keys(GRAPH).sort())
  const units = walkUnits(graph.units)
  for (const [type, fields] of Object.entries(UNITS)) {
    const wanted = Object.keys(fields).filter((name) => !NOT_WRITTEN.includes(`${type}.${name}`))
    expect(namesOf(units.filter((unit) => unit.type === type)), type).toEqual(wanted.sort())
  }
  const found = {
    policy: [graph.policy],
    recover: [graph.policy?.recover],
    verify: [graph.policy?.verify, judged.policy?.verify],
    undo: units.map(({ undo }) => undo),
    planning: units.map(({ planning }) => planning),
    demand: units.map(({ planning }) => planning?.demand),
  }
  for (const [part, fields] of Object.entries(PARTS))
    expect(namesOf(found[part as keyof typeof found]), part).toEqual(Object.keys(fields).sort())
  expect(graph.policy).toEqual({
    ...{ onFailure: 'rollback', attempts: 3, recover: { back: 'phase', times: 2 } },
    verify: { name: 'check', inputParameters: { x: 1 } },
  })
})

test('EN-530 policy and order of undoing are the same in a file and in TypeScript', () => {
  const task = (name: string) =>
    defineTask({ name, owner: 'a@b.c', params: z.object({}), result: z.object({}), body: () => ({}) })
  const [work, check] = [task('work'), task('check')]
  const written = definePipeline(
    {
      ...{ name: 'p', input: z.object({}) },
      policy: {
        onFailure: 'rollback',
        attempts: 2,
        verify: { task: check, input: { n: '${a.output.result}' } },
      },
    },
    (pipeline) => {
      pipeline.task('a', work, { params: {}, undo: { task: 'remove', order: 3 } })
      return undefined
    },
  )
  const text = [
    'name: p',
    'input: {}',
    "policy: { onFailure: rollback, attempts: 2, verify: { task: check, input: { n: '${a.output.result}' } } }",
    'units: { a: { task: work, params: {}, undo: { task: remove, order: 3 } } }',
  ]
  expect(written.graph).toEqual(graphOf(text.join('\n')))
  expect(written.tasks.map(({ name }) => name).sort()).toEqual(['check', 'work'])
})

test('EN-511 a name in the verification that does not exist is reported there', () => {
  const read = (verify: string) =>
    readPipelineText(`name: p\npolicy:\n  verify: ${verify}\nunits: { a: { task: t } }`).problems
  expect(read("{ task: check, input: { n: '${b.output.x}' } }")).toMatchObject([
    { line: 3, at: 'policy.verify.input.n' },
  ])
  expect(read('{ condition: b.x > 1 }')).toMatchObject([{ line: 3, at: 'policy.verify.condition' }])
})
