import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import type { InvalidError } from '../../base/errors.ts'
import { defineTask, defineWorkspaceTask, type TaskDefinition } from '../../tasks/task-definition.ts'
import { findBranchConflicts, requireFreeBranches, type OpenGraph } from './branch-conflicts.ts'
import { compileDocument } from './compile-document.ts'
import { definePipeline, workspaceInput } from './define-pipeline.ts'
import { findGraphWriters } from './graph-writers.ts'
import { readPipelineText } from './read-pipeline-file.ts'

const any = { owner: 'data@example.org', params: z.object({}), result: z.object({}), body: () => ({}) }
const reader = defineWorkspaceTask({ ...any, name: 'read', workspace: { readOnly: true } })
const plain = defineTask({ ...any, name: 'plain' })
const writer = defineWorkspaceTask({ ...any, name: 'write', workspace: {} })
const TASKS = new Map<string, TaskDefinition>([reader, plain, writer].map((task) => [task.name, task]))

function graphOf(units: string) {
  const { graph, problems } = compileDocument(parse(`name: p\nunits:\n${units}`))
  expect(problems).toEqual([])
  if (graph === undefined) throw new Error('it was refused')
  return graph
}

const IN = `workspace: '\${workflow.input.workspace}'`
const conflictsOf = (units: string): readonly string[] =>
  findGraphWriters(graphOf(units), TASKS).map(({ units: names, target }) => `${names.join(' ')}: ${target}`)

const SHARED = 'workflow.input.workspace'

test.each<[string, string, string[]]>([
  [
    'one after the other',
    `  a: { task: write, ${IN} }\n  b: { task: write, workspace: '\${a.output.workspace}' }`,
    [],
  ],
  ['without order', `  a: { task: write, ${IN} }\n  b: { task: write, ${IN} }`, [`a b: ${SHARED}`]],
  [
    'traced back through other units',
    `  a: { task: write, ${IN} }
  b: { task: write, workspace: '\${a.output.workspace}' }
  c: { task: write, workspace: { repository: '\${a.output.workspace.repository}', branch: '\${a.input.workspace.branch}' } }`,
    [`b c: ${SHARED}`],
  ],
  ['one that only reads', `  a: { task: write, ${IN} }\n  b: { task: read, ${IN} }`, []],
  [
    'far after it',
    `  a: { task: write, ${IN} }\n  b: { task: plain, after: [a] }\n  c: { task: write, ${IN}, after: [b] }`,
    [],
  ],
  [
    'branches of their own',
    `  a: { task: write, workspace: { repository: lake, branch: x } }\n  b: { task: write, workspace: { repository: lake, branch: y } }`,
    [],
  ],
  [
    'one branch by name',
    `  a: { task: write, workspace: { repository: lake, branch: x } }\n  b: { task: write, workspace: { repository: lake, branch: x } }`,
    ['a b: lake, x'],
  ],
  [
    'different cases of one switch',
    `  s: { if: '\${workflow.input.x}', then: { a: { task: write, ${IN} } }, else: { b: { task: write, ${IN} } } }`,
    [],
  ],
  [
    'units that run only after different cases',
    `  s: { if: '\${workflow.input.x}', then: { c: { task: plain } }, else: { d: { task: plain } } }
  a: { task: write, ${IN}, after: [c] }
  b: { task: write, ${IN}, after: [d] }`,
    [],
  ],
  [
    'one case, and a unit of another switch',
    `  s: { if: '\${workflow.input.x}', then: { a: { task: write, ${IN} } } }
  t: { if: '\${workflow.input.y}', then: { b: { task: write, ${IN} } } }`,
    [`a b: ${SHARED}`],
  ],
  [
    'iterations at the same time',
    `  all: { each: [1, 2], max: 2, atOnce: 2, units: { a: { task: write, ${IN} } } }`,
    [`a: ${SHARED}`],
  ],
  ['iterations one at a time', `  all: { each: [1, 2], max: 2, units: { a: { task: write, ${IN} } } }`, []],
  [
    'iterations whose item is the branch',
    `  all: { each: [x, y], max: 2, atOnce: 2, units: { a: { task: write, workspace: { repository: lake, branch: '\${all.item}' } } } }`,
    [],
  ],
  [
    'a unit in a loop and one beside it',
    `  all: { each: [1, 2], max: 2, units: { a: { task: write, ${IN} } } }\n  b: { task: write, ${IN} }`,
    [`a b: ${SHARED}`],
  ],
  [
    'a task that is not known, and a pipeline, if they are given the workspace',
    `  a: { task: python, ${IN} }\n  b: { pipeline: other, input: { place: '\${workflow.input.workspace}' } }\n  c: { task: python, input: { x: 1 } }`,
    [`a b: ${SHARED}`],
  ],
])('F-57 units that may write one branch at once are found in a graph: %s', (_name, units, expected) => {
  expect(conflictsOf(units)).toEqual(expected)
})

