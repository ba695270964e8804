import { expect, test } from 'vitest'
import { InvalidError, UnavailableError } from '../base/errors.ts'
import type { Workflow, WorkflowTask } from '../runtime/workflows.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { followWorkflow } from './follow-workflow.ts'
import { WORKFLOW_OUTAGE_MAX_MS } from './limits.ts'
import { renderProgress } from './progress.ts'
import { readPatiently } from './read-patiently.ts'
import { openTreeReader, type WorkflowTree } from './workflow-tree.ts'

const task = (name: string, more: Partial<Record<keyof WorkflowTask, unknown>> = {}): WorkflowTask =>
  ({
    ...{ taskId: `task-${name}`, referenceTaskName: name, taskType: name, status: 'COMPLETED' },
    ...{ retryCount: 0, startTimeMs: 0, updateTimeMs: 0, scheduledTimeMs: 0 },
    ...more,
  }) as unknown as WorkflowTask

const workflow = (workflowId: string, status: string, tasks: readonly WorkflowTask[]): Workflow =>
  ({ workflowId, name: workflowId, status, tasks }) as unknown as Workflow

const TREE: WorkflowTree = { workflow: workflow('w', 'RUNNING', []), children: new Map() }

const away = () => new UnavailableError('conductor/unreachable', 'ask Conductor: nobody listens')

test('CL-155 once the server has answered, an outage of it is told, waited for, and its end told', async () => {
  const answers: (WorkflowTree | Error)[] = [TREE, away(), away(), TREE, away()]
  const told: string[] = []
  const clock = new ManualClock()
  const read = readPatiently(
    () => {
      const next = answers.shift() ?? TREE
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next)
    },
    (what) => told.push(what),
    clock,
  )
  expect(await read()).toBe(TREE)
  expect([await read(), await read()]).toEqual([undefined, undefined])
  expect(await read()).toBe(TREE)
  expect(told).toEqual(['waiting for the server: ask Conductor: nobody listens', 'the server answers again'])
  expect(await read()).toBeUndefined()
  answers.push(away())
  await clock.advance(WORKFLOW_OUTAGE_MAX_MS + 1)
  await expect(read()).rejects.toMatchObject({ code: 'conductor/unreachable' })
})

test('CL-155 a server that never answered, and an error of another kind, are not waited for', async () => {
  const never = readPatiently(
    () => Promise.reject(away()),
    () => undefined,
  )
  await expect(never()).rejects.toMatchObject({ code: 'conductor/unreachable' })
  let reads = 0
  const refused = readPatiently(
    () =>
      reads++ === 0
        ? Promise.resolve(TREE)
        : Promise.reject(new InvalidError('conductor/unauthorized', 'no')),
    () => undefined,
  )
  await refused()
  await expect(refused()).rejects.toMatchObject({ code: 'conductor/unauthorized' })
})

const CHILD = workflow('child', 'RUNNING', [task('deep', { status: 'SCHEDULED', workflowId: 'child' })])
const PARENT = workflow('parent', 'RUNNING', [
  task('first'),
  task('run', { taskType: 'SUB_WORKFLOW', status: 'IN_PROGRESS', childId: 'child' }),
])

test('CL-154 the tasks of a workflow that a task runs are shown below that task', async () => {
  const read = (id: string) => Promise.resolve(id === 'child' ? CHILD : PARENT)
  const tree = await openTreeReader({ read }, 'parent')()
  expect(renderProgress(tree, 0)).toBe(
    ['  ✓ first   completed\n', '  ▸ run     in progress\n', '    · deep  scheduled\n'].join(''),
  )
})

test('CL-161 a task of such a workflow that waits is looked at too, whether anybody asks for it', async () => {
  const warnings: string[] = []
  const seen: string[] = []
  let looks = 0
  const ended = await followWorkflow('parent', {
    workflows: {
      read: (id) =>
        Promise.resolve(id === 'child' ? CHILD : looks++ < 1 ? PARENT : { ...PARENT, status: 'COMPLETED' }),
    },
    view: { show: () => undefined, warn: (text) => warnings.push(text), close: () => undefined },
    findUnpolled: ({ tasks }) => {
      seen.push(...tasks.map(({ referenceTaskName }) => referenceTaskName))
      return Promise.resolve(['nobody polls deep'])
    },
    stop: new AbortController().signal,
  })
  expect(ended.status).toBe('COMPLETED')
  expect(seen).toEqual(['first', 'run', 'deep'])
  expect(warnings).toEqual(['nobody polls deep'])
})
