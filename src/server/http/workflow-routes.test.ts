// What people see of workflows and do about them: over the engine of the server, asked as a Conductor is.
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { serveWorld } from '../../../test/support/doors/serve.ts'
import { openDoorWorld, type AskRequest, type DoorWorld } from '../../../test/support/doors/world.ts'
import { systemClock } from '../../base/clock.ts'
import type { TaskRecord } from '../../worker/ports.ts'

const opened: DoorWorld[] = []
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close()
})

interface Shown {
  readonly id: string
  readonly status: string
  readonly reason?: string
  readonly tasks: readonly { readonly id: string; readonly node: string; readonly publication?: object }[]
  readonly graph: { readonly nodes: readonly object[]; readonly edges: readonly object[] }
}
interface Listed {
  readonly workflows: readonly Shown[]
  readonly next_after?: string
}

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)]
const PLACE = { repository: 'lake', branch: 'main' }
const DAILY = {
  name: 'daily',
  units: {
    sum: { task: 't.sum', input: { workspace: { ...PLACE, refType: 'commit', ref: A } } },
    sign: { human: {}, after: ['sum'] },
  },
}

async function openLooking(tenant?: string) {
  const world = openDoorWorld({ hasWorkflows: true })
  opened.push(world)
  const operator = await world.tokenFor('operator', tenant)
  const ask = (path: string, request: AskRequest = {}) => world.ask(path, { token: operator, ...request })
  const read = async <T>(path: string, request: AskRequest = {}): Promise<T> => {
    const response = await ask(path, request)
    if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const start = async (definition: object = DAILY, input: object = PLACE): Promise<string> => {
    const body = { definition, input }
    const response = await ask('/executions', { method: 'POST', body })
    return ((await response.json()) as { execution_id: string }).execution_id
  }
  const { queue } = await world.host.engines!.of(tenant)
  const poll = async (): Promise<TaskRecord> => {
    const [task] = await queue.poll({ taskType: 't.sum', workerId: 'w', count: 1, waitMs: 1_000 })
    return task!
  }
  const post = (path: string, body?: unknown) => ask(path, { method: 'POST', body })
  return { world, operator, ask, read, start, queue, poll, post }
}

test('DO-140 workflows are listed the newest first, page by page, by status and by a part of their names', async () => {
  const { read, start, post } = await openLooking()
  const ids: string[] = []
  for (const name of ['one', 'two', 'three'])
    ids.unshift(await start({ name: `daily.${name}`, units: { sign: { human: {} } } }))
  await post(`/workflows/${ids[0]!}/terminate`, { reason: 'not needed' })
  const first = await read<Listed>('/workflows?limit=2')
  expect(first.workflows.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(first.workflows[0]).toMatchObject({
    name: 'daily.three',
    status: 'TERMINATED',
    reason: 'not needed',
    ...PLACE,
  })
  const rest = await read<Listed>(`/workflows?limit=2&after=${first.next_after ?? ''}`)
  expect(rest).toMatchObject({ workflows: [{ id: ids[2] }] })
  expect(rest.next_after).toBeUndefined()
  const found = await read<Listed>('/workflows?search=ILY.T&status=RUNNING&status=PAUSED')
  expect(found.workflows.map(({ id }) => id)).toEqual([ids[1]])
  expect((await read<Listed>(`/workflows?search=${ids[2]!.slice(3, 20)}`)).workflows).toHaveLength(1)
  expect((await read<Listed>('/workflows?status=RUNNING&status=PAUSED')).workflows).toHaveLength(2)
})

test('DO-141 a workflow is read with its attempts, its graph, and the publications of its tasks', async () => {
  const { read, start, poll, queue } = await openLooking()
  const id = await start()
  const task = await poll()
  const running = await read<Shown>(`/workflows/${id}`)
  expect(running).toMatchObject({ id, status: 'RUNNING', input: PLACE, ...PLACE })
  expect(running.graph).toEqual({
    nodes: [
      { reference_name: 'sum', name: 't.sum', kind: 'SIMPLE' },
      { reference_name: 'sign', name: 'sign', kind: 'HUMAN' },
    ],
    edges: [{ from: 'sum', to: 'sign' }],
  })
  const publication = { ...PLACE, input_ref: A, fences: [] }
  expect(running.tasks).toMatchObject([
    {
      id: task.taskId,
      node: 'sum',
      name: 't.sum',
      kind: 'SIMPLE',
      status: 'IN_PROGRESS',
      worker: 'w',
      publication,
    },
  ])
  await queue.postResult({
    ...{ taskId: task.taskId, workflowId: task.workflowId, workerId: 'w', status: 'COMPLETED' },
    output: { workspace: { ...PLACE, refType: 'commit', ref: B } },
    logs: ['hello', `published: merged at ${B}, hard fence`],
  })
  const after = await read<Shown>(`/workflows/${id}`)
  expect(after.tasks[0]?.publication).toMatchObject({
    commit: B,
    outcome: 'merged',
    strength: 'hard',
    fences: [{}, {}, {}],
  })
  expect(after.tasks[1]).toMatchObject({ node: 'sign', kind: 'HUMAN', status: 'IN_PROGRESS' })
  expect(after.tasks[0]).not.toHaveProperty('steps')
})

test('DO-153 the steps of a task are shown as its worker has told them, and not as its body', async () => {
  const { read, start, poll, queue } = await openLooking()
  const id = await start()
  const { taskId, workflowId } = await poll()
  const steps = ['lay-out', 'body', 'publish/merge'].map((step, index) => ({
    ...{ step, at: new Date(1_700_000_000_000 + index).toISOString(), ms: 12 + index },
  }))
  const lie = [{ ...steps[1], ms: 0 }]
  await queue.appendLog(taskId, `hello\nsteps: ${JSON.stringify(lie)}`)
  expect((await read<Shown>(`/workflows/${id}`)).tasks[0]).not.toHaveProperty('steps')
  await systemClock.sleep(5)
  await queue.postResult({
    ...{ taskId, workflowId, workerId: 'w', status: 'COMPLETED' },
    output: { workspace: { ...PLACE, refType: 'commit', ref: B } },
    logs: [`published: merged at ${B}, soft fence`, `steps: ${JSON.stringify(steps)}`],
  })
  expect((await read<Shown>(`/workflows/${id}`)).tasks[0]).toMatchObject({ steps })
})

test('DO-143 the log of a task is given line by line, and goes on after the lines that are known', async () => {
  const { read, start, poll, queue, ask } = await openLooking()
  const id = await start()
  const { taskId } = await poll()
  await queue.appendLog(taskId, 'one\ntwo')
  // What comes in the same millisecond has no order.
  await systemClock.sleep(5)
  await queue.appendLog(taskId, 'three')
  const path = `/workflows/${id}/tasks/${taskId}/log`
  const first = await read<{ lines: { text: string }[]; next_after?: number }>(`${path}?limit=2`)
  expect(first).toMatchObject({ lines: [{ text: 'one' }, { text: 'two' }], next_after: 2 })
  expect(await read(`${path}?after=2`)).toMatchObject({ lines: [{ text: 'three' }] })
  expect(await read(`${path}?after=3`)).toEqual({ lines: [] })
  expect((await ask(`/workflows/${id}/tasks/none/log`)).status).toBe(404)
})

test('DO-145 a workflow is paused, resumed, ended and tried again, each only in a state that allows it', async () => {
  const { read, start, post, poll, queue } = await openLooking()
  const id = await start()
  const act = async (what: string, body?: unknown) => {
    const response = await post(`/workflows/${id}/${what}`, body)
    return (await response.json()) as { status?: string; error?: { code: string } }
  }
  expect(await act('resume')).toMatchObject({ error: { code: 'runtime/workflow-not-now' } })
  expect(await act('pause')).toMatchObject({ id, status: 'PAUSED' })
  expect(await act('pause')).toMatchObject({ status: 'PAUSED' })
  expect(await act('resume')).toMatchObject({ status: 'RUNNING' })
  const { taskId, workflowId } = await poll()
  const reasonForIncompletion = 'it broke [task/terminal]'
  const failed = { status: 'FAILED_WITH_TERMINAL_ERROR', output: {}, reasonForIncompletion } as const
  await queue.postResult({ ...{ taskId, workflowId, workerId: 'w' }, ...failed })
  expect(await read(`/workflows/${id}`)).toMatchObject({
    status: 'FAILED',
    tasks: [{ reason: reasonForIncompletion, code: 'task/terminal' }],
  })
  expect(await act('terminate')).toMatchObject({ error: { code: 'runtime/workflow-not-now' } })
  expect(await act('retry')).toMatchObject({ status: 'RUNNING' })
  expect(await act('terminate', { reason: 'enough' })).toMatchObject({
    status: 'TERMINATED',
    reason: 'enough',
  })
})

test('DO-146 what waits for a worker is shown with who asked for it last, and whether nobody does', async () => {
  const { read, start, world, operator } = await openLooking()
  await start()
  interface Told {
    readonly pollers: readonly object[]
    readonly whole: boolean
  }
  expect(await read<Told>('/pollers')).toEqual({
    pollers: [{ task_type: 't.sum', waiting: 1, nobody_polls: true, polls: [] }],
    whole: true,
  })
  expect((await world.ask('/pollers?x=1', { token: operator })).status).toBe(400)
})

test('DO-146 a worker that polls at the door of this server is shown', async () => {
  const served = await serveWorld()
  onTestFinished(() => served.close())
  const { door, token } = served
  const headers = { 'x-authorization': token }
  await fetch(`${door.url}/api/tasks/poll/batch/t.sum?workerid=w-7&count=1&timeout=0`, { headers })
  const response = await fetch(`${door.url}/pollers`, { headers: { authorization: `Bearer ${token}` } })
  expect(await response.json()).toMatchObject({
    pollers: [{ task_type: 't.sum', waiting: 0, nobody_polls: false, polls: [{ worker: 'w-7' }] }],
  })
})

test('DO-147 each tenant sees the workflows of its own engine, and none of a Conductor that is configured', async () => {
  const { world, start, read } = await openLooking('north')
  const id = await start()
  expect((await read<Listed>('/workflows')).workflows).toHaveLength(1)
  const token = await world.tokenFor('viewer')
  expect((await world.ask(`/workflows/${id}`, { token })).status).toBe(404)
  expect(await (await world.ask('/workflows', { token })).json()).toEqual({ workflows: [] })
  expect((await world.ask(`/workflows/${id}/pause`, { token, method: 'POST' })).status).toBe(403)
  expect(await (await world.ask('/session', { token })).json()).toMatchObject({
    shows: ['workflows', 'store', 'executions'],
  })
})

test('DO-147 a server with neither says that it shows none', async () => {
  const world = openDoorWorld()
  opened.push(world)
  const token = await world.tokenFor('viewer')
  expect(await (await world.ask('/workflows', { token })).json()).toMatchObject({
    error: { code: 'api/no-workflows' },
  })
})