test('F-57 of writers of one branch exactly those are reported that no path orders', () => {
  const edges = fc
    .integer({ min: 1, max: 7 })
    .chain((count) =>
      fc.array(fc.array(fc.nat(count), { maxLength: 3 }), { minLength: count, maxLength: count }),
    )
  fc.assert(
    fc.property(edges, (rows) => {
      const names = rows.map((_, index) => `u${index}`)
      const after = rows.map((row, index) => [...new Set(row.filter((at) => at < index))])
      const units = rows.map(
        (_, index) =>
          `  u${index}: { task: write, ${IN}, after: [${(after[index] ?? []).map((at) => `u${at}`).join(', ')}] }`,
      )
      const reaches = (from: number, to: number): boolean =>
        (after[from] ?? []).some((at) => at === to || reaches(at, to))
      const expected = names.flatMap((one, index) =>
        names.flatMap((other, at) =>
          at > index && !reaches(at, index) ? [`${one} ${other}: ${SHARED}`] : [],
        ),
      )
      expect(conflictsOf(units.join('\n'))).toEqual(expected)
    }),
    { numRuns: 50 },
  )
})

test('F-57 a pipeline in which two units may write one branch is refused, in code and in a file', () => {
  expect(() =>
    definePipeline({ name: 'p', input: z.object({ workspace: workspaceInput }) }, (p) => {
      p.task('a', writer, { workspace: p.input.workspace })
      p.task('b', writer, { workspace: p.input.workspace })
      return undefined
    }),
  ).toThrow(
    expect.objectContaining({
      code: 'engine/invalid-pipeline',
      message: `declare pipeline "p": units.a: a and b may write one branch at the same time (${SHARED}): run one after the other, or use a different branch for each`,
    }) as InvalidError,
  )
  const text = `name: p\nunits:\n  a: { task: write, ${IN} }\n  b: { task: read, ${IN} }\n`
  expect(readPipelineText(text).problems).toEqual([
    {
      line: 3,
      column: 3,
      at: 'units.a',
      message: `a and b may write one branch at the same time (${SHARED}): run one after the other, or use a different branch for each; whether the task "write" only reads is not known without its module`,
    },
  ])
  expect(readPipelineText(text, { tasks: TASKS }).problems).toEqual([])
})

const onMain = { workspace: { repository: 'lake', branch: 'main', refType: 'commit', ref: 'a' } }
const writing = graphOf(`  a: { task: write, ${IN} }`)
const open = (executionId: string, changes: Partial<OpenGraph> = {}): OpenGraph => ({
  executionId,
  graph: writing,
  input: onMain,
  ...changes,
})

test.each<[string, OpenGraph, string[]]>([
  ['writes the branch', open('e1'), ['e1']],
  ['writes another branch', open('e1', { input: { workspace: { ...onMain.workspace, branch: 'dev' } } }), []],
  ['only reads', open('e1', { graph: graphOf(`  a: { task: read, ${IN} }`) }), []],
  ['has no unit that can write', open('e1', { graph: graphOf('  a: { task: plain }') }), []],
  ['may write it in another pipeline', open('e1', { graph: graphOf('  a: { pipeline: other }') }), ['e1']],
  [
    'names the branch itself',
    open('e1', {
      input: { to: 'main' },
      graph: graphOf(
        `  a: { task: write, workspace: { repository: lake, branch: '\${workflow.input.to}' } }`,
      ),
    }),
    ['e1'],
  ],
  ['is its parent', open('parent'), []],
  ['is a unit of its parent', open('sister', { parentId: 'parent' }), []],
])('F-58 of executions that have not ended, one that %s', (_, other, expected) => {
  const start = { graph: writing, input: onMain, parentId: 'parent' }
  const ids = findBranchConflicts(
    start,
    [other, ...(other.executionId === 'parent' ? [] : [open('parent', { input: {} })])],
    TASKS,
  )
  expect(ids.map(({ executionId }) => executionId)).toEqual(expected)
})

test('F-58 a start on a branch that another execution may write is refused, and names it', () => {
  expect(() => {
    requireFreeBranches(
      { graph: writing, input: onMain },
      [open('e1'), open('e2', { parentId: 'e1' })],
      TASKS,
    )
  }).toThrow(
    expect.objectContaining({
      code: 'engine/branch-taken',
      message:
        'start "p" on branch "main" of "lake": execution e1 ("p"), e2 ("p") has not ended and may write it',
    }) as InvalidError,
  )
  requireFreeBranches({ graph: writing, input: onMain }, [], TASKS)
})
