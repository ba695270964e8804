// Goal: what people see of workflows over HTTP is what a real Conductor holds: lists, graphs, logs, control, and who polls.
import { randomBytes } from 'node:crypto'
import { afterEach, expect, test, type TestContext } from 'vitest'
import { branchName } from '../../src/base/ids.ts'
import { silentLogger } from '../../src/base/logger.ts'
import { openConductorClient } from '../../src/conductor/client.ts'
import { createHttpTaskQueue } from '../../src/conductor/http-task-queue.ts'
import { openConductorView } from '../../src/runtime/views/open-workflow-views.ts'
import type { TaskRecord, WorkflowId } from '../../src/worker/ports.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { startServer } from '../../src/server/start-server.ts'
import { openMemoryStore } from '../../src/stores/memory/memory-store.ts'
import { commitOf } from '../conformance/versioned-repo-cases/world.ts'
import { openDoorWorld } from '../support/doors/world.ts'
import { askJson } from '../support/servers/http.ts'
import { openSuiteLakefs } from '../support/servers/suite-lakefs.ts'
import { useRealServer } from '../support/servers/servers.ts'

const conductor = useRealServer('conductor')
const own = `wfr${randomBytes(4).toString('hex')}`
const PLACE = { repository: 'lake', branch: own }
const [A, B] = ['a'.repeat(64), 'b'.repeat(64)]
const WAIT = { timeout: 30_000, interval: 300 }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const step = (name: string, more: object = {}) => ({
  name: `${own}.${name}`,
  taskReferenceName: name,
  type: 'SIMPLE',
  ...more,
})
const definition = {
  ...{ name: own, version: 1, schemaVersion: 2, ownerEmail: 'data@example.org' },
  tasks: [
    step('first', { inputParameters: { workspace: '${workflow.input.workspace}' } }),
    step('fork', { type: 'FORK_JOIN', forkTasks: [[step('left')], [step('right')]] }),
    step('join', { type: 'JOIN', joinOn: ['left', 'right'] }),
    step('which', {
      ...{
        type: 'SWITCH',
        evaluatorType: 'value-param',
        expression: 'size',
        inputParameters: { size: 'big' },
      },
      decisionCases: { big: [step('split')] },
    }),
  ],
}

interface Shown {
  readonly status: string
  readonly tasks: readonly Readonly<Record<string, unknown>>[]
  readonly graph: {
    readonly edges: readonly { readonly from: string; readonly to: string; readonly label?: string }[]
  }
}

async function openLooking(url: string) {
  const view = openConductorView(
    { conductor: { serverUrl: `${url}/api`, auth: undefined } },
    { logger: silentLogger, connections: 4 },
  )
  closing.push(() => view.close())
  const world = openDoorWorld({
    page: { workflows: { of: (tenant) => (tenant === undefined ? view : undefined) } },
  })
  closing.push(() => world.close())
  const client = openConductorClient({ endpoint: url })
  closing.push(() => client.close())
  const queue = createHttpTaskQueue(client)
  const token = await world.tokenFor('operator')
  const ask = async <T>(path: string, method = 'GET', body?: unknown): Promise<T> =>
    (await (await world.ask(path, { token, method, body })).json()) as T
  const types = ['first', 'left', 'right', 'split'].map((name) => `${own}.${name}`)
  const settings = {
    retryCount: 0,
    timeoutSeconds: 0,
    responseTimeoutSeconds: 600,
    ownerEmail: 'data@example.org',
  }
  await askJson(`${url}/api/metadata/taskdefs`, {
    method: 'POST',
    body: types.map((name) => ({ name, ...settings })),
  })
  await askJson(`${url}/api/metadata/workflow`, { method: 'POST', body: definition })
  const start = async (): Promise<WorkflowId> => {
    const input = { workspace: { ...PLACE, refType: 'commit', ref: A } }
    const response = await fetch(`${url}/api/workflow/${own}?correlationId=${own}-c`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) },
    })
    return (await response.text()) as WorkflowId
  }
  const poll = async (name: string): Promise<TaskRecord> => {
    const [task] = await queue.poll({
      taskType: `${own}.${name}`,
      workerId: `${own}-w`,
      count: 1,
      waitMs: 5_000,
    })
    return task!
  }
  return { world, queue, ask, start, poll }
}

