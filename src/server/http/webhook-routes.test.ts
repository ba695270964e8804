// Webhooks over HTTP, without a socket. Every answer is held to the contract by the world itself.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  giveUpDelivery,
  openDoorWorld,
  type AskRequest,
  type DoorWorld,
} from '../../../test/support/doors/world.ts'
import { WEBHOOKS_PER_TENANT_MAX, WEBHOOK_URL_MAX_CHARS } from '../../webhooks/limits.ts'

let world: DoorWorld
let token: string

beforeEach(async () => {
  world = openDoorWorld({ limits: { requestsAtOnce: 1e9, requestsPerSecond: 1e9 } })
  token = await world.tokenFor('operator')
})
afterEach(() => world.close())

const WANTED = { url: 'https://example.com/hook', types: ['pipeline.completed', '*.failed'] }

interface Shown {
  readonly id: string
  readonly secret?: string
}

function post(path: string, body?: unknown, request: AskRequest = {}): Promise<Response> {
  return world.ask(path, { method: 'POST', token, ...(body === undefined ? {} : { body }), ...request })
}

async function add(body: unknown = WANTED, request: AskRequest = {}): Promise<Shown & { secret: string }> {
  const response = await post('/webhooks', body, request)
  expect(response.status).toBe(201)
  return (await response.json()) as Shown & { secret: string }
}

async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: { code: string } }).error.code
}

async function list(as = token): Promise<readonly Shown[]> {
  const response = await world.ask('/webhooks', { token: as })
  return ((await response.json()) as { webhooks: readonly Shown[] }).webhooks
}

