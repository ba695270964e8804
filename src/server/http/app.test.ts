// The routes, without a socket. Every answer is held to the contract by the world itself.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { document } from '../../../test/support/doors/contract.ts'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import { API_BODY_MAX_BYTES, API_PAGE_EVENTS, EVENT_OUTSIDE_PAYLOAD_MAX_BYTES } from '../limits.ts'
import { EVENT_PAGE_MAX_BYTES } from '../../core/limits.ts'

let world: DoorWorld
let token: string

beforeEach(async () => {
  world = openDoorWorld()
  token = await world.tokenFor('operator')
})
afterEach(() => world.close())

async function failureOf(response: Response): Promise<{ code: string; message: string; kind: string }> {
  return ((await response.json()) as { error: { code: string; message: string; kind: string } }).error
}

const APPROVAL = {
  execution_id: 'exec_12345',
  event_type: 'external.approval.approved',
  payload: { approver: 'ada', decision: 'approved' },
}

describe('POST /events', () => {
  test('E-93 E-94 an event from outside is stored like any other', async () => {
    const execution = await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
    await world.ask('/events', { method: 'POST', token, body: APPROVAL })
    expect(await execution.events.get('external.approval.approved')).toMatchObject({
      executionId: 'exec_12345',
      source: { entityType: 'external', entityId: 'approval' },
      payload: APPROVAL.payload,
    })
  })

  test('E-96 an accepted event is answered 201 with its id', async () => {
    const execution = await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
    const response = await world.ask('/events', { method: 'POST', token, body: APPROVAL })
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({
      event_id: (await execution.events.get('external.approval.approved'))?.id,
      execution_id: 'exec_12345',
      event_type: 'external.approval.approved',
    })
  })

  test('E-95 an execution that does not exist is answered 404, and nothing is stored', async () => {
    const before = await everything()
    const response = await world.ask('/events', { method: 'POST', token, body: APPROVAL })
    expect(response.status).toBe(404)
    expect(await failureOf(response)).toMatchObject({ kind: 'missing', code: 'core/no-such-execution' })
    expect(await everything()).toEqual(before)
  })

  test.each(['pipeline.completed', 'extract.completed', 'external', 'externally.done', 'External.a.b'])(
    'E-97 %s is not for the outside to say',
    async (type) => {
      const execution = await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
      const body = { ...APPROVAL, event_type: type }
      const response = await world.ask('/events', { method: 'POST', token, body })
      expect(response.status).toBe(400)
      expect((await failureOf(response)).code).toBe('api/not-external')
      await expect(execution.events.query()).resolves.toHaveLength(1)
    },
  )

  const big = { text: 'x'.repeat(EVENT_OUTSIDE_PAYLOAD_MAX_BYTES - '{"text":""}'.length) }
  test.each<[string, unknown, number, string]>([
    ['no JSON', '{"execution_id": ', 400, 'api/malformed-json'],
    ['nothing', '', 400, 'api/malformed-json'],
    ['no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400, 'api/malformed-json'],
    ['a list', [APPROVAL], 400, 'api/wrong-type'],
    ['null', 'null', 400, 'api/wrong-type'],
    ['no execution', { event_type: 'external.a.b' }, 400, 'api/missing-field'],
    ['no type', { execution_id: 'exec_12345' }, 400, 'api/missing-field'],
    ['a number as type', { ...APPROVAL, event_type: 7 }, 400, 'api/wrong-type'],
    ['a list as payload', { ...APPROVAL, payload: [] }, 400, 'api/wrong-type'],
    ['null as payload', { ...APPROVAL, payload: null }, 400, 'api/wrong-type'],
    ['an unknown field', { ...APPROVAL, paylod: {} }, 400, 'api/unknown-field'],
    ['a malformed type', { ...APPROVAL, event_type: 'external..x' }, 400, 'core/bad-event-type'],
    ['a malformed id', { ...APPROVAL, execution_id: 'a:b' }, 400, 'core/bad-id'],
    ['an empty source', { ...APPROVAL, source: '' }, 400, 'core/bad-event'],
    [
      'a payload one byte too large',
      { ...APPROVAL, payload: { text: `${big.text}x` } },
      413,
      'api/payload-too-large',
    ],
    [
      'a payload that is nested too deep',
      `{"payload":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
      400,
      'api/nested-too-deep',
    ],
    ['a body that is too large', ' '.repeat(API_BODY_MAX_BYTES + 1), 413, 'api/body-too-large'],
  ])('E-102 %s is answered with its own status and code', async (_, body, status, code) => {
    const execution = await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
    const response = await world.ask('/events', { method: 'POST', token, body })
    expect(response.status).toBe(status)
    expect((await failureOf(response)).code).toBe(code)
    await expect(execution.events.query()).resolves.toHaveLength(1)
  })

  test('DO-22 every refused field is named with its path, in bodies as in queries', async () => {
    const problemsOf = async (response: Response): Promise<unknown> => {
      const { details } = (await failureOf(response)) as {
        readonly details?: { readonly problems?: unknown }
      }
      return details?.problems
    }
    const body = { url: 7, types: ['a.b', 8], retry: { attempt: 3 } }
    expect(await problemsOf(await world.ask('/webhooks', { method: 'POST', token, body }))).toEqual([
      { path: 'url', problem: 'must be a string' },
      { path: 'types[1]', problem: 'must be a string' },
      { path: 'retry.attempt', problem: 'is not known; did you mean "attempts"?' },
    ])
    const query = await world.ask('/executions/exec_12345/events?limit=0&order=up&limt=1', { token })
    expect(await problemsOf(query)).toEqual([
      { path: 'order', problem: 'must be ascending or descending' },
      { path: 'limit', problem: 'must be a whole number from 1 to 1000' },
      { path: 'limt', problem: 'is not known; did you mean "limit"?' },
    ])
  })

  test('E-102 a payload of the largest size is taken, and what is no JSON by its own account is not', async () => {
    await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
    const largest = await world.ask('/events', { method: 'POST', token, body: { ...APPROVAL, payload: big } })
    expect(largest.status).toBe(201)
    const form = await world.ask('/events', {
      method: 'POST',
      token,
      body: APPROVAL,
      headers: { 'content-type': 'text/plain' },
    })
    expect(form.status).toBe(415)
  })

  test('DO-20 an idempotency key records an event once; for another event it is refused', async () => {
    const execution = await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
    const send = (body: unknown, key: string) =>
      world.ask('/events', { method: 'POST', token, body, headers: { 'idempotency-key': key } })
    const first = await (await send(APPROVAL, 'k1')).json()
    const again = await send(APPROVAL, 'k1')
    expect([again.status, await again.json()]).toEqual([201, first])
    await expect(execution.events.query()).resolves.toHaveLength(2)
    const conflict = await send({ ...APPROVAL, payload: {} }, 'k1')
    expect([conflict.status, (await failureOf(conflict)).code]).toEqual([409, 'core/idempotency-conflict'])
    expect((await send(APPROVAL, 'k'.repeat(257))).status).toBe(400)
    await expect(execution.events.query()).resolves.toHaveLength(2)
  })

  test('DO-20 an execution that is over takes no event', async () => {
    const execution = await world.core.startExecution({ id: 'exec_12345', name: 'etl_pipeline' })
    await execution.finish({ status: 'completed' })
    const response = await world.ask('/events', { method: 'POST', token, body: APPROVAL })
    expect([response.status, (await failureOf(response)).code]).toEqual([409, 'core/not-active'])
  })
})

describe('reading', () => {
  const node = (type: string) => ({
    type,
    source: { entityType: 'node' as const, entityId: type.split('.')[0]! },
  })

  test('DO-21 the events of one execution are listed by page, filtered and in either order', async () => {
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    for (const type of ['a.started', 'a.completed', 'b.started', 'b.completed']) {
      await execution.events.publish(node(type))
    }
    const list = async (query: string) => {
      const response = await world.ask(`/executions/exec_1/events${query}`, { token })
      const { events, next_after } = (await response.json()) as {
        events: { sequence: number; type: string }[]
        next_after?: number
      }
      return { types: events.map(({ type }) => type), next: next_after }
    }
    const all = ['pipeline.started', 'a.started', 'a.completed', 'b.started', 'b.completed']
    expect(await list('')).toEqual({ types: all, next: undefined })
    expect(await list('?limit=2')).toEqual({ types: all.slice(0, 2), next: 2 })
    expect(await list('?limit=3&after=2')).toEqual({ types: all.slice(2), next: undefined })
    expect(await list('?order=descending&limit=2')).toEqual({ types: ['b.completed', 'b.started'], next: 4 })
    expect(await list('?type=*.completed&type=pipeline.**')).toEqual({
      types: ['pipeline.started', 'a.completed', 'b.completed'],
      next: undefined,
    })
    expect(await list('?source_type=node&source_id=a')).toEqual({ types: all.slice(1, 3), next: undefined })
    expect(await list('?to=2000-01-01')).toEqual({ types: [], next: undefined })
    const latest = await world.ask('/executions/exec_1/events/a.completed', { token })
    expect(await latest.json()).toMatchObject({ type: 'a.completed', sequence: 3, execution_id: 'exec_1' })
    expect((await world.ask('/executions/exec_1/events/c.completed', { token })).status).toBe(404)
  })

  test.each(['ascending', 'descending'])(
    'DO-35 a page of large events ends early, and those behind it miss none: %s',
    async (order) => {
      const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
      const payload = { text: 'x'.repeat(EVENT_OUTSIDE_PAYLOAD_MAX_BYTES - 100) }
      const source = { entityType: 'external', entityId: 'a' } as const
      const count = 1.5 * (EVENT_PAGE_MAX_BYTES / EVENT_OUTSIDE_PAYLOAD_MAX_BYTES) + API_PAGE_EVENTS
      for (let at = 0; at < count; at++) {
        const isLarge = at >= API_PAGE_EVENTS
        await execution.events.publish({ type: 'external.a.b', source, payload: isLarge ? payload : {} })
      }
      const sequences: number[] = []
      const pages: number[] = []
      for (let after = ''; ;) {
        const path = `/executions/exec_1/events?limit=1000&order=${order}${after}`
        const page = (await (await world.ask(path, { token })).json()) as {
          events: { sequence: number }[]
          next_after?: number
        }
        pages.push(page.events.length)
        sequences.push(...page.events.map(({ sequence }) => sequence))
        if (page.next_after === undefined) break
        after = `&after=${String(page.next_after)}`
      }
      const all = Array.from({ length: count + 1 }, (_, at) => at + 1)
      expect(sequences).toEqual(order === 'ascending' ? all : all.reverse())
      expect(pages).toHaveLength(2)
    },
  )

  test('DO-21 variables of one execution are read by name, and listed', async () => {
    const execution = await world.core.startExecution({
      id: 'exec_1',
      name: 'etl',
      inputs: { day: '2025-01-01' },
    })
    await execution.variables.set('a.none', null)
    await execution.variables.set('a.stats', { rows: [1, 2.5] })
    const read = async (path: string) =>
      (await world.ask(`/executions/exec_1/variables${path}`, { token })).json()
    expect(await read('/pipeline.input.day')).toEqual({ name: 'pipeline.input.day', value: '2025-01-01' })
    expect(await read('/a.none')).toEqual({ name: 'a.none', value: null })
    expect(await read('?prefix=a.')).toEqual({
      variables: [
        { name: 'a.none', value: null },
        { name: 'a.stats', value: { rows: [1, 2.5] } },
      ],
    })
    const missing = await world.ask('/executions/exec_1/variables/a.nothing', { token })
    expect([missing.status, (await failureOf(missing)).code]).toEqual([404, 'api/no-such-variable'])
    expect((await world.ask('/executions/exec_1/variables/nothing', { token })).status).toBe(400)
  })

  test('DO-178 what was written to a variable is read over HTTP, and one that was never set is missing', async () => {
    const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    await execution.node('a').variables.set('a.rows', 7)
    await execution.variables.set('a.rows', 8)
    const read = await world.ask('/executions/exec_1/variables/a.rows/history', { token })
    expect(await read.json()).toEqual({
      name: 'a.rows',
      writes: [
        {
          kind: 'set',
          value: 8,
          at: expect.any(String) as string,
          revision: expect.any(Number) as number,
          by: {},
        },
        {
          kind: 'set',
          value: 7,
          at: expect.any(String) as string,
          revision: expect.any(Number) as number,
          by: { unit: 'a' },
        },
      ],
      may_lack: false,
    })
    const missing = await world.ask('/executions/exec_1/variables/a.none/history', { token })
    expect([missing.status, (await failureOf(missing)).code]).toEqual([404, 'api/no-such-variable'])
    expect((await world.ask('/executions/exec_1/variables/a.rows/history?x=1', { token })).status).toBe(400)
  })

  test.each([
    '/executions/exec_1/events?types=a.b',
    '/executions/exec_1/events?limit=0',
    '/executions/exec_1/events?limit=1001',
    '/executions/exec_1/events?limit=1&limit=2',
    '/executions/exec_1/events?order=up',
    '/executions/exec_1/events?source_type=robot',
    '/executions/exec_1/events?source_id=',
    '/executions/exec_1/events/a.b?limit=1',
    '/executions/exec_1/variables/a.b?x',
    '/executions/exec_1/events?from=yesterday',
    '/executions/exec_1/events?type=a..b',
    `/executions/exec_1/events?${'type=a.b&'.repeat(33)}`,
    '/executions/exec_1/events?after=-1',
    '/executions/exec_1/variables?pre=a',
    '/executions/exec_1/follow?after=x',
    '/executions/exec_1/follow?type=**x',
    '/executions/a%3Ab/events',
    '/executions/exec_1/events/a.b%20c',
  ])('DO-22 %s is refused, and nothing is guessed', async (path) => {
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    expect((await world.ask(path, { token })).status).toBe(400)
  })
})

test('DO-17 what a refusal says to do next reaches whoever has no token, whole', async () => {
  const { next } = (await failureOf(await world.ask('/events'))) as { next?: string }
  expect(next).toContain('Authorization header')
  expect(next).not.toContain('redacted')
})

describe('what is not there', () => {
  test.each([
    ['GET', '/', 404, 'api/no-such-route'],
    ['GET', '/execution', 404, 'api/no-such-route'],
    ['GET', '/executions/exec_1/nothing', 404, 'api/no-such-route'],
    ['DELETE', '/executions/exec_1', 405, 'api/wrong-method'],
    ['GET', '/events', 405, 'api/wrong-method'],
    ['DELETE', '/executions/exec_1/events', 405, 'api/wrong-method'],
    ['PUT', '/executions/exec_1/variables/a.b', 405, 'api/wrong-method'],
  ])('DO-19 %s %s is answered %i', async (method, path, status, code) => {
    const response = await world.ask(path, { method, token })
    expect([response.status, (await failureOf(response)).code]).toEqual([status, code])
  })

  test('DO-19 no operation of the contract changes or removes what is recorded', () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(
      operations.filter((operation) => /^(?:put|patch) |^delete (?!\/webhooks|\/session$)/.test(operation)),
    ).toEqual([])
    expect(operations.filter((operation) => /^(?!get) .*\/(?:events|variables)\//.test(operation))).toEqual(
      [],
    )
  })
})

describe('the contract', () => {
  test('DO-08 it is served to anybody, as it is shipped', async () => {
    const json = await (await world.ask('/openapi.json')).json()
    expect(json).toEqual(document)
    expect(await (await world.ask('/openapi.yaml')).text()).toContain('openapi: 3.1.0')
  })

  test('DO-18 health tells whether the server reaches its store', async () => {
    expect((await world.ask('/healthz')).status).toBe(200)
    const ill = openDoorWorld({ host: { examine: () => Promise.resolve(['the store does not answer']) } })
    const response = await ill.ask('/healthz')
    expect([response.status, await response.json()]).toEqual([
      503,
      { ok: false, problems: ['the store does not answer'] },
    ])
    await ill.close()
  })
})

async function everything(): Promise<readonly string[]> {
  return (await world.store.range({ prefix: '' })).entries.map(({ key }) => key)
}
