// Whatever is asked, the contract knows the answer; and whatever the contract promises has been answered.
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { document } from '../../../test/support/doors/contract.ts'
import {
  giveUpDelivery,
  openDoorWorld,
  type AskRequest,
  type DoorWorld,
} from '../../../test/support/doors/world.ts'
import { API_BODY_MAX_BYTES, EVENT_OUTSIDE_PAYLOAD_MAX_BYTES } from '../limits.ts'
import { ManualClock } from '../../testing/manual-clock.ts'

const opened: DoorWorld[] = []
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close()
})

async function openWorld(...parts: Parameters<typeof openDoorWorld>): Promise<DoorWorld> {
  const world = openDoorWorld(...parts)
  opened.push(world)
  const running = await world.core.startExecution({
    id: 'exec_1',
    name: 'etl',
    inputs: { day: '2025-01-01' },
  })
  await running.events.publish({ type: 'a.started', source: { entityType: 'node', entityId: 'a' } })
  const over = await world.core.startExecution({ id: 'exec_2', name: 'etl' })
  await over.finish({ status: 'completed' })
  return world
}

const PATHS = ['/executions/ID/events', '/executions/ID/events/a.started', '/executions/ID/variables']
  .concat(['/executions/ID/variables/pipeline.input.day', '/executions/ID/follow'])
  .map((path) => (id: string) => path.replace('ID', id))

test('DO-07 every status that an operation promises below 500 has been answered, and was as promised', async () => {
  const world = await openWorld({
    clock: new ManualClock(),
    limits: { requestsAtOnce: 100, requestsPerSecond: 1 },
  })
  const [viewer, operator, eager] = await Promise.all(
    (['viewer', 'operator', 'viewer'] as const).map((role) => world.tokenFor(role)),
  )
  const post = (body: unknown, request: AskRequest = {}) =>
    world.ask('/events', { method: 'POST', token: operator, body, ...request })
  const event = { execution_id: 'exec_1', event_type: 'external.a.b' }
  for (const path of ['/healthz', '/openapi.json', '/openapi.yaml']) await world.ask(path)
  await post(event)
  await post({})
  await post(event, { token: 'none' })
  await post(event, { token: viewer })
  await post({ ...event, execution_id: 'exec_9' })
  await post({ ...event, execution_id: 'exec_2' })
  await post({ ...event, payload: { text: 'x'.repeat(EVENT_OUTSIDE_PAYLOAD_MAX_BYTES) } })
  await post(event, { headers: { 'content-type': 'text/plain' } })
  for (let count = 0; count < 100; count++) await world.ask('/executions/exec_1/variables', { token: eager })
  await post(event, { token: eager })
  for (const path of PATHS) {
    await (await world.ask(path('exec_1'), { token: viewer })).body?.cancel()
    await world.ask(path('exec_9'), { token: viewer })
    await world.ask(path('a%3Ab'), { token: viewer })
    await world.ask(path('exec_1'))
    await world.ask(path('exec_1'), { token: eager })
  }
  await askAboutWebhooks(world, { viewer, operator, eager })
  const ill = await openWorld({ host: { examine: () => Promise.resolve(['the store does not answer']) } })
  await ill.ask('/healthz')
  const seen = new Set(
    [...world.judged, ...ill.judged].map(({ operationId, status }) => `${operationId} ${status}`),
  )
  const promised = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) =>
      Object.keys(responses).map((status) => `${operationId} ${status}`),
    ),
  )
  // What Node's parser refuses comes to no route; see serve.test.ts.
  const belowRoutes = ['408', '431']
  const unseen = promised.filter((pair) => {
    const [, status = ''] = pair.split(' ')
    return !seen.has(pair) && Number(status) < 500 && !belowRoutes.includes(status)
  })
  expect(unseen).toEqual([])
})

/** Every answer below 500 that there is about webhooks. */
async function askAboutWebhooks(
  world: DoorWorld,
  tokens: Readonly<Record<'viewer' | 'operator' | 'eager', string | undefined>>,
): Promise<void> {
  const { viewer, operator, eager } = tokens
  const wanted = { url: 'https://example.com/hook', types: ['a.*'] }
  const add = (body: unknown, request: AskRequest = {}) =>
    world.ask('/webhooks', { method: 'POST', token: operator, body, ...request })
  const keyed = { headers: { 'idempotency-key': 'k1' } }
  const { id } = (await (await add(wanted, keyed)).json()) as { id: string }
  await add(wanted, keyed)
  await add({ ...wanted, types: ['b.*'] }, keyed)
  await add({})
  await add(`${' '.repeat(API_BODY_MAX_BYTES)}{}`)
  await add(wanted, { headers: { 'content-type': 'text/plain' } })
  const dead = await giveUpDelivery(world, id)
  const asked: readonly (readonly [string, string])[] = [
    ['GET', '/webhooks'],
    ['POST', '/webhooks'],
    ['GET', '/webhooks/ID'],
    ['GET', '/webhooks/ID/dead-deliveries'],
    ['POST', `/webhooks/ID/dead-deliveries/${dead}/redeliver`],
    ['POST', '/webhooks/ID/redeliver'],
    ['DELETE', '/webhooks/ID'],
  ]
  for (const [method, path] of asked) {
    const body = path === '/webhooks' && method === 'POST' ? { body: wanted } : {}
    const ask = (one: string, token?: string) =>
      world.ask(path.replace('ID', one), { method, token, ...body })
    await ask(id)
    await ask(id, viewer)
    await ask(id, eager)
    await ask('wh_none', operator)
    await world.ask(`${path.replace('ID', id)}?x=1`, { method, token: operator, ...body })
    await ask(id, operator)
  }
}

