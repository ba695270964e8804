import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../base/logger.ts'
import { openTestQueue } from '../../testing/open-test-queue.ts'
import { buildConductorApp } from './conductor-app.ts'

const definitions = {
  readTask: () => Promise.resolve(undefined),
  writeTask: () => Promise.resolve(),
  readWorkflow: () => Promise.resolve(undefined),
  writeWorkflow: () => Promise.resolve(),
}

async function openApp() {
  const queue = openTestQueue()
  await queue.registerTask({ name: 't' })
  await queue.registerWorkflow({ name: 'w', tasks: [{ name: 't', taskReferenceName: 'a' }] })
  const app = buildConductorApp({ queue, control: queue, definitions, logger: silentLogger })
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    Promise.resolve(app.fetch(new Request(`http://127.0.0.1:1${path}`, init)))
  const post = (path: string, body: unknown): Promise<Response> =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const claim = async (): Promise<{ taskId: string; workflowInstanceId: string }> => {
    await queue.start({ name: 'w' })
    const [task] = (await (await ask('/api/tasks/poll/batch/t?workerid=w1')).json()) as [
      { taskId: string; workflowInstanceId: string },
    ]
    return task
  }
  return { app, ask, post, claim, queue }
}

describe("Conductor's API", () => {
  test.each([
    ['another host name', 'http://lake.example/health', {}],
    ['a page of another site', 'http://127.0.0.1:1/health', { origin: 'http://evil.example' }],
    ['a page of this machine', 'http://127.0.0.1:1/health', { origin: 'http://127.0.0.1:1' }],
    ['what a proxy passes on', 'http://127.0.0.1:1/health', { 'x-forwarded-proto': 'https' }],
    ['what a proxy says it passes on', 'http://127.0.0.1:1/health', { via: '1.1 proxy' }],
  ])('DO-51 a request as %s is refused', async (_, url, headers: Record<string, string>) => {
    const { app } = await openApp()
    expect((await app.fetch(new Request(url, { headers }))).status).toBe(403)
    expect((await app.fetch(new Request('http://localhost:1/health'))).status).toBe(200)
    expect((await app.fetch(new Request('http://localhost:1/health'), { isProxied: true })).status).toBe(403)
  })

  test('DO-59 the last poll of a task type is told, for each domain, as Conductor tells it', async () => {
    const { ask } = await openApp()
    const polls = async () => (await ask('/api/tasks/queue/polldata?taskType=t')).json()
    expect(await polls()).toEqual([])
    const beforeMs = Date.now()
    await ask('/api/tasks/poll/batch/t?workerid=w1&timeout=0')
    await ask('/api/tasks/poll/batch/t?workerid=w2&timeout=0')
    await ask('/api/tasks/poll/t?workerid=w3&timeout=0&domain=blue')
    await ask('/api/tasks/poll/other?workerid=w4&timeout=0')
    const lastPollTime = expect.toSatisfy((ms: number) => ms >= beforeMs && ms <= Date.now()) as number
    expect(await polls()).toEqual([
      { queueName: 't', domain: null, workerId: 'w2', lastPollTime },
      { queueName: 't', domain: 'blue', workerId: 'w3', lastPollTime },
    ])
  })

  test('DO-52 a result is answered 200 whether it counts or not, and 404 only when the task is gone', async () => {
    const { claim, post, queue } = await openApp()
    const { taskId, workflowInstanceId } = await claim()
    const done = { taskId, workflowInstanceId, status: 'COMPLETED', outputData: { n: 1 } }
    expect((await post('/api/tasks', done)).status).toBe(200)
    const late = await post('/api/tasks', { ...done, outputData: { n: 2 } })
    expect([late.status, await late.text()]).toEqual([200, taskId])
    expect((await queue.readTask(taskId as never))?.output).toEqual({ n: 1 })
    expect((await post('/api/tasks/update-v2', done)).status).toBe(204)
    const gone = await post('/api/tasks', { ...done, taskId: 'nobody' })
    expect([gone.status, await gone.json()]).toEqual([
      404,
      { status: 404, message: 'No such task found by id: nobody', retryable: false },
    ])
  })

  test.each([
    ['an update without a status', '/api/tasks', { taskId: 'a', workflowInstanceId: 'b' }],
    [
      'a status that no worker posts',
      '/api/tasks',
      { taskId: 'a', workflowInstanceId: 'b', status: 'SKIPPED' },
    ],
    ['a workflow without a name', '/api/workflow', { input: {} }],
    ['a definition without a name', '/api/metadata/taskdefs', [{ retryCount: 1 }]],
  ])('DO-52 %s is refused in the form of Conductor', async (_, path, body) => {
    const { post } = await openApp()
    const answer = await post(path, body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      status: 400,
      message: expect.any(String) as string,
      retryable: false,
    })
  })

  test('DO-52 a HUMAN or WAIT task is completed by its name; nothing open under the name changes nothing', async () => {
    const { claim, post, queue } = await openApp()
    const { taskId, workflowInstanceId } = await claim()
    const named = await post(`/api/tasks/${workflowInstanceId}/a/COMPLETED?workerid=me`, { by: 'name' })
    expect([named.status, await named.text()]).toEqual([200, taskId])
    expect((await queue.readTask(taskId as never))?.output).toEqual({ by: 'name' })
    const again = await post(`/api/tasks/${workflowInstanceId}/a/COMPLETED`, {})
    expect([again.status, await again.text()]).toEqual([200, ''])
  })

  test('DO-74 a poll that waits is answered with nothing when the server closes', async () => {
    const closing = new AbortController()
    let waiting = 0
    const queue = {
      ...openTestQueue(),
      poll: (_: unknown, { signal }: { signal?: AbortSignal } = {}) =>
        new Promise<never>((_resolve, reject) => {
          waiting += 1
          signal?.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    }
    const parts = { queue, control: openTestQueue(), definitions, logger: silentLogger }
    const app = buildConductorApp({ ...parts, closing: closing.signal })
    const poll = app.fetch(new Request('http://127.0.0.1:1/api/tasks/poll/batch/t?timeout=5000'))
    await expect.poll(() => waiting).toBe(1)
    closing.abort()
    const answer = await poll
    expect([answer.status, await answer.json()]).toEqual([200, []])
  })

  test('DO-53 a poll that its worker has given up claims nothing', async () => {
    const { ask, queue } = await openApp()
    const gone = new AbortController()
    const poll = ask('/api/tasks/poll/batch/t?workerid=gone&timeout=5000', { signal: gone.signal })
    await wait(20)
    gone.abort()
    await poll
    await queue.start({ name: 'w' })
    const tasks = (await (await ask('/api/tasks/poll/batch/t?workerid=here')).json()) as {
      workerId: string
    }[]
    expect(tasks.map(({ workerId }) => workerId)).toEqual(['here'])
  })
})
