// Goal: whoever starts an execution, and however many do at once, no two executions that may write one branch are open.
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Store } from '../../core/ports.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import type { ChildUnit } from '../graph/graph.ts'
import { openEngine, type Engine, type EngineOptions } from './open-engine.ts'

const WORKSPACE = '${workflow.input.workspace}'
const writing = graphOf([task('write', [], { inputParameters: { workspace: WORKSPACE } })], 'writing')
const on = (branch: string): { readonly input: JsonObject } => ({
  input: { workspace: { repository: 'lake', branch } },
})
const child = (name: string, after: readonly string[] = []): ChildUnit => ({
  ...{ type: 'SUB_WORKFLOW', taskReferenceName: 'c', after, subWorkflowParam: { name } },
  inputParameters: { workspace: WORKSPACE },
})

async function open(
  options: Partial<EngineOptions> = {},
  store: Store = openMemoryStore(),
): Promise<Engine & { readonly store: Store }> {
  const engine = await openEngine({ store, ...options })
  onTestFinished(() => engine.close())
  await engine.control.registerTask({ name: 't', retryCount: 0 })
  return { ...engine, store }
}

const codeOf = (start: Promise<unknown>): Promise<unknown> =>
  start.then(
    () => 'started',
    (error: unknown) => (error as { code: string }).code,
  )

test('F-58 a second start on a branch is refused and names both, until the first has ended', async () => {
  const { control } = await open()
  const first = await control.startGraph(writing, on('main'))
  await expect(control.startGraph(graphOf(writing.units, 'other'), on('main'))).rejects.toMatchObject({
    code: 'engine/branch-taken',
    message: `start "other" on branch "main" of "lake": execution ${first} ("writing") has not ended and may write it`,
  })
  await control.startGraph(writing, on('another'))
  await control.terminate(first)
  await control.startGraph(writing, on('main'))
})

test('F-58 of many starts at the same moment one gets the branch', async () => {
  const { control } = await open()
  const starts = Array.from({ length: 8 }, () => codeOf(control.startGraph(writing, on('main'))))
  expect((await Promise.all(starts)).sort()).toEqual([
    ...Array.from({ length: 7 }, () => 'engine/branch-taken'),
    'started',
  ])
  expect(await control.listOpen()).toHaveLength(1)
})

test('F-58 an instance that takes over knows which branches are taken', async () => {
  const first = await open()
  await first.control.startGraph(writing, on('main'))
  await first.close()
  const second = await open({}, first.store)
  expect(await codeOf(second.control.startGraph(writing, on('main')))).toBe('engine/branch-taken')
})

test('F-58 tasks that are known to read only share a branch', async () => {
  const { control } = await open({ tasks: () => new Map([['t', { workspace: { readOnly: true } }]]) })
  await control.startGraph(writing, on('main'))
  await control.startGraph(writing, on('main'))
  expect(await control.listOpen()).toHaveLength(2)
})

test('F-58 an execution and its children share a branch; a child on one that is taken fails its unit', async () => {
  const { control, queue } = await open()
  await control.registerGraph(writing)
  const id = await control.startGraph(graphOf([child('writing')], 'parent'), on('main'))
  expect(await control.listOpen()).toHaveLength(2)
  const aside = graphOf([{ ...child('writing'), inputParameters: on('main').input }], 'aside')
  expect(await codeOf(control.startGraph(aside, {}))).toBe('engine/branch-taken')
  // Its branch is known only when its first unit has ended.
  const late = graphOf(
    [
      task('find'),
      { ...child('writing', ['find']), inputParameters: { workspace: '${find.output.workspace}' } },
    ],
    'late',
  )
  const lateId = await control.startGraph(late, {})
  const tasks = await queue.poll({ taskType: 't', workerId: 'w', count: 2, waitMs: 0 })
  const find = tasks.find(({ workflowId }) => workflowId === lateId)
  if (find === undefined) throw new Error('its first task was not handed out')
  const { taskId, workflowId, workerId } = find
  await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output: on('main').input })
  expect(await control.readWorkflow(lateId)).toMatchObject({
    status: 'FAILED',
    reasonForIncompletion: expect.stringContaining(`execution ${id} ("parent")`) as string,
  })
})

test('F-58 what has failed does not run again while another execution has its branch', async () => {
  const { control } = await open()
  const failed = await control.startGraph(writing, on('main'))
  await control.terminate(failed)
  const other = await control.startGraph(writing, on('main'))
  for (const again of [control.retry(failed), control.restart(failed), control.rerun(failed)])
    expect(await codeOf(again)).toBe('engine/branch-taken')
  await control.terminate(other)
  await control.retry(failed)
  expect((await control.listOpen()).map(({ workflowId }) => workflowId)).toEqual([failed])
})
