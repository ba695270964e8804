// Goal: what the JavaScript SDK's builders return is a workflow, in each version, and nothing else is taken for one.
import * as three from '@io-orkes/conductor-javascript'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineTask } from './task-definition.ts'
import { defineWorkflow, findProblems } from './workflow-definition.ts'
import { readWorkflow } from './sdk-workflow.ts'

const clean = defineTask({
  name: 'orders.clean',
  owner: 'data@example.org',
  params: z.object({}),
  result: z.null(),
  body: () => null,
})
const { workflow, simpleTask, ConductorWorkflow } = three

test('IO-68 what `workflow` returns and a `ConductorWorkflow` are workflows, as they would be sent', () => {
  const step = simpleTask('clean', 'orders.clean', { params: {} })
  expect(readWorkflow(workflow('plain', [step]))?.document).toEqual({
    name: 'plain',
    version: 1,
    tasks: [
      { name: 'orders.clean', taskReferenceName: 'clean', type: 'SIMPLE', inputParameters: { params: {} } },
    ],
    inputParameters: [],
    timeoutSeconds: 0,
  })
  const fluent = new ConductorWorkflow({} as three.WorkflowExecutor, 'fluent', 3)
    .add(step)
    .fork([[simpleTask('a', 'x', {})], [simpleTask('b', 'y', {})]])
  expect(readWorkflow(fluent)).toMatchObject({
    name: 'fluent',
    version: 3,
    document: { tasks: [{ type: 'SIMPLE' }, { type: 'FORK_JOIN' }, { type: 'JOIN', joinOn: ['a', 'b'] }] },
  })
})

test('IO-68 it is checked like one of ours, and needs no owner', () => {
  const problemsOf = (...steps: Parameters<typeof workflow>[1]): readonly string[] => {
    const read = readWorkflow(workflow('checked', steps))
    if (read === undefined) throw new Error('not recognised')
    return findProblems(read.document, [clean])
  }
  expect(problemsOf(simpleTask('clean', 'orders.clean', { params: '${workflow.input.params}' }))).toEqual([])
  expect(problemsOf(simpleTask('clean', 'orders.clean', {}))).toEqual([
    expect.stringContaining('inputParameters has no "params"'),
  ])
  expect(problemsOf(simpleTask('a', 'x', {}), simpleTask('a', 'x', { from: '${b.output}' }))).toEqual([
    expect.stringContaining('"a" is used twice'),
    expect.stringContaining('names "b"'),
  ])
})

test('IO-68 ours stay what they are, and other exports are none', () => {
  const ours = defineWorkflow({
    name: 'ours',
    owner: 'data@example.org',
    steps: [{ task: clean, taskReferenceName: 'clean', inputParameters: { params: {} } }],
  })
  expect(readWorkflow(ours)).toBe(ours)
  const others = [clean, three, { name: 'x', version: 1, tasks: [] }, { name: 'x', version: 1, tasks: ['a'] }]
  for (const other of [
    ...others,
    { name: 'x', tasks: [{ name: 'a', taskReferenceName: 'a' }] },
    null,
    'text',
    [],
  ])
    expect(readWorkflow(other)).toBeUndefined()
})
