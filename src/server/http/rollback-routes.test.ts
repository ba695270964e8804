// Rollbacks, schedules and traces over HTTP. Every answer is held to the contract by the world itself.
import { expect, onTestFinished, test } from 'vitest'
import { commitOf, unitOf, workspaceAt } from '../../../test/support/checkpoint-world.ts'
import { openDoorWorld, type AskRequest } from '../../../test/support/doors/world.ts'
import { silentLogger } from '../../base/logger.ts'
import type { BranchRollback, DataRollback } from '../../publication/rollback-port.ts'
import { openEngines } from '../../runtime/engines.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

function setUp() {
  const store = openMemoryStore()
  const moved: BranchRollback[] = []
  const data: DataRollback = {
    check: () => Promise.resolve(),
    checkPaths: () => Promise.resolve(),
    restorePaths: () => Promise.reject(new Error('not asked for')),
    moveBack: (move) => {
      moved.push(move)
      return Promise.resolve({ is: 'moved', supersededRef: move.expectedHead, evidenceTag: 'kept' })
    },
  }
  const setup = { dataOf: (tenant: string | undefined) => (tenant === 'acme' ? data : undefined) }
  const engines = openEngines({ store, logger: silentLogger, setup })
  const world = openDoorWorld({ host: { engines } })
  onTestFinished(async () => {
    await world.close()
    await engines.close()
    await store.close()
  })
  const ask = async (path: string, request: AskRequest) => {
    const response = await world.ask(path, request)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { engines, world, moved, ask }
}

/** Two units that have published, one after the other. */
async function runTwo({ engines }: ReturnType<typeof setUp>, tenant?: string): Promise<string> {
  const { control, queue } = await engines.of(tenant)
  await control.registerTask({ name: 'work', retryCount: 0 })
  const workspace = (of: string) => ({ inputParameters: { workspace: `\${${of}.workspace}` } })
  const units = [
    unitOf('load', [], { phase: 'in', ...workspace('workflow.input') }),
    unitOf('clean', ['load'], { phase: 'work', ...workspace('load.output') }),
  ]
  const graph = { name: 'etl', version: 1, units, inputTemplate: {}, outputParameters: undefined }
  const id = await control.startGraph(
    { ...graph, restartable: true, timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' },
    { input: { workspace: workspaceAt(commitOf('start')) } },
  )
  for (const unit of ['load', 'clean']) {
    const [task] = await queue.poll({ taskType: 'work', workerId: 'w', count: 1, waitMs: 2_000 })
    const { taskId, workflowId, workerId } = task!
    const output = { workspace: workspaceAt(commitOf(unit)) }
    await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output })
  }
  return id
}

test('EN-725 EN-724 a phase goes back over HTTP, for operators of its tenant alone, with the branches of its lakeFS', async () => {
  const scene = setUp()
  const { world, ask, moved } = scene
  const id = await runTwo(scene, 'acme')
  const body = { level: 'phase', phase: 'work', then: 'pause' }
  const post = async (what: string, role: 'viewer' | 'operator', tenant?: string, more: AskRequest = {}) =>
    ask(`/executions/${id}/${what}`, {
      ...{ method: 'POST', body, token: await world.tokenFor(role, tenant), ...more },
    })
  expect((await post('rollback', 'viewer', 'acme')).status).toBe(403)
  expect((await post('rollback', 'operator')).status).toBe(404)
  expect((await post('rollback', 'operator', 'zoo')).status).toBe(404)
  const scope = { body: { level: 'phase', phase: 'work' } }
  expect((await post('rollback/preview', 'viewer', 'acme', scope)).body).toMatchObject({
    ...{ undone: ['clean'], refusals: [] },
    moves: [{ branch: 'main', from: commitOf('clean'), to: commitOf('load') }],
  })
  expect(moved).toEqual([])
  const keyed = { headers: { 'idempotency-key': 'k' } }
  const report = { undone: ['clean'], branches: [{ outcome: 'moved', tag: 'kept' }] }
  expect((await post('rollback', 'operator', 'acme', keyed)).body).toMatchObject(report)
  expect((await post('rollback', 'operator', 'acme', keyed)).body).toMatchObject({ branches: [] })
  expect(moved).toMatchObject([{ expectedHead: commitOf('clean'), to: commitOf('load') }])
  const token = await world.tokenFor('viewer', 'acme')
  const { body: shown } = await ask(`/executions/${id}`, { token })
  expect(shown).toMatchObject({ paused: true, run: 2 })
  const { body: drawn } = await ask(`/executions/${id}/graph`, { token })
  expect(drawn['states']).toEqual({ load: 'COMPLETED', clean: 'PENDING' })
  const { body: kept } = await ask(`/executions/${id}/checkpoints`, { token })
  expect(kept).toEqual({ checkpoints: shown['checkpoints'] })
})