test('DO-148 over a real Conductor: a workflow is listed, read with its graph, followed in its log, controlled', async (context) => {
  const { url } = conductor(context)
  const { world, queue, ask, start, poll } = await openLooking(url)
  const [older, id] = [await start(), await start()]
  interface Listed {
    readonly workflows: readonly { readonly id: string }[]
    readonly next_after?: string
  }
  const idsOf = ({ workflows }: Listed): readonly string[] => workflows.map(({ id: each }) => each)
  // The index shows a start late.
  await expect
    .poll(async () => idsOf(await ask<Listed>(`/workflows?search=${own}`)), WAIT)
    .toEqual([id, older])
  const page = await ask<Listed>(`/workflows?search=${own.toUpperCase()}&limit=1&status=RUNNING`)
  expect(page.workflows).toMatchObject([
    { id, name: own, version: 1, status: 'RUNNING', correlation_id: `${own}-c`, ...PLACE },
  ])
  const rest = await ask<Listed>(
    `/workflows?search=${own}&limit=1&status=RUNNING&after=${page.next_after ?? ''}`,
  )
  expect(idsOf(rest)).toEqual([older])
  const plain = await ask<Listed>('/workflows?limit=2')
  expect(idsOf(plain)).toHaveLength(2)

  interface Told {
    readonly pollers: readonly { readonly task_type: string }[]
  }
  const pollerOf = async () =>
    (await ask<Told>('/pollers')).pollers.find(({ task_type: type }) => type === `${own}.first`)
  expect(await pollerOf()).toMatchObject({ waiting: 2, nobody_polls: true, polls: [] })
  const [task, other] = [await poll('first'), await poll('first')]
  await expect
    .poll(pollerOf, WAIT)
    .toMatchObject({ waiting: 0, nobody_polls: false, polls: [{ worker: `${own}-w` }] })

  const shown = await ask<Shown>(`/workflows/${task.workflowId}`)
  expect(shown.graph.edges.map(({ from, to, label = '' }) => `${from} ${label}> ${to}`)).toEqual([
    ...[
      'first > fork',
      'fork > left',
      'fork > right',
      'left > join',
      'right > join',
      'join > which',
      'which big> split',
    ],
  ])
  expect(shown.tasks).toMatchObject([
    { node: 'first', kind: 'SIMPLE', status: 'IN_PROGRESS', publication: { input_ref: A } },
  ])

  await queue.appendLog(task.taskId, 'one\ntwo')
  const log = `/workflows/${task.workflowId}/tasks/${task.taskId}/log`
  await expect
    .poll(async () => ask(`${log}?after=1`), WAIT)
    .toMatchObject({ lines: [{ text: 'two', at: expect.any(String) as string }] })
  const { taskId, workflowId, workerId } = task
  await queue.postResult({
    ...{
      taskId,
      workflowId,
      workerId,
      status: 'COMPLETED',
      output: { workspace: { ...PLACE, refType: 'commit', ref: B } },
    },
    // So many that the last are sent as one, as a worker sends them.
    logs: [
      ...Array.from({ length: 11 }, () => stepsOf(1)),
      `published: merged at ${B}, soft fence`,
      stepsOf(7),
    ],
  })
  const published = async () => (await ask<Shown>(`/workflows/${workflowId}`)).tasks[0]?.['publication']
  await expect
    .poll(published, WAIT)
    .toMatchObject({ commit: B, outcome: 'merged', strength: 'soft', fences: [{}, {}] })
  const steps = async () => (await ask<Shown>(`/workflows/${workflowId}`)).tasks[0]?.['steps']
  await expect.poll(steps, WAIT).toMatchObject([{ step: 'body', ms: 7 }])

  const act = (what: string, body?: unknown) => ask<object>(`/workflows/${workflowId}/${what}`, 'POST', body)
  expect(await act('pause')).toMatchObject({ status: 'PAUSED' })
  expect(await act('retry')).toMatchObject({ error: { code: 'runtime/workflow-not-now' } })
  expect(await act('resume')).toMatchObject({ status: 'RUNNING' })
  expect(await act('terminate', { reason: 'enough' })).toMatchObject({
    status: 'TERMINATED',
    reason: 'enough',
  })
  expect(await act('retry')).toMatchObject({ status: 'RUNNING' })
  await act('terminate')
  const failed = {
    status: 'FAILED_WITH_TERMINAL_ERROR',
    output: {},
    reasonForIncompletion: 'it broke [task/terminal]',
  } as const
  await queue.postResult({
    ...{ taskId: other.taskId, workflowId: other.workflowId, workerId: other.workerId },
    ...failed,
  })
  expect(await ask<Shown>(`/workflows/${other.workflowId}`)).toMatchObject({
    ...{ status: 'FAILED', tasks: [{ code: 'task/terminal' }] },
  })
  expect((await ask<{ error: object }>('/workflows/none')).error).toMatchObject({
    code: 'runtime/no-such-workflow',
  })
  // Only callers of the default tenant see a Conductor.
  const token = await world.tokenFor('operator', 'north')
  expect((await world.ask('/workflows', { token })).status).toBe(404)
  expect(await (await world.ask('/session', { token })).json()).toMatchObject({
    shows: ['executions'],
  })
}, 120_000)

