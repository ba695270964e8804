// Goal: another workflow on a branch is seen exactly when it may write it and is not part of the same instance.
import { describe, expect, test } from 'vitest'
import { filesTask } from '../../../test/support/worker/world.ts'
import type { OpenWorkflow, WorkflowId } from '../ports.ts'
import type { JsonObject } from '../../base/json.ts'
import { targetsIn } from '../../tasks/branch-targets.ts'
import { findOtherWriters, findSharedBranches } from './second-writers.ts'

const target = { repository: 'lake', branch: 'main' }
const onMain: JsonObject = { workspace: { ...target, refType: 'commit', ref: 'a' }, params: {} }
const own = 'own' as WorkflowId
const writer = filesTask({ body: () => ({ rows: 0 }) })
const reader = filesTask({ name: 'orders.read', workspace: { readOnly: true }, body: () => ({ rows: 0 }) })
const tasks = new Map([writer, reader].map((task) => [task.name, task]))
const step = (name: string, more: JsonObject = {}): JsonObject => ({ name, taskReferenceName: name, ...more })
const withWorkspace = { inputParameters: { workspace: '${workflow.input.workspace}' } }

function workflow(id: string, more: Partial<OpenWorkflow> = {}): OpenWorkflow {
  return {
    workflowId: id as WorkflowId,
    name: 'daily',
    parentId: undefined,
    startTimeMs: 1,
    input: onMain,
    steps: [step(writer.name, withWorkspace)],
    ...more,
  }
}

function others(open: readonly OpenWorkflow[]): readonly string[] {
  return findOtherWriters({ open: [workflow('own'), ...open], own, targets: [target], tasks }).map(
    ({ workflowId }) => workflowId,
  )
}

describe('another workflow on the branch', () => {
  test('F-58 is named, the oldest first, and the own one is not', () => {
    expect(others([workflow('b', { startTimeMs: 5 }), workflow('a', { startTimeMs: 2 })])).toEqual(['a', 'b'])
    expect(others([])).toEqual([])
  })

  test.each<[string, JsonObject]>([
    ['another branch', { workspace: { ...target, branch: 'other' } }],
    ['another repository', { workspace: { ...target, repository: 'other' } }],
    ['no branch', { params: { text: 'main' } }],
    ['a branch of no repository', { branch: 'main' }],
  ])('F-58 one whose input names %s is not meant', (_, input) => {
    expect(others([workflow('a', { input })])).toEqual([])
  })

  test.each<[string, readonly JsonObject[], readonly string[]]>([
    ['only reads', [step(reader.name, withWorkspace)], []],
    ['runs no task', [step('wait', { type: 'WAIT' })], []],
    ['runs a task that is not given a workspace', [step('notify', { inputParameters: { text: 'x' } })], []],
    ['runs a strange task with a workspace', [step('python', withWorkspace)], ['a']],
    ['runs another workflow', [step('sub', { type: 'SUB_WORKFLOW' })], ['a']],
    [
      'writes deep inside',
      [step('fork', { type: 'FORK_JOIN', forkTasks: [[step(reader.name)], [step(writer.name)]] })],
      ['a'],
    ],
    ['says nothing of its steps', [], ['a']],
  ])('F-58 one that %s', (_, steps, expected) => {
    expect(others([workflow('a', { steps })])).toEqual(expected)
  })

  test('F-58 workflows within one another are one instance, and a stranger is still seen', () => {
    const [parent, child, sibling, stranger] = ['parent', 'child', 'sibling', 'stranger'] as WorkflowId[]
    const open = [
      workflow('parent'),
      workflow('child', { parentId: parent! }),
      workflow('own', { parentId: child! }),
      workflow('sibling', { parentId: parent! }),
      workflow('stranger'),
    ]
    const seenBy = (from: WorkflowId | undefined): readonly string[] =>
      findOtherWriters({ open, targets: [target], tasks, ...(from === undefined ? {} : { own: from }) }).map(
        ({ workflowId }) => workflowId,
      )
    for (const member of [parent, child, own, sibling]) expect(seenBy(member)).toEqual([stranger])
    expect(seenBy(stranger)).toEqual(['parent', 'child', 'own', 'sibling'])
    // Before a start there is no own one.
    expect(seenBy(undefined)).toHaveLength(5)
  })

  test('F-58 a parent that is not among the open ones still makes one instance, and a circle ends', () => {
    const parentId = 'gone' as WorkflowId
    const open = [workflow('own', { parentId }), workflow('a', { parentId })]
    expect(findOtherWriters({ open, own, targets: [target], tasks })).toEqual([])
    const circle = [
      workflow('a', { parentId: 'b' as WorkflowId }),
      workflow('b', { parentId: 'a' as WorkflowId }),
    ]
    expect(others(circle)).toEqual(['a', 'b'])
  })
})

test('F-58 of all open workflows the branches are told that more than one may write', () => {
  const dev: JsonObject = { workspace: { ...target, branch: 'dev' } }
  const open = [
    workflow('late', { startTimeMs: 9 }),
    workflow('early', { startTimeMs: 2 }),
    workflow('step of early', { startTimeMs: 3, parentId: 'early' as WorkflowId }),
    workflow('alone', { input: dev }),
    workflow('reads', { input: dev, steps: [step(reader.name, withWorkspace)] }),
    workflow('step of alone', { input: dev, parentId: 'alone' as WorkflowId }),
  ]
  expect(
    findSharedBranches(open, tasks).map(({ workflows, ...at }) => ({
      ...at,
      workflows: workflows.map(({ workflowId }) => workflowId),
    })),
  ).toEqual([{ ...target, workflows: ['early', 'late'] }])
  expect(findSharedBranches([], tasks)).toEqual([])
})

test('F-58 branches are found wherever they stand in an input', () => {
  const input: JsonObject = {
    workspace: { ...target, ref: 'a' },
    plan: [{ deep: { repository: 'lake', branch: 'dev' } }],
    repository: 'top',
    branch: 'level',
    text: 'main',
    nothing: null,
  }
  expect([...targetsIn(input)].sort((a, b) => a.branch.localeCompare(b.branch))).toEqual([
    { repository: 'lake', branch: 'dev' },
    { repository: 'top', branch: 'level' },
    { repository: 'lake', branch: 'main' },
  ])
  let nested: JsonObject = target
  for (let depth = 0; depth < 100_000; depth++) nested = { nested }
  expect(targetsIn(nested)).toEqual([target])
})