describe('adding, showing and removing', () => {
  test('DO-29 a webhook is added, shown, listed and removed', async () => {
    const { secret, ...added } = await add({ ...WANTED, retry: { attempts: 3 } })
    expect(added).toMatchObject({ ...WANTED, retry: { attempts: 3, first_delay_ms: 5_000 } })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const shown = await world.ask(`/webhooks/${added.id}`, { token })
    expect(await shown.json()).toEqual(added)
    expect(await list()).toEqual([added])
    const removed = await world.ask(`/webhooks/${added.id}`, { method: 'DELETE', token })
    expect([removed.status, await removed.text()]).toEqual([204, ''])
    expect(await list()).toEqual([])
    const again = await world.ask(`/webhooks/${added.id}`, { method: 'DELETE', token })
    expect([again.status, await codeOf(again)]).toEqual([404, 'api/no-such-webhook'])
  })

  test('DO-29 the secret is told once, by the answer that made it and by no other', async () => {
    const { id, secret } = await add(WANTED, { headers: { 'idempotency-key': 'k1' } })
    const dead = await giveUpDelivery(world, id)
    const texts = [
      await (await world.ask('/webhooks', { token })).text(),
      await (await world.ask(`/webhooks/${id}`, { token })).text(),
      await (await post('/webhooks', WANTED, { headers: { 'idempotency-key': 'k1' } })).text(),
      await (await world.ask(`/webhooks/${id}/dead-deliveries`, { token })).text(),
    ]
    for (const text of texts) expect(text).toContain(id)
    expect(texts.filter((text) => text.includes(secret))).toEqual([])
    expect(texts.at(-1)).toContain(dead)
  })

  test('DO-29 under one idempotency key there is one webhook, however often it is sent', async () => {
    const key = { headers: { 'idempotency-key': 'k1' } }
    const both = await Promise.all([post('/webhooks', WANTED, key), post('/webhooks', WANTED, key)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 201])
    expect((await post('/webhooks', WANTED, key)).status).toBe(200)
    expect(await list()).toHaveLength(1)
    const other = await post('/webhooks', { ...WANTED, types: ['a.b'] }, key)
    expect([other.status, await codeOf(other)]).toEqual([409, 'api/idempotency-conflict'])
    // The key of another tenant is another key.
    const foreign = await world.tokenFor('operator', 'acme')
    await add(WANTED, { ...key, token: foreign })
    await add()
    expect([(await list()).length, (await list(foreign)).length]).toEqual([2, 1])
    for (const bad of ['', 'k'.repeat(257), 'a b', 'é']) {
      const response = await post('/webhooks', WANTED, { headers: { 'idempotency-key': bad } })
      expect([bad, response.status]).toEqual([bad, 400])
    }
  })

  test.each<[string, unknown, string]>([
    ['no address', { types: ['a.b'] }, 'api/missing-field'],
    ['no types', { url: WANTED.url }, 'api/missing-field'],
    ['a list', [WANTED], 'api/wrong-type'],
    ['a number as address', { ...WANTED, url: 7 }, 'api/wrong-type'],
    ['a text as types', { ...WANTED, types: 'a.b' }, 'api/wrong-type'],
    ['a number among the types', { ...WANTED, types: ['a.b', 7] }, 'api/wrong-type'],
    ['no type at all', { ...WANTED, types: [] }, 'api/bad-webhook'],
    ['a bad pattern', { ...WANTED, types: ['a..b'] }, 'core/bad-type-pattern'],
    ['another scheme', { ...WANTED, url: 'ftp://example.com' }, 'api/bad-webhook'],
    ['credentials', { ...WANTED, url: 'https://ada:x@example.com' }, 'api/bad-webhook'],
    [
      'a long address',
      { ...WANTED, url: `https://example.com/${'x'.repeat(WEBHOOK_URL_MAX_CHARS)}` },
      'api/bad-webhook',
    ],
    ['an own secret', { ...WANTED, secret: 'x' }, 'api/unknown-field'],
    ['a tenant', { ...WANTED, tenant: 'acme' }, 'api/unknown-field'],
    ['a number as retry', { ...WANTED, retry: 3 }, 'api/wrong-type'],
    ['null as retry', { ...WANTED, retry: null }, 'api/wrong-type'],
    ['no tries', { ...WANTED, retry: { attempts: 0 } }, 'api/bad-webhook'],
    ['half a try', { ...WANTED, retry: { attempts: 1.5 } }, 'api/bad-webhook'],
    ['a delay of two hours', { ...WANTED, retry: { first_delay_ms: 7_200_000 } }, 'api/bad-webhook'],
    ['half a millisecond', { ...WANTED, retry: { first_delay_ms: 0.5 } }, 'api/bad-webhook'],
    ['an unknown field of retry', { ...WANTED, retry: { tries: 3 } }, 'api/unknown-field'],
  ])('DO-29 DO-26 a webhook with %s is refused, and nothing is added', async (_, body, code) => {
    const response = await post('/webhooks', body)
    expect([response.status, await codeOf(response)]).toEqual([400, code])
    expect(await list()).toEqual([])
  })

  test.each([
    ...['http://127.0.0.1/', 'http://localhost:8080/', 'http://a.localhost/', 'http://LOCALHOST./'],
    ...[
      'http://[::1]/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://10.1.2.3/',
      'http://[::ffff:7f00:1]/',
    ],
    ...['https://169.254.169.254/latest', 'http://192.168.1.1/', 'http://[fd00::1]/', 'http://0/'],
  ])('DO-29 DO-27 the private address %s is refused, unless that is allowed', async (url) => {
    const response = await post('/webhooks', { ...WANTED, url })
    expect([response.status, await codeOf(response)]).toEqual([400, 'server/private-address'])
    expect(await list()).toEqual([])
    const open = openDoorWorld({}, { allowPrivate: true })
    const allowed = await open.ask('/webhooks', {
      method: 'POST',
      token: await open.tokenFor('operator'),
      body: { ...WANTED, url },
    })
    expect(allowed.status).toBe(201)
    await open.close()
  })

  test('DO-29 a tenant has so many webhooks and no more, also when many are added at the same time', async () => {
    for (let count = 0; count < WEBHOOKS_PER_TENANT_MAX - 3; count++) await add()
    const results = await Promise.all(Array.from({ length: 10 }, () => post('/webhooks', WANTED)))
    // Who is refused may come again; what must not be is one too many.
    for (const { status } of results) expect([201, 409]).toContain(status)
    expect((await list()).length).toBeLessThanOrEqual(WEBHOOKS_PER_TENANT_MAX)
    while ((await list()).length < WEBHOOKS_PER_TENANT_MAX) await add()
    const further = await post('/webhooks', WANTED)
    expect([further.status, await codeOf(further)]).toEqual([409, 'api/too-many-webhooks'])
  })
})