const stepsOf = (ms: number): string =>
  `steps: ${JSON.stringify([{ step: 'body', at: '2026-01-31T10:00:00.000Z', ms }])}`

/** A server over a real Conductor and a lakeFS with one new repository. */
async function openServed(context: TestContext) {
  const { url } = conductor(context)
  const lakefs = await openSuiteLakefs()
  closing.push(() => lakefs.close())
  const { accessKeyId, secretAccessKey } = lakefs
  const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  closing.push(() => client.close())
  const names = lakefs.newRepository(own)
  await createRepository(client, { ...names, defaultBranch: branchName('main') })
  const server = await startServer({
    ...{ store: openMemoryStore(), port: 0, conductor: { endpoint: `${url}/api` } },
    lakefs: { endpoint: lakefs.url, accessKeyId, secretAccessKey },
  })
  closing.push(() => server.close())
  const { token } = await server.tokens.create({ name: 'page', role: 'operator' })
  const ask = async (path: string, body?: object): Promise<object> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await (await fetch(`${server.url}${path}`, { headers, ...request })).json()) as object
  }
  return { ask, repository: names.repository, repo: openLakefsRepo(client, names.repository) }
}

test('DO-149 DO-150 a server over a real Conductor and a real lakeFS examines them, and shows what may be recovered', async (context) => {
  const { ask, repository } = await openServed(context)
  const { checks } = (await ask('/examination')) as { readonly checks: readonly Record<string, string>[] }
  const states = checks.map(({ name = '', state = '' }) => `${name} ${state}`)
  expect(states).toEqual(expect.arrayContaining(['store ok', 'lakeFS ok', 'Conductor ok']))
  expect(checks.some(({ name }) => name?.startsWith('queue'))).toBe(true)
  const path = `/repositories/${repository}/recoveries`
  const shown = (await ask(`${path}/preview`, { branch: 'main' })) as { readonly digest: string }
  expect(shown).toMatchObject({
    branches: [{ situation: 'not-published-here', is_normal: true, offered: [] }],
  })
  expect(await ask(path, { branch: 'main', digest: shown.digest, action: 'restart' })).toMatchObject({
    error: { code: 'recovery/not-offered' },
  })
}, 60_000)

test('DO-169 over a real lakeFS and a real Conductor the history of a branch is verified', async (context) => {
  const { ask, repository, repo } = await openServed(context)
  // Conductor is asked for the workflow, and does not know it.
  const metadata = { 'publish.run': 'r', 'publish.input': 'f'.repeat(64), 'publish.workflow': 'nobody' }
  const { ref } = await commitOf(repo, branchName('main'), { 'a.txt': 'x' }, { metadata })
  const verification = `/repositories/${repository}/branches/main/verification`
  expect(await ask(verification)).toMatchObject({
    ...{
      holds: false,
      stopped: 'beginning',
      is_whole: true,
      commits: 2,
      oldest: expect.any(String) as string,
    },
    ...{ findings: [{ check: 'expected-parent', commit: ref }], unknown_workflows: ['nobody'] },
  })
  expect(await ask(`${verification}?since=main`)).toMatchObject({ holds: true, commits: 0, stopped: 'since' })
  expect(await ask(verification.replace('/main/', '/none/'))).toMatchObject({
    error: { code: 'recovery/no-such-ref' },
  })
}, 60_000)
