// Goal: a SUB_WORKFLOW starts one execution, ends as it ends, and takes it along when it is cancelled.
import { expect, test } from 'vitest'
import { graph, RulesWorld, task, unit } from '../../../test/support/rules-world.ts'
import { openTestQueue } from '../../testing/open-test-queue.ts'
import { childrenToCancel, openChildren } from './effects.ts'
import { restartExecution, retryExecution, terminateExecution } from './operator.ts'

const child = unit('SUB_WORKFLOW', 'child', {
  subWorkflowParam: { name: 'c', version: 2 },
  inputParameters: { day: '${workflow.input.day}' },
})
const world = () => new RulesWorld([child, task('after', ['child'])], { input: { day: 'monday' } })

test('EN-330 the child to start is read from the stored execution, with the same id each time', () => {
  const { execution } = world()
  const [start] = openChildren(execution)
  expect(start).toMatchObject({ name: 'c', version: 2, input: { day: 'monday' }, parentId: 'w' })
  expect(openChildren(JSON.parse(JSON.stringify(execution)) as typeof execution)).toEqual([start])
  expect(execution.rows[0]?.record.output).toEqual({ subWorkflowId: start!.workflowId })
})

test.each([
  ['COMPLETED', 'COMPLETED', 'RUNNING'],
  ['FAILED', 'FAILED', 'FAILED'],
  ['TIMED_OUT', 'TIMED_OUT', 'TIMED_OUT'],
  ['TERMINATED', 'CANCELED', 'TERMINATED'],
] as const)(
  'EN-331 a child that is %s makes its unit %s and the execution %s',
  (status, unitStatus, executionStatus) => {
    const parent = world()
    const [{ workflowId } = { workflowId: '' }] = openChildren(parent.execution)
    parent.childEnds.set(workflowId, { status, reason: 'so it is', output: { n: 1 } })
    parent.decide()
    expect(parent.record('child')).toMatchObject({
      status: unitStatus,
      output: { n: 1, subWorkflowId: workflowId },
    })
    expect(parent.execution.status).toBe(executionStatus)
    expect(openChildren(parent.execution)).toEqual([])
  },
)

test('EN-332 a child of a cancelled execution is to be cancelled, also after the execution was started again', () => {
  const parent = world()
  const [first] = openChildren(parent.execution)
  parent.operate((execution, moment) => terminateExecution(execution, {}, moment))
  expect(childrenToCancel(parent.execution)).toEqual([first!.workflowId])
  parent.operate((execution, moment) => restartExecution(execution, moment))
  expect(childrenToCancel(parent.execution)).toEqual([first!.workflowId])
  expect(openChildren(parent.execution)[0]?.workflowId).not.toBe(first!.workflowId)
})

test('EN-333 retrying a failed child starts another one', () => {
  const parent = world()
  const [first] = openChildren(parent.execution)
  parent.childEnds.set(first!.workflowId, { status: 'FAILED', reason: 'x', output: {} })
  parent.decide()
  parent.operate(retryExecution)
  const [second] = openChildren(parent.execution)
  expect(second?.workflowId).not.toBe(first!.workflowId)
  expect(second?.input).toEqual({ day: 'monday' })
  expect(parent.record('child')).toMatchObject({ retryCount: 1, status: 'IN_PROGRESS' })
})

test('EN-334 the queue in memory runs children, and cancels them with their parent', async () => {
  const queue = openTestQueue()
  await queue.registerGraph(
    graph([task('work', [], { inputParameters: { day: '${workflow.input.day}' } })], {
      name: 'c',
      version: 2,
    }),
  )
  await queue.registerGraph(
    graph([child, task('after', ['child'], { inputParameters: { n: '${child.output.n}' } })]),
  )
  const started = await queue.start({ name: 'g', input: { day: 'monday' } })
  const poll = async () => (await queue.poll({ taskType: 'work', workerId: 'x', count: 1, waitMs: 0 }))[0]!
  const inner = await poll()
  expect(inner.input).toEqual({ day: 'monday' })
  const open = await queue.readOpenWorkflows(10)
  expect(open.workflows.map(({ name, parentId }) => [name, parentId]).sort()).toEqual([
    ['c', started],
    ['g', undefined],
  ])
  const { taskId, workflowId } = inner
  await queue.postResult({ taskId, workflowId, workerId: 'x', status: 'COMPLETED', output: { n: 5 } })
  expect((await poll()).input).toEqual({ n: 5 })

  const second = await queue.start({ name: 'g', input: { day: 'friday' } })
  const running = await poll()
  await queue.terminate(second, { reason: 'enough' })
  expect(await queue.readWorkflowStatus(running.workflowId)).toBe('TERMINATED')
})

test('EN-335 a child that cannot be started fails its unit with the reason', async () => {
  const queue = openTestQueue()
  await queue.registerGraph(graph([child]))
  const started = await queue.start({ name: 'g' })
  const view = await queue.readWorkflow(started)
  expect(view).toMatchObject({ status: 'FAILED' })
  expect(view?.reasonForIncompletion).toContain('start the workflow "c": it is not defined')
})

test('EN-336 the queue in memory tells an execution of events and variables', async () => {
  const queue = openTestQueue()
  await queue.registerGraph(graph([task('a', [], { startWhen: 'event:go.now && shared.n == 2' })]))
  const started = await queue.start({ name: 'g' })
  await queue.publish(started, 'go.now')
  expect((await queue.readWorkflow(started))?.tasks).toEqual([])
  await queue.setVariable(started, 'shared.n', 2)
  expect((await queue.readWorkflow(started))?.tasks).toMatchObject([
    { referenceTaskName: 'a', status: 'SCHEDULED' },
  ])
})