describe('dead deliveries', () => {
  test('DO-29 what was given up is listed by page, and tells why', async () => {
    const { id } = await add()
    const ids: string[] = []
    for (const event of ['evt_a', 'evt_b', 'evt_c']) ids.push(await giveUpDelivery(world, id, event))
    const page = async (query: string) =>
      (await (await world.ask(`/webhooks/${id}/dead-deliveries${query}`, { token })).json()) as {
        deliveries: readonly Shown[]
        next_after?: string
      }
    expect(await page('?limit=2')).toEqual({
      deliveries: ids.slice(0, 2).map((delivery) => ({
        id: delivery,
        execution_id: 'exec_1',
        event_type: 'a.completed',
        attempts: 1,
        last_problem: 'it answered 500',
        gave_up_at: '1970-01-01T00:00:01.000Z',
      })),
      next_after: ids[1],
    })
    const rest = await page(`?limit=2&after=${ids[1] ?? ''}`)
    expect([rest.deliveries.map((one) => one.id), rest.next_after]).toEqual([[ids[2]], undefined])
    // Any id is a place in the order.
    expect((await page('?after=a')).deliveries).toHaveLength(id < 'a' ? 0 : 3)
    expect((await page('?after=zz')).deliveries).toEqual([])
    for (const query of ['?limit=0', '?limit=1001', '?after=', '?after=a%3Ab', '?page=2']) {
      const response = await world.ask(`/webhooks/${id}/dead-deliveries${query}`, { token })
      expect([query, response.status]).toEqual([query, 400])
    }
  })

  test('DO-29 a dead delivery begins anew, alone or with all others, and is not dead any more', async () => {
    const { id } = await add()
    const other = await add()
    const ids: string[] = []
    for (const event of ['evt_a', 'evt_b', 'evt_c']) ids.push(await giveUpDelivery(world, id, event))
    const foreign = await giveUpDelivery(world, other.id)
    const redeliver = (delivery: string) => post(`/webhooks/${id}/dead-deliveries/${delivery}/redeliver`)
    expect((await redeliver(ids[0] ?? '')).status).toBe(204)
    expect((await world.deliveries.next(id, 10)).map((one) => [one.id, one.attempts])).toEqual([[ids[0], 0]])
    const again = await redeliver(ids[0] ?? '')
    expect([again.status, await codeOf(again)]).toEqual([404, 'api/no-such-delivery'])
    for (const none of [foreign, 'nothing', 'a%3Ab']) expect((await redeliver(none)).status).toBe(404)
    const all = await post(`/webhooks/${id}/redeliver`)
    expect(await all.json()).toEqual({ redelivered: 2, more: false })
    expect((await world.deliveries.next(id, 10)).map((one) => one.id).sort()).toEqual([...ids].sort())
    expect(await (await post(`/webhooks/${id}/redeliver`)).json()).toEqual({ redelivered: 0, more: false })
    expect((await world.deliveries.dead(other.id, { limit: 10 })).deliveries).toHaveLength(1)
  })
})

describe('who may', () => {
  const ROUTES: readonly (readonly [string, string])[] = [
    ['GET', '/webhooks'],
    ['POST', '/webhooks'],
    ['GET', '/webhooks/ID'],
    ['GET', '/webhooks/ID/dead-deliveries'],
    ['POST', '/webhooks/ID/dead-deliveries/ID-evt_1/redeliver'],
    ['POST', '/webhooks/ID/redeliver'],
    ['DELETE', '/webhooks/ID'],
  ]
  const ask = (method: string, path: string, request: AskRequest) =>
    world.ask(path, {
      method,
      ...(path === '/webhooks' && method === 'POST' ? { body: WANTED } : {}),
      ...request,
    })

  test.each(ROUTES)(
    'E-89 DO-04 %s %s is for operators and admins, and not for viewers',
    async (method, path) => {
      const { id } = await add()
      await giveUpDelivery(world, id)
      const [viewer, admin] = [await world.tokenFor('viewer'), await world.tokenFor('admin')]
      const where = path.replaceAll('ID', id)
      const refused = await ask(method, where, { token: viewer })
      expect([refused.status, await codeOf(refused)]).toEqual([403, 'api/forbidden'])
      expect((await ask(method, where, {})).status).toBe(401)
      expect((await ask(method, where, { token: admin })).status).toBeLessThan(300)
    },
  )

  test.each(ROUTES.filter(([, path]) => path.includes('ID')))(
    'DO-29 DO-03 %s %s finds no webhook of another tenant',
    async (method, path) => {
      const { id } = await add()
      const dead = await giveUpDelivery(world, id)
      const foreign = await world.tokenFor('admin', 'acme')
      const refused = await ask(method, path.replaceAll('ID', id), { token: foreign })
      expect([refused.status, await codeOf(refused)]).toEqual([404, 'api/no-such-webhook'])
      expect(await list(foreign)).toEqual([])
      expect((await list()).map((one) => one.id)).toEqual([id])
      expect((await world.deliveries.dead(id, { limit: 10 })).deliveries.map((one) => one.id)).toEqual([dead])
    },
  )

  test('DO-29 DO-19 a method that a route does not accept is answered 405 with those that it accepts', async () => {
    const response = await world.ask('/webhooks/wh_1', { method: 'PUT', token })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD'])
    expect((await world.ask('/webhooks/wh_1/dead-deliveries/x', { token })).status).toBe(404)
    const body = await world.ask('/webhooks?limit=1', { token })
    expect([body.status, await codeOf(body)]).toEqual([400, 'api/bad-parameter'])
  })
})
