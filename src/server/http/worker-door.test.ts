// Workers elsewhere: the client that is used for a real Conductor, with a token as the secret of its key.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { serveWorld, type ServedWorld } from '../../../test/support/doors/serve.ts'
import { openConductorClient } from '../../conductor/client.ts'
import { createHttpTaskQueue } from '../../conductor/http-task-queue.ts'

const PIPELINE = { name: 'daily', units: { a: { task: 't' } } }

let served: ServedWorld
beforeEach(async () => {
  served = await serveWorld()
})
afterEach(() => served.close())

async function openWorker(tenant?: string) {
  const keySecret = await served.world.tokenFor('operator', tenant)
  const client = openConductorClient({
    endpoint: `${served.door.url}/api`,
    key: { keyId: 'worker', keySecret },
  })
  return { queue: createHttpTaskQueue(client), close: () => client.close(), token: keySecret }
}

async function start(token: string): Promise<string> {
  const response = await fetch(`${served.door.url}/executions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ definition: PIPELINE }),
  })
  return ((await response.json()) as { execution_id: string }).execution_id
}

const POLL = { taskType: 't', workerId: 'w', count: 5, waitMs: 0 }

test('EN-710 a worker with a token does the tasks of its own tenant, and sees no others', async () => {
  const [own, foreign] = [await openWorker(), await openWorker('acme')]
  const id = await start(own.token)
  expect(await foreign.queue.poll(POLL)).toEqual([])
  const [task] = await own.queue.poll(POLL)
  expect(task).toMatchObject({ workflowId: id, referenceTaskName: 'a' })
  const { taskId, workflowId, workerId } = task!
  const result = { taskId, workflowId, workerId, status: 'COMPLETED', output: { n: 1 } } as const
  // As if it were not there: neither read nor ended.
  expect(await foreign.queue.readTask(taskId)).toBeUndefined()
  expect(await foreign.queue.postResult(result)).toBe(false)
  expect(await own.queue.postResult(result)).toBe(true)
  const waited = await fetch(`${served.door.url}/executions/${id}/wait`, {
    headers: { authorization: `Bearer ${own.token}` },
  })
  expect(await waited.json()).toMatchObject({
    ended: true,
    execution: { status: 'COMMIT', output: { n: 1 } },
  })
  await Promise.all([own.close(), foreign.close()])
})

test('EN-710 task definitions of one tenant are not those of another', async () => {
  const ask = async (tenant: string | undefined, method: string, path: string, body?: unknown) =>
    fetch(`${served.door.url}/api${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'x-authorization': await served.world.tokenFor('operator', tenant),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  expect((await ask('acme', 'POST', '/metadata/taskdefs', [{ name: 't', retryCount: 7 }])).status).toBe(200)
  expect((await ask('acme', 'GET', '/metadata/taskdefs/t')).status).toBe(200)
  expect((await ask(undefined, 'GET', '/metadata/taskdefs/t')).status).toBe(404)
})

test('EN-711 without a good token, or as a viewer, nobody polls', async () => {
  const ask = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${served.door.url}/api/tasks/poll/batch/t`, { headers })).status
  const viewer = await served.world.tokenFor('viewer')
  expect(await ask({})).toBe(401)
  expect(await ask({ 'x-authorization': 'none' })).toBe(401)
  expect(await ask({ 'x-authorization': viewer })).toBe(403)
  const trade = (keySecret: string) =>
    fetch(`${served.door.url}/api/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ keyId: 'x', keySecret }),
    })
  expect((await trade('none')).status).toBe(401)
  expect(await (await trade(viewer)).json()).toEqual({ token: viewer })
})