test('DO-16 random requests are answered by the contract, and never with a mistake of the server', async () => {
  const world = await openWorld({ limits: { requestsAtOnce: 1e9, requestsPerSecond: 1e9 } })
  const operator = await world.tokenFor('operator')
  const odd = fc.oneof(
    fc.constantFrom(
      'exec_1',
      'exec_2',
      'exec_9',
      'a.started',
      'pipeline.input.day',
      '..',
      '%',
      '%2F',
      '%00',
      '__proto__',
    ),
    fc.string({ maxLength: 12 }).map(encodeURIComponent),
    fc.constant('x'.repeat(300)),
  )
  const path = fc.oneof(
    fc.tuple(fc.constantFrom(...PATHS), odd).map(([make, id]) => make(id)),
    fc
      .tuple(fc.constantFrom('events', 'variables', 'follow', ''), odd)
      .map(([what, name]) => `/executions/exec_1/${what}/${name}`),
    fc
      .tuple(odd, fc.constantFrom('', '/dead-deliveries', '/redeliver'), fc.constantFrom('', '/'))
      .map(([id, what, end]) => `/webhooks/${id}${what}${end}`),
    odd.map((id) => `/webhooks/wh_1/dead-deliveries/${id}/redeliver`),
    fc.constantFrom('/events', '/webhooks', '/', '//', '/executions', '/healthz', '/openapi.json'),
  )
  const names = ['type', 'source_type', 'source_id', 'from', 'to', 'order', 'after', 'limit', 'prefix', 'x']
  const value = fc.oneof(
    odd,
    fc.constantFrom('1', '-1', '1e9', '*.**', 'node', 'descending', '2025-01-01', ''),
  )
  const query = fc
    .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4 })
    .map((pairs) => (pairs.length === 0 ? '' : `?${pairs.map((pair) => pair.join('=')).join('&')}`))
  const header = fc
    .tuple(
      fc.constantFrom(
        'idempotency-key',
        'last-event-id',
        'content-type',
        'content-length',
        'accept',
        'x-http-method-override',
      ),
      fc.constantFrom(
        '',
        '1',
        'x'.repeat(300),
        'application/json; charset=utf-16',
        'DELETE',
        '-5',
        '99999999999999999999',
      ),
    )
    .map(([name, text]) => ({ [name]: text }))
  const field = fc.constantFrom('execution_id', 'event_type', 'payload', 'source', '__proto__', 'x')
  const body = fc.oneof(
    fc.dictionary(
      field,
      fc.oneof(fc.jsonValue(), fc.constantFrom('exec_1', 'external.a.b', 'external.', {})),
    ),
    fc.record({
      execution_id: fc.constant('exec_1'),
      event_type: fc.string().map((text) => `external.${text}`),
    }),
    fc.record({
      execution_id: fc.constant('exec_1'),
      event_type: fc.constant('external.a.b'),
      payload: fc.dictionary(fc.string(), fc.jsonValue()),
    }),
    fc.string({ unit: 'binary' }),
    fc.uint8Array(),
    fc.constant('['.repeat(50_000)),
    fc.constant(
      `{"execution_id":"exec_1","event_type":"external.a.b","payload":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}`,
    ),
  )
  const anything = fc.record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    path,
    query,
    headers: header,
    body,
  })
  // By chance alone, hardly any request would be a good one.
  const publication: typeof anything = fc.record({
    method: fc.constant('POST' as const),
    path: fc.constant('/events'),
    query: fc.constant(''),
    headers: fc.constant({}),
    body: fc.record({
      execution_id: fc.constant('exec_1'),
      event_type: fc.constant('external.a.b'),
      payload: fc.dictionary(fc.string(), fc.jsonValue()),
    }),
  })
  const asked = fc.oneof({ weight: 9, arbitrary: anything }, { weight: 1, arbitrary: publication })
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(asked, async ({ method, path: where, query: what, headers, body: sent }) => {
      const stop = new AbortController()
      const response = await world.ask(`http://127.0.0.1${where}${what}`, {
        method,
        token: operator,
        headers,
        signal: stop.signal,
        ...(method === 'GET' ? {} : { body: sent }),
      })
      await response.body?.cancel()
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      expect(response.status).toBeLessThan(500)
    }),
    { numRuns: 1_500 },
  )
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 405]))
}, 60_000)
