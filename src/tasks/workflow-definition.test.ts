import { expect, test } from 'vitest'
import { z } from 'zod'
import { InvalidError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { defineTask, defineWorkspaceTask } from './task-definition.ts'
import {
  defineWorkflow,
  isWorkflowDefinition,
  type StepInput,
  type WorkflowInput,
} from './workflow-definition.ts'

const owner = 'data@example.org'
const any = { owner, params: z.object({}), result: z.object({}), body: () => ({}) }
const writer = (name: string) => defineWorkspaceTask({ ...any, name, workspace: {} })
const reader = defineWorkspaceTask({ ...any, name: 'read', workspace: { readOnly: true } })
const plain = defineTask({ ...any, name: 'plain' })

const GIVEN = '${workflow.input.workspace}'
const step = (name: string, workspace: JsonObject[string] = GIVEN): StepInput => ({
  task: writer(name),
  taskReferenceName: name,
  inputParameters: { workspace, params: {} },
})
const fork = (...forkTasks: StepInput[][]): StepInput => ({
  name: 'fork',
  taskReferenceName: 'fork',
  type: 'FORK_JOIN',
  forkTasks,
})
const join = (...joinOn: string[]): StepInput => ({
  name: 'join',
  taskReferenceName: 'join',
  type: 'JOIN',
  joinOn,
})

function problemsOf(steps: readonly StepInput[], changes: Partial<WorkflowInput> = {}): readonly string[] {
  try {
    defineWorkflow({ name: 'daily', owner, steps, ...changes })
    return []
  } catch (error) {
    if (!(error instanceof InvalidError)) throw error
    expect(error.code).toBe('worker/invalid-workflow')
    return error.details['problems'] as readonly string[]
  }
}

test('CL-47 a workflow becomes Conductor’s own document, with tasks by their names', () => {
  const workflow = defineWorkflow({
    name: 'daily',
    owner,
    inputParameters: ['workspace'],
    steps: [step('a'), { task: plain, taskReferenceName: 'p', inputParameters: { params: { x: 1 } } }],
    outputParameters: { workspace: '${a.output.workspace}' },
  })
  expect(isWorkflowDefinition(workflow)).toBe(true)
  expect(workflow.tasks.map(({ name }) => name)).toEqual(['a', 'plain'])
  expect(JSON.parse(JSON.stringify(workflow.document))).toEqual({
    name: 'daily',
    version: 1,
    ownerEmail: owner,
    schemaVersion: 2,
    restartable: true,
    inputParameters: ['workspace'],
    outputParameters: { workspace: '${a.output.workspace}' },
    timeoutSeconds: 0,
    timeoutPolicy: 'ALERT_ONLY',
    tasks: [
      {
        name: 'a',
        type: 'SIMPLE',
        taskReferenceName: 'a',
        inputParameters: { workspace: GIVEN, params: {} },
      },
      { name: 'plain', type: 'SIMPLE', taskReferenceName: 'p', inputParameters: { params: { x: 1 } } },
    ],
  })
})

test('CL-47 what would go wrong at run time is refused, all of it at once', () => {
  const { task } = step('a') as { task: ReturnType<typeof writer> }
  expect(
    problemsOf(
      [
        { task, taskReferenceName: 'a', inputParameters: { workspace: '${nowhere.output.workspace}' } },
        { name: 'x', taskReferenceName: 'a', inputParameters: { doubled: '$${is.text}' } },
        { task: plain, taskReferenceName: 'p', inputParameters: {} },
      ],
      { name: 'a b', owner: 'me', version: 0, outputParameters: { o: 'at ${gone.output}' } },
    ),
  ).toEqual([
    'name "a b": must have letters, digits, "_", "-" and ".", at most 200',
    'version 0: must be a whole number from 1 on',
    'owner "me": must be an e-mail address',
    'taskReferenceName "a" is used twice',
    'a: an expression names "nowhere", which is not a step of it',
    'outputParameters: an expression names "gone", which is not a step of it',
    'a: inputParameters has no "params", which task "a" reads',
    'p: inputParameters has no "params", which task "plain" reads',
  ])
  expect(problemsOf([])).toEqual(['steps: there must be at least one'])
})

const parallel = (one: string, other: string, target = 'workflow.input.workspace'): string =>
  `${one} and ${other} may write one branch at the same time (${target}): run one after the other, or use a different branch for each`

const workspaceOf = (repository: string, branch: string): JsonObject => ({
  repository,
  branch,
  refType: 'commit',
  ref: '${workflow.input.ref}',
})
const fieldwise = workspaceOf('${workflow.input.workspace.repository}', '${workflow.input.workspace.branch}')

test.each<[string, StepInput[], string[]]>([
  ['one after the other', [step('a'), step('b', '${a.output.workspace}')], []],
  ['in two branches of a fork', [fork([step('a')], [step('b')]), join('a', 'b')], [parallel('a', 'b')]],
  [
    'followed back through the steps before',
    [
      step('first'),
      fork(
        [step('a', '${first.output.workspace}'), step('b', '${a.output.workspace}')],
        [step('c', fieldwise)],
      ),
      join('b', 'c'),
    ],
    [parallel('a', 'c'), parallel('b', 'c')],
  ],
  [
    'a writer and a reader',
    [
      fork(
        [step('a')],
        [{ task: reader, taskReferenceName: 'r', inputParameters: { workspace: GIVEN, params: {} } }],
      ),
      join('a', 'r'),
    ],
    [],
  ],
  [
    'on branches of their own',
    [fork([step('a', workspaceOf('lake', 'one'))], [step('b', workspaceOf('lake', 'two'))]), join('a', 'b')],
    [],
  ],
  [
    'on one branch by name',
    [fork([step('a', workspaceOf('lake', 'one'))], [step('b', workspaceOf('lake', 'one'))]), join('a', 'b')],
    [parallel('a', 'b', 'lake, one')],
  ],
  [
    'after a JOIN that does not wait for it',
    [fork([step('a')], []), join(), step('b')],
    [parallel('a', 'b')],
  ],
  ['after a JOIN that waits for it', [fork([step('a')], []), join('a'), step('b')], []],
  [
    'outside a fork within a case, not waited for',
    [
      {
        name: 'switch',
        taskReferenceName: 'switch',
        type: 'SWITCH',
        decisionCases: { yes: [fork([step('a')], [])] },
        defaultCase: [step('other')],
      },
      step('b'),
    ],
    [parallel('a', 'b')],
  ],
  [
    'a task of another worker that is given a workspace',
    [
      fork(
        [step('a')],
        [{ name: 'python', taskReferenceName: 'py', inputParameters: { workspace: GIVEN, params: {} } }],
      ),
      join('a', 'py'),
    ],
    [parallel('a', 'py')],
  ],
])('F-57 two steps that may write one branch at once are refused: %s', (_name, steps, expected) => {
  expect(problemsOf(steps)).toEqual(expected)
})
