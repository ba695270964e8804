import { expect, test } from 'vitest'
import { openConductorClient } from '../conductor/client.ts'

type Answer = (request: Request) => Response | Promise<Response>
const open = (answer: Answer, more: object = {}) =>
  openConductorClient({ endpoint: 'http://localhost/engine/api', answer, retry: { maxAttempts: 1 }, ...more })
const read = { operation: 'getTask', path: { taskId: 't 1' } } as const

test('DO-152 a server of this process is asked with the same requests, and its answers are judged alike', async () => {
  const seen: string[] = []
  const client = open(async (request) => {
    seen.push(`${request.method} ${request.url} ${await request.text()}`)
    if (request.method === 'POST') return new Response('wf-1')
    return request.url.includes('t%201')
      ? Response.json({ taskId: 't 1' })
      : Response.json({ status: 404, message: 'none', retryable: false }, { status: 404 })
  })
  expect(await client.call(read)).toEqual({ taskId: 't 1' })
  expect(await client.call({ ...read, path: { taskId: 't2' } })).toBeUndefined()
  expect(await client.call({ operation: 'startWorkflow', json: { name: 'a' }, target: { name: 'a' } })).toBe(
    'wf-1',
  )
  expect(seen).toEqual([
    ...['GET http://localhost/engine/api/tasks/t%201 ', 'GET http://localhost/engine/api/tasks/t2 '],
    'POST http://localhost/engine/api/workflow {"name":"a"}',
  ])
  const broken = open(() => Promise.reject(new Error('it broke')))
  await expect(broken.call(read)).rejects.toMatchObject({ kind: 'unavailable' })
})

test('DO-152 what does not answer is given up in time, when its caller leaves, and when the client is closed', async () => {
  const signals: AbortSignal[] = []
  const hanging: Answer = ({ signal }) => {
    signals.push(signal)
    return new Promise(() => undefined)
  }
  await expect(open(hanging, { answerTimeoutMs: 20 }).call(read)).rejects.toMatchObject({
    kind: 'unavailable',
  })
  await expect(open(hanging).call({ ...read, signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout')
  const client = open(hanging)
  const asked = expect(client.call(read)).rejects.toMatchObject({ kind: 'unavailable' })
  await expect.poll(() => signals.length).toBe(3)
  await client.close()
  await asked
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
})
