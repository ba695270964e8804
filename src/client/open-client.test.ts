import { afterEach, beforeEach, expect, test } from 'vitest'
import { serveWorld, type ServedWorld } from '../../test/support/doors/serve.ts'
import { collect, externalEvent } from '../../test/support/core-world.ts'
import { EVENT_PAGE_MAX_EVENTS } from '../core/limits.ts'
import { openClient, type PeragoClient } from './open-client.ts'
import type { ClientOptions } from './sender.ts'

const SIGNED = { name: 'signed', units: { sign: { human: {} } } }

let served: ServedWorld
beforeEach(async () => {
  served = await serveWorld()
})
afterEach(() => served.close())

function open(more: Partial<ClientOptions> = {}): PeragoClient {
  const retry = { firstDelayMs: 1, maxDelayMs: 5 }
  return openClient({ url: served.door.url, token: served.token, retry, ...more })
}

/** Loses the first answers to requests of this path, after the server has acted. */
function losing(path: string, count = 1): typeof fetch {
  let left = count
  return async (where, how) => {
    const response = await fetch(where, how)
    if (typeof where !== 'string' || !where.includes(path) || left === 0) return response
    left -= 1
    await response.body?.cancel()
    throw new TypeError('the connection was cut')
  }
}

test('X-71 the client starts, lists, reads, controls and waits over a real connection', async () => {
  const client = open()
  expect(await client.registerPipeline(SIGNED)).toEqual({ name: 'signed', version: 1 })
  const { execution_id: id } = await client.start({ pipeline: 'signed', input: { day: 1 } })
  expect((await client.list({ status: ['EXECUTING'], name: 'signed', limit: 5 })).executions).toMatchObject([
    { execution_id: id },
  ])
  expect(await client.read(id)).toMatchObject({ status: 'EXECUTING', input: { day: 1 } })
  expect(await client.pause(id)).toMatchObject({ paused: true })
  expect(await client.resume(id)).toMatchObject({ paused: false })
  expect(await client.wait(id, { timeoutMs: 0 })).toMatchObject({ ended: false })
  const waited = client.wait(id)
  await client.cancel(id, { reason: 'not today' })
  expect(await waited).toMatchObject({ ended: true, execution: { status: 'CANCELLED', reason: 'not today' } })
  await client.retry(id)
  await client.completeUnit(id, 'sign', { output: { by: 'ada' } })
  expect(await client.wait(id)).toMatchObject({ ended: true, execution: { status: 'COMMIT' } })
})

test('DO-94 the client reads events and variables by page, or on to the end over empty pages', async () => {
  const client = open()
  const execution = await served.world.core.startExecution({ id: 'exec_1', name: 'etl' })
  const often = Array.from({ length: EVENT_PAGE_MAX_EVENTS + 50 }, () => externalEvent('external.often'))
  await Promise.all(often.map((event) => execution.events.publish(event)))
  await execution.events.publish(externalEvent('external.rare', { n: 1 }))
  for (let n = 0; n < 5; n += 1) await execution.variables.set(`shared.n${String(n)}`, { n })
  const type = ['none.completed', '*.rare']
  expect(await client.listEvents('exec_1', { type })).toEqual({
    events: [],
    next_after: EVENT_PAGE_MAX_EVENTS,
  })
  const rare = await collect(client.allEvents('exec_1', { type, limit: 7 }))
  expect(rare).toMatchObject([{ type: 'external.rare', payload: { n: 1 } }])
  const last = await collect(client.allEvents('exec_1', { order: 'descending', source_id: 'etl' }))
  expect(last.map(({ sequence }) => sequence)).toEqual([1])
  expect(await client.listVariables('exec_1', { prefix: 'shared.', limit: 2 })).toEqual({
    variables: [
      { name: 'shared.n0', value: { n: 0 } },
      { name: 'shared.n1', value: { n: 1 } },
    ],
    next_after: 'shared.n1',
  })
  const names = (await collect(client.allVariables('exec_1', { prefix: 'shared.', limit: 2 }))).map(
    ({ name }) => name,
  )
  expect(names).toEqual(Array.from({ length: 5 }, (_, n) => `shared.n${String(n)}`))
})

test('DO-178 the client reads what was written to a variable', async () => {
  const execution = await served.world.core.startExecution({ id: 'exec_1', name: 'etl' })
  await execution.variables.set('shared.n', 1)
  await execution.variables.set('shared.n', 2)
  const history = await open().readVariableHistory('exec_1', 'shared.n')
  expect(history).toMatchObject({ name: 'shared.n', writes: [{ value: 2 }, { value: 1 }], may_lack: false })
})

test('DO-94 the client lists executions on to the end', async () => {
  const client = open()
  for (let n = 0; n < 3; n += 1) await client.start({ definition: SIGNED })
  const all = await collect(client.all({ name: 'signed', status: ['EXECUTING'], limit: 1 }))
  expect(new Set(all.map(({ execution_id: id }) => id)).size).toBe(3)
})

test('EN-716 a start whose answers are lost starts once', async () => {
  const client = open({ fetch: losing('/executions', 3) })
  const { execution_id: id } = await client.start({ definition: SIGNED })
  expect((await client.list()).executions.map(({ execution_id }) => execution_id)).toEqual([id])
})

test('EN-716 what may not be done twice is sent once, and its lost answer is told as such', async () => {
  const client = open({ fetch: losing('/resume') })
  const { execution_id: id } = await client.start({ definition: SIGNED })
  await client.pause(id)
  await expect(client.resume(id)).rejects.toMatchObject({ kind: 'uncertain', code: 'client/no-answer' })
  expect(await client.read(id)).toMatchObject({ paused: false })
})

test('EN-717 an error of the server has the same kind, code and details here', async () => {
  const client = open()
  await expect(client.read('none')).rejects.toMatchObject({
    kind: 'missing',
    code: 'engine/no-such-execution',
  })
  await expect(client.start({ definition: { name: 'x' } })).rejects.toMatchObject({
    ...{ kind: 'invalid', code: 'engine/bad-pipeline' },
    details: { problems: [{ path: expect.stringContaining('definition') as string }] },
  })
  await expect(open({ token: 'none' }).list()).rejects.toMatchObject({ code: 'api/bad-token' })
  expect(() => open({ url: 'ftp://x' })).toThrow(expect.objectContaining({ code: 'client/bad-url' }))
  const proxied = open({
    fetch: () => Promise.resolve(new Response('<html>', { status: 502 })),
    retry: { maxAttempts: 1 },
  })
  await expect(proxied.resume('x')).rejects.toMatchObject({ kind: 'uncertain', code: 'client/bad-answer' })
})

test('EN-717 a wait ends with its signal', async () => {
  const client = open()
  const { execution_id: id } = await client.start({ definition: SIGNED })
  const stop = new AbortController()
  const waited = client.wait(id, { signal: stop.signal })
  setTimeout(() => stop.abort(new Error('enough')), 20)
  await expect(waited).rejects.toThrow('enough')
})