test('EN-724 a tenant without a lakeFS is refused what has published, and nothing is changed', async () => {
  const scene = setUp()
  const { world, ask, moved } = scene
  const id = await runTwo(scene)
  const token = await world.tokenFor('operator')
  const refused = await ask(`/executions/${id}/rollback`, {
    ...{ method: 'POST', token, body: { level: 'unit', unit: 'clean' } },
  })
  expect([refused.status, refused.body]).toMatchObject([409, { error: { code: 'engine/no-data-rollback' } }])
  expect((await ask(`/executions/${id}`, { token })).body['status']).toBe('COMMIT')
  expect(moved).toEqual([])
})

test('EN-726 schedules come with their pipeline, are listed with their next time, paused and resumed', async () => {
  const { world, ask } = setUp()
  const [operator, viewer] = [await world.tokenFor('operator'), await world.tokenFor('viewer')]
  const schedules = { nightly: { cron: '0 3 * * *', input: { day: 1 } }, weekly: { cron: '0 3 * * 1' } }
  const pipeline = { name: 'daily', units: { a: { task: 't' } } }
  const register = (more: object) =>
    ask('/pipelines', { method: 'POST', token: operator, body: { ...pipeline, ...more } })
  const list = async (query = '', token = viewer) =>
    (await ask(`/schedules${query}`, { token })).body as {
      readonly schedules: readonly Record<string, unknown>[]
      readonly next_after?: string
    }
  const act = (what: string, token = operator) =>
    ask(`/pipelines/daily/schedules/nightly/${what}`, { method: 'POST', token })
  expect((await register({ schedules: { bad: { cron: 'never' } } })).status).toBe(400)
  await register({ schedules })
  const first = await list('?limit=1')
  expect(first.schedules).toMatchObject([
    { ...{ pipeline: 'daily', name: 'nightly', cron: '0 3 * * *', time_zone: 'UTC' }, input: { day: 1 } },
  ])
  expect(first.schedules[0]?.['next_at']).toMatch(/T03:00:00.000Z$/)
  expect((await list(`?after=${first.next_after ?? ''}`)).schedules).toMatchObject([{ name: 'weekly' }])
  expect((await list('?pipeline=other')).schedules).toEqual([])
  expect((await list('', await world.tokenFor('viewer', 'acme'))).schedules).toEqual([])
  expect((await act('pause', viewer)).status).toBe(403)
  for (let times = 0; times < 2; times += 1) expect((await act('pause')).body['paused']).toBe(true)
  expect((await list()).schedules[0]).not.toHaveProperty('next_at')
  expect((await act('resume')).body).toMatchObject({ paused: false })
  await register({})
  expect((await list()).schedules).toEqual([])
})

test('EN-727 a start goes on with the trace of its caller; sent again from another span it is the same start', async () => {
  const { world, ask, engines } = setUp()
  const token = await world.tokenFor('operator')
  const start = (span: string) =>
    ask('/executions', {
      ...{ method: 'POST', token, body: { definition: { name: 'x', units: { a: { task: 't' } } } } },
      headers: { 'idempotency-key': 'k', traceparent: `00-${TRACE}-${span}-01` },
    })
  expect((await start('00f067aa0ba902b7')).status).toBe(201)
  expect((await start('00f067aa0ba902b8')).status).toBe(200)
  const { queue } = await engines.of(undefined)
  const [task] = await queue.poll({ taskType: 't', workerId: 'w', count: 1, waitMs: 2_000 })
  expect(task?.traceparent).toContain(TRACE)
})
