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
import { openLake } from '../../../test/support/doors/lake.ts'
import { RefusedError } from '../../base/errors.ts'
import { systemClock } from '../../base/clock.ts'
import { systemRandom } from '../../base/random.ts'
import type { CommitRef } from '../../base/ids.ts'
import { executionId } from '../../core/keys.ts'
import { noteRollback } from '../../engine/checkpoints/rollback-note.ts'
import { API_BODY_MAX_BYTES, API_START_MAX_BYTES, EVENT_OUTSIDE_PAYLOAD_MAX_BYTES } from '../limits.ts'
import type { PageParts } from './app.ts'
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
  .concat(['/executions/ID/variables/pipeline.input.day/history'])
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
  await askAboutExecutions(world, eager)
  const looking = await lookAtRepositories()
  const working = await lookAtWorkflows()
  const idle = await openWorld({ host: { engines: undefined } })
  const token = await idle.tokenFor('operator')
  for (const [method, path, body] of [...ENGINE_REQUESTS, ...WORKFLOW_REQUESTS])
    await idle.ask(path, { method, token, body })
  const ill = await openWorld({ host: { examine: () => Promise.resolve(['the store does not answer']) } })
  await ill.ask('/healthz')
  const seen = new Set(
    [...world.judged, ...looking.judged, ...working.judged, ...idle.judged, ...ill.judged].map(
      ({ operationId, status }) => `${operationId} ${status}`,
    ),
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

const PIPELINE = {
  name: 'approved',
  units: { sign: { human: {} } },
  schedules: { nightly: { cron: '0 3 * * *' } },
}
const ENGINE_REQUESTS: readonly (readonly [string, string, unknown?])[] = [
  ['GET', '/executions'],
  ['POST', '/executions', { definition: PIPELINE }],
  ['GET', '/executions/ID'],
  ['GET', '/executions/ID/wait?timeout_ms=0'],
  ['POST', '/executions/ID/pause'],
  ['POST', '/executions/ID/resume'],
  ['POST', '/executions/ID/cancel'],
  ['POST', '/executions/ID/retry'],
  ['POST', '/executions/ID/units/sign/complete', {}],
  ['GET', '/executions/ID/checkpoints'],
  ['GET', '/executions/ID/graph'],
  ['GET', '/executions/ID/shared'],
  ['POST', '/executions/ID/rollback', { level: 'unit', unit: 'sign' }],
  ['POST', '/executions/ID/rollback/preview', { level: 'unit', unit: 'sign' }],
  ['POST', '/executions/ID/rollback/abandon', { reason: 'settled' }],
  ['GET', '/schedules'],
  ['GET', '/pipelines'],
  ['POST', '/pipelines', PIPELINE],
  ['GET', '/pipelines/approved'],
  ['POST', '/pipelines/approved/schedules/nightly/pause'],
  ['POST', '/pipelines/approved/schedules/nightly/resume'],
]

/** Every answer below 500 that there is about executions and pipelines. */
async function askAboutExecutions(world: DoorWorld, eager: string | undefined): Promise<void> {
  const [viewer, operator] = [await world.tokenFor('viewer'), await world.tokenFor('operator')]
  const start = async (headers = {}): Promise<string> => {
    const request = { method: 'POST', token: operator, headers, body: { definition: PIPELINE } }
    const started = await (await world.ask('/executions', request)).json()
    return (started as { execution_id: string }).execution_id
  }
  const key = { 'idempotency-key': 'k1' }
  const id = await start(key)
  await start(key)
  const other = { definition: PIPELINE, priority: 1 }
  await world.ask('/executions', { method: 'POST', token: operator, headers: key, body: other })
  for (const [at, [method, path, body]] of ENGINE_REQUESTS.entries()) {
    // A token of its own for each: the clock stands still.
    const own = await world.tokenFor('operator')
    const ask = (one: string, token?: string, more: AskRequest = {}) =>
      world.ask(path.replace('ID', one), { method, token, body, address: `192.0.3.${String(at)}`, ...more })
    await ask(id)
    await ask(id, eager)
    await ask(id, viewer)
    await ask('exec_none', own)
    await ask(id, own)
    await world.ask(`${path.replace('ID', id)}${path.includes('?') ? '&' : '?'}x=1`, {
      ...{ method, token: own, body },
    })
    if (body === undefined) continue
    await ask(id, own, { body: `${' '.repeat(API_START_MAX_BYTES)}{}` })
    await ask(id, own, { headers: { 'content-type': 'text/plain' } })
  }
  // Each is asked in a state that refuses it.
  const act = (one: string, path: string, body?: unknown) =>
    world.ask(`/executions/${one}/${path}`, { method: 'POST', token: operator, body })
  const last = await start()
  await act(last, 'retry')
  await act(last, 'resume')
  await act(last, 'units/sign/complete', {})
  await act(last, 'units/sign/complete', { status: 'FAILED' })
  await act(last, 'pause')
  await act(last, 'cancel')
  const damaged = { level: 'artifact', unit: 'sign' }
  await act(last, 'rollback', damaged)
  await act(last, 'rollback/preview', damaged)
  // One that has begun, and cannot end.
  const scope = { execution: executionId(last) }
  const note = { id: 'r1', of: { level: 'execution' } as const, reason: undefined }
  const pace = { clock: systemClock, random: systemRandom }
  await noteRollback({ store: world.store, ...pace }, scope, { ...note, then: 'end', wasRunning: false })
  await act(last, 'rollback/abandon', { reason: 'settled' })
  for (const what of ['pause', 'resume'])
    await world.ask(`/pipelines/approved/schedules/none/${what}`, { method: 'POST', token: operator })
  await world.ask('/executions', { method: 'POST', token: operator, body: { pipeline: 'nothing' } })
  await world.ask('/pipelines/nothing', { token: operator })
}

const REPOSITORY_REQUESTS = [
  '/repositories',
  '/repositories/lake/branches',
  '/repositories/lake/tags',
  '/repositories/lake/commits?from=main',
  '/repositories/lake/changes?from=main&to=main',
  '/repositories/lake/objects?at=main',
  '/repositories/lake/object?at=main&path=a.csv',
  '/repositories/lake/branches/main/verification',
  '/examination',
  '/workers',
  '/store',
]

const EXAMINATION: PageParts['examination'] = {
  examine: () =>
    Promise.resolve({ examinedAt: new Date(0), checks: [{ name: 'store', state: 'ok', text: 'well' }] }),
}
const AT = new Date(0).toISOString()
const OF_TASK = { taskId: 't', workflowId: 'w', taskType: 'etl', retryCount: 0 }
const WORKERS: PageParts['workers'] = {
  read: () =>
    Promise.resolve({
      asOf: new Date(0),
      isWhole: true,
      workers: [
        {
          ...{ index: 0, pid: 1, workerId: 'worker-1', state: 'silent', startedAt: AT, writtenAt: AT },
          slots: { limit: 1, taken: 1 },
          polls: [
            { taskType: 'etl', slots: 1, isHeld: true },
            { taskType: 'other', slots: 1, isHeld: false, succeededAt: AT },
          ],
          attempts: [{ ...OF_TASK, step: 'body', startedAt: AT, renewedAt: AT, leaseMs: 60_000 }],
          outages: [{ what: 'lakefs', why: 'it answers 503', since: AT }],
          files: { fetched: 1, fetchedBytes: 2, cached: 3, cachedBytes: 4, warmDirectories: 5 },
          ended: [{ ...OF_TASK, at: AT, outcome: 'failed', why: 'no rows', code: 'task/failed' }],
          oldestResultAt: AT,
        },
      ],
    }),
}
/** Nothing to recover; what is done twice has changed. */
const RECOVERIES: PageParts['recoveries'] = {
  verify: () =>
    Promise.resolve({
      ...{ holds: false, commits: 2, stopped: 'time', oldest: 'b' as CommitRef, isWhole: false },
      refuted: [{ check: 'fence-held', ref: 'a' as CommitRef, why: 'it stands elsewhere' }],
      refutedCount: 1,
      refutedOf: {
        ...{ 'one-commit-per-task': 0, 'expected-parent': 0, 'fence-held': 1 },
        ...{ 'no-claim-left': 0, 'nothing-lost': 0 },
      },
      ...{ openOutputs: 1, unknownWorkflows: ['w'], foreign: ['b' as CommitRef], foreignCount: 1 },
      withoutFence: [
        { kind: 'task', name: 'load', commits: 1, newest: 'b' as CommitRef, worker: 'worker-1' },
        { kind: 'actor', name: 'ada', commits: 1, newest: 'b' as CommitRef, worker: undefined },
      ],
    }),
  preview: () => Promise.resolve({ digest: '0'.repeat(64), branches: [] }),
  recover: (_, { digest }) =>
    digest === 'old'
      ? Promise.reject(new RefusedError('runtime/recovery-changed', 'recover: changed'))
      : Promise.resolve([]),
  close: () => Promise.resolve(),
}

/** Every answer below 500 that there is about recoveries. */
async function askAboutRecoveries(
  world: DoorWorld,
  tokens: {
    readonly eager: string
    readonly foreign: Readonly<Record<string, string>>
  },
): Promise<void> {
  const operator = await world.tokenFor('operator')
  const act = { branch: 'main', digest: 'new', action: 'restart' }
  for (const [path, body] of [
    ['/preview', { branch: 'main' }],
    ['', act],
  ] as const) {
    const ask = (token: string | undefined, more: AskRequest = {}) =>
      world.ask(`/repositories/lake/recoveries${path}`, {
        method: 'POST',
        token,
        body,
        address: '192.0.6.1',
        ...more,
      })
    await ask(operator)
    await ask(operator, { body: {} })
    await ask(operator, { body: { ...act, digest: 'old' } })
    await ask(operator, { body: `${' '.repeat(API_BODY_MAX_BYTES)}{}` })
    await ask(operator, { headers: { 'content-type': 'text/plain' } })
    await ask(tokens.eager)
    await ask(await world.tokenFor('operator', 'north'))
    await ask(undefined)
    await ask(undefined, { headers: tokens.foreign })
  }
}

/** Every answer below 500 that there is about sessions, repositories and the server itself. */
async function lookAtRepositories(): Promise<DoorWorld> {
  const { view, put } = await openLake()
  await put('a.csv', 'x')
  const world = await openWorld({
    clock: new ManualClock(),
    limits: { requestsAtOnce: 100, requestsPerSecond: 1 },
    page: {
      repositories: view,
      keys: { address: 'the-key' },
      examination: EXAMINATION,
      recoveries: RECOVERIES,
      workers: WORKERS,
    },
  })
  const [viewer, eager] = [await world.tokenFor('viewer'), await world.tokenFor('viewer')]
  const elsewhere = await world.tokenFor('viewer', 'north')
  for (let count = 0; count < 100; count++) await world.ask('/repositories/x', { token: eager })
  for (const [at, path] of REPOSITORY_REQUESTS.entries()) {
    await world.ask(path, { token: viewer })
    await world.ask(`${path}${path.includes('?') ? '&' : '?'}x=1`, { token: viewer })
    await world.ask(path, { token: elsewhere })
    await world.ask(path, { token: eager })
    await world.ask(path, { address: `192.0.4.${String(at)}` })
  }
  const own = { origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }
  const logIn = (body: unknown, headers: AskRequest['headers'] = {}) =>
    world.ask('/session', { method: 'POST', body, headers: { ...own, ...headers } })
  const cookie = async (): Promise<string> =>
    ((await logIn({ address_key: 'the-key' })).headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  await logIn({})
  await logIn({ address_key: 'the-key' }, { origin: 'http://elsewhere' })
  await logIn(`${' '.repeat(API_BODY_MAX_BYTES)}{}`)
  await logIn({ address_key: 'the-key' }, { 'content-type': 'text/plain' })
  for (const method of ['GET', 'DELETE']) {
    const headers = { ...own, cookie: await cookie() }
    await world.ask('/session', { method, headers: { cookie: headers.cookie } })
    await world.ask('/session?x=1', { method, headers })
    await world.ask('/session', { method })
    await world.ask('/session', { method, token: eager })
    await world.ask('/session', { method, headers })
  }
  await askAboutRecoveries(world, {
    eager,
    foreign: { ...own, cookie: await cookie(), origin: 'http://elsewhere' },
  })
  for (let count = 0; count < 30; count++) await logIn({ address_key: 'wrong' })
  return world
}

const WORKFLOW_REQUESTS: readonly (readonly [string, string, unknown?])[] = [
  ['GET', '/workflows'],
  ['GET', '/workflows/ID'],
  ['GET', '/workflows/ID/tasks/TASK/log'],
  ['POST', '/workflows/ID/retry'],
  ['POST', '/workflows/ID/pause'],
  ['POST', '/workflows/ID/resume'],
  ['POST', '/workflows/ID/terminate', { reason: 'enough' }],
  ['GET', '/pollers'],
]

/** Every answer below 500 that there is about workflows. */
async function lookAtWorkflows(): Promise<DoorWorld> {
  const world = await openWorld({
    clock: new ManualClock(),
    limits: { requestsAtOnce: 100, requestsPerSecond: 1 },
    hasWorkflows: true,
  })
  const [viewer, operator, eager] = [
    await world.tokenFor('viewer'),
    await world.tokenFor('operator'),
    await world.tokenFor('viewer'),
  ]
  for (let count = 0; count < 100; count++) await world.ask('/workflows', { token: eager })
  const body = { definition: PIPELINE }
  const started = await (await world.ask('/executions', { method: 'POST', token: operator, body })).json()
  const { execution_id: id } = started as { readonly execution_id: string }
  const shown = await (await world.ask(`/workflows/${id}`, { token: viewer })).json()
  const [task] = (shown as { readonly tasks: readonly { readonly id: string }[] }).tasks
  for (const [at, [method, path, given]] of WORKFLOW_REQUESTS.entries()) {
    const ask = (one: string, token?: string, more: AskRequest = {}) =>
      world.ask(path.replace('ID', one).replace('TASK', task?.id ?? ''), {
        ...{ method, token, body: given, address: `192.0.5.${String(at)}`, ...more },
      })
    await ask(id)
    await ask(id, viewer)
    await ask(id, eager)
    await ask('none', operator)
    await world.ask(`${path.replace('ID', id)}?x=1`, { method, token: operator, body: given })
    if (given !== undefined) {
      await ask(id, operator, { body: `${' '.repeat(API_BODY_MAX_BYTES)}{}` })
      await ask(id, operator, { headers: { 'content-type': 'text/plain' } })
    }
    await ask(id, operator)
  }
  // Each is asked in a state that refuses it, and `retry` in one that allows it.
  for (const what of ['pause', 'resume', 'terminate', 'retry'])
    await world.ask(`/workflows/${id}/${what}`, { method: 'POST', token: operator })
  return world
}

test('DO-16 random requests are answered by the contract, and never with a mistake of the server', async () => {
  const world = await openWorld({
    hasWorkflows: true,
    page: { examination: EXAMINATION, recoveries: RECOVERIES, workers: WORKERS },
    limits: { requestsAtOnce: 1e9, requestsPerSecond: 1e9 },
  })
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
    fc
      .tuple(
        odd,
        fc.constantFrom(
          ...['', '/pause', '/retry', '/cancel', '/units/a/complete', '/rollback', '/rollback/preview'],
          ...['/rollback/abandon', '/checkpoints', '/graph', '/shared'],
        ),
      )
      .map(([id, what]) => `/executions/${id}${what}`),
    odd.map((name) => `/pipelines/${name}`),
    odd.map((name) => `/pipelines/${name}/schedules/${name}/pause`),
    fc.constantFrom('/pipelines', '/executions', '/schedules'),
    fc.constantFrom(
      '/workflows',
      '/pollers',
      '/workers',
      '/store',
      '/examination',
      '/repositories/lake/recoveries',
      '/repositories/lake/branches/main/verification',
    ),
    odd.map((name) => `/repositories/lake/branches/${name}/verification`),
    fc
      .tuple(odd, fc.constantFrom('', '/tasks/x/log', '/pause', '/retry', '/terminate'))
      .map(([id, what]) => `/workflows/${id}${what}`),
    fc.constantFrom('/events', '/webhooks', '/', '//', '/executions', '/healthz', '/openapi.json'),
  )
  const names = [
    'status',
    'name',
    'version',
    'reason',
    'type',
    'source_type',
    'source_id',
    'from',
    'to',
    'order',
    'after',
    'limit',
    'prefix',
    'search',
    'since',
    'x',
  ]
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
  const field = fc.constantFrom(
    'pipeline',
    'definition',
    'input',
    'priority',
    'units',
    'execution_id',
    'event_type',
    'payload',
    'source',
    '__proto__',
    'x',
  )
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
