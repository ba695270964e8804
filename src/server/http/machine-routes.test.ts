import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import { silentLogger } from '../../base/logger.ts'
import { identifyThisProcess } from '../../base/process-identity.ts'
import { plainRedactor } from '../../base/redaction.ts'
import { keepStatusFile } from '../../runtime/telemetry/keep-status-file.ts'
import { openWorkersView } from '../../runtime/views/workers-view.ts'
import type { WorkerStatus } from '../../worker/worker.ts'

const opened: DoorWorld[] = []
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close()
})
function open(...parts: Parameters<typeof openDoorWorld>): DoorWorld {
  const world = openDoorWorld(...parts)
  opened.push(world)
  return world
}

const STATUS: WorkerStatus = {
  ...{ state: 'running', startedAtMs: 0, nowMs: 60_000, freeSinceMs: 0, slots: { limit: 4, taken: 1 } },
  ...{ polls: { etl: { succeededAtMs: 59_000, slots: 4 } }, outages: [], held: [] },
  attempts: [
    {
      ...{
        taskId: 't1',
        workflowId: 'w1',
        taskName: 'etl',
        referenceName: 'load',
        retryCount: 1,
        iteration: 0,
      },
      ...{
        executionId: 'e',
        startedAtMs: 50_000,
        step: 'body',
        renewedAtMs: 58_000,
        responseTimeoutSeconds: 30,
      },
    },
  ],
}

async function startWorkerIn(root: string): Promise<void> {
  const kept = keepStatusFile({
    ...{ root, index: 3, workerId: 'worker-3', redactor: plainRedactor, logger: silentLogger },
    process: await identifyThisProcess(),
  })
  kept.start(() => STATUS)
  onTestFinished(() => kept.close())
}

test('DO-155 viewers of the default tenant are told of the workers of the machine, and nobody else', async () => {
  const root = mkdtempSync(join(tmpdir(), 'perago-workers-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const world = open({ page: { workers: openWorkersView({ root }) } })
  const [viewer, other] = [await world.tokenFor('viewer'), await world.tokenFor('admin', 'north')]
  const ask = async (token?: string) => world.ask('/workers', { token })
  expect(await (await ask(viewer)).json()).toMatchObject({ workers: [], whole: true })
  await startWorkerIn(root)
  await expect
    .poll(async () => (await ask(viewer)).json())
    .toMatchObject({
      as_of: expect.stringMatching(/Z$/) as unknown,
      workers: [
        {
          ...{ index: 3, pid: process.pid, worker_id: 'worker-3', state: 'running' },
          slots: { limit: 4, taken: 1 },
          polls: [{ task_type: 'etl', slots: 4, held: false }],
          attempts: [{ task_id: 't1', workflow_id: 'w1', attempt: 1, step: 'body', lease_ms: 30_000 }],
        },
      ],
    })
  for (const [token, status] of [
    [other, 404],
    [undefined, 401],
  ] as const)
    expect((await ask(token)).status).toBe(status)
  const shown = async (token: string) =>
    ((await (await world.ask('/session', { token })).json()) as { shows: readonly string[] }).shows
  expect(await shown(viewer)).toEqual(['workers', 'store', 'executions'])
  expect(await shown(other)).toEqual(['executions'])
  const without = open()
  expect((await without.ask('/workers', { token: await without.tokenFor('viewer') })).status).toBe(404)
})

test('DO-156 viewers of the default tenant are told of the store, its archive and the last passes, and nobody else', async () => {
  const at = new Date(0)
  const archive = { kind: 'sqlite archive' }
  const described = { store: { kind: 'sqlite', bytes: 4_096 }, archive, archived: { at, done: 1, failed: 2 } }
  const world = open({ host: { describeStore: () => Promise.resolve(described) } })
  const ask = (token?: string) => world.ask('/store', { token })
  expect(await (await ask(await world.tokenFor('viewer'))).json()).toEqual({
    ...{ store: { kind: 'sqlite', bytes: 4_096 }, archive },
    archived: { at: at.toISOString(), done: 1, failed: 2 },
  })
  expect((await ask(await world.tokenFor('admin', 'north'))).status).toBe(404)
  expect((await ask()).status).toBe(401)
})
