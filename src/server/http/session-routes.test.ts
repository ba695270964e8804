// Sessions of a page in a browser: how they are opened, what they accompany, and how they end.
import { afterEach, expect, test } from 'vitest'
import { openDoorWorld, type AskRequest, type DoorWorld } from '../../../test/support/doors/world.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { readSessionCookie, setSessionCookie } from '../access/session-cookie.ts'
import { API_FAILURES_AT_ONCE, SESSION_LIFETIME_MS, SESSIONS_MAX } from '../limits.ts'

const LAKEFS = { accessKeyId: 'AKIAPAGE', secretAccessKey: 'a-secret-of-lakefs' }
const PAGE = { keys: { address: 'the-key-of-the-address', lakefs: LAKEFS } }
/** What a browser adds to a request of a page of the same server. */
const OWN = { origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }

const opened: DoorWorld[] = []
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close()
})

function openWorld(...parts: Parameters<typeof openDoorWorld>): DoorWorld {
  const world = openDoorWorld({ page: PAGE, ...parts[0] })
  opened.push(world)
  return world
}

function logIn(world: DoorWorld, body: unknown, headers: AskRequest['headers'] = OWN): Promise<Response> {
  return world.ask('/session', { method: 'POST', headers, body })
}

async function cookieOf(response: Response): Promise<string> {
  await response.body?.cancel()
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

test.each([
  ['a token', async (world: DoorWorld) => ({ token: await world.tokenFor('viewer') })],
  ['the key of the address', () => ({ address_key: PAGE.keys.address })],
  [
    'a key of lakeFS',
    () => ({ access_key_id: LAKEFS.accessKeyId, secret_access_key: LAKEFS.secretAccessKey }),
  ],
])('DO-120 %s opens a session whose cookie scripts and other sites never get', async (_, give) => {
  const world = openWorld()
  const response = await logIn(world, await give(world))
  expect(response.status).toBe(200)
  expect(response.headers.get('set-cookie')).toMatch(
    /^perago_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=/,
  )
  const cookie = await cookieOf(response)
  expect((await world.ask('/session', { headers: { cookie } })).status).toBe(200)
})

test.each([
  ['a wrong token', { token: 'perago_x' }],
  ['a wrong key of an address', { address_key: 'another' }],
  ['a wrong secret of lakeFS', { access_key_id: LAKEFS.accessKeyId, secret_access_key: 'another' }],
])('DO-120 %s opens none, and is slowed down like a wrong token', async (_, body) => {
  const world = openWorld({ clock: new ManualClock() })
  for (let count = 0; count < API_FAILURES_AT_ONCE; count++) {
    expect((await logIn(world, body)).status).toBe(401)
  }
  expect((await logIn(world, body)).status).toBe(429)
})

test('DO-164 servers beside each other on one host keep their sessions apart', () => {
  const at = (port: number) => `http://127.0.0.1:${String(port)}/session`
  const url = at(8090)
  const made = setSessionCookie({ id: 'a'.repeat(43), endsAt: new Date(0) }, url)
  const headers = new Headers({ cookie: made.split(';', 1)[0] ?? '' })
  expect(readSessionCookie({ headers, url })).toBe('a'.repeat(43))
  expect(readSessionCookie({ headers, url: at(8091) })).toBe(undefined)
  expect(readSessionCookie({ headers, url: 'http://127.0.0.1/session' })).toBe(undefined)
})

test('DO-120 a server without such keys takes none, not even empty ones', async () => {
  const world = openWorld({ page: {} })
  expect((await logIn(world, { address_key: 'undefined' })).status).toBe(401)
  expect((await logIn(world, { access_key_id: 'undefined', secret_access_key: 'undefined' })).status).toBe(
    401,
  )
  expect((await logIn(world, { address_key: '' })).status).toBe(400)
  expect((await logIn(world, { access_key_id: 'half' })).status).toBe(400)
})

test('DO-121 a session ends with its time, with its token, and when it is closed', async () => {
  const clock = new ManualClock()
  const world = openWorld({ clock })
  const { token, record } = await world.tokens.create({ name: 'page', role: 'viewer' })
  const statusWith = async (cookie: string) => (await world.ask('/session', { headers: { cookie } })).status
  const late = await cookieOf(await logIn(world, { address_key: PAGE.keys.address }))
  expect(await statusWith(late)).toBe(200)
  await clock.advance(SESSION_LIFETIME_MS)
  expect(await statusWith(late)).toBe(401)

  const revoked = await cookieOf(await logIn(world, { token }))
  expect(await statusWith(revoked)).toBe(200)
  await world.tokens.revoke(record.id)
  expect(await statusWith(revoked)).toBe(401)

  const closed = await cookieOf(await logIn(world, { address_key: PAGE.keys.address }))
  const end = await world.ask('/session', { method: 'DELETE', headers: { cookie: closed, ...OWN } })
  expect([end.status, end.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')])
  expect(await statusWith(closed)).toBe(401)
})

test('DO-121 there are only so many sessions: the one that was used longest ago ends', async () => {
  const world = openWorld({ limits: { requestsAtOnce: 1e9 } })
  const body = { address_key: PAGE.keys.address }
  const [first, second] = [await cookieOf(await logIn(world, body)), await cookieOf(await logIn(world, body))]
  for (let count = 2; count < SESSIONS_MAX; count++) await logIn(world, body)
  await world.ask('/session', { headers: { cookie: first } })
  await logIn(world, body)
  expect((await world.ask('/session', { headers: { cookie: second } })).status).toBe(401)
  expect((await world.ask('/session', { headers: { cookie: first } })).status).toBe(200)
})

test.each([
  ['another origin', { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['another port of this machine', { origin: 'http://localhost:9', 'sec-fetch-site': 'same-site' }],
  ['no origin', {}],
])('DO-122 a request with a cookie that changes something is refused from %s', async (_, headers) => {
  const world = openWorld()
  const cookie = await cookieOf(await logIn(world, { address_key: PAGE.keys.address }))
  const event = { execution_id: 'exec_1', event_type: 'external.a.b' }
  const foreign = await world.ask('/events', { method: 'POST', headers: { cookie, ...headers }, body: event })
  expect(foreign.status).toBe(403)
  const own = await world.ask('/events', { method: 'POST', headers: { cookie, ...OWN }, body: event })
  expect(own.status).toBe(404)
  expect((await logIn(world, { address_key: PAGE.keys.address }, headers)).status).toBe(403)
})

test('DO-122 a session may what its token may, and sees its tenant only', async () => {
  const world = openWorld()
  const token = await world.tokenFor('viewer', 'north')
  const response = await logIn(world, { token })
  expect(await response.clone().json()).toMatchObject({
    role: 'viewer',
    tenant: 'north',
    shows: ['executions'],
  })
  const headers = { cookie: await cookieOf(response), ...OWN }
  const event = { execution_id: 'exec_1', event_type: 'external.a.b' }
  expect((await world.ask('/events', { method: 'POST', headers, body: event })).status).toBe(403)
  expect((await world.ask('/repositories', { headers })).status).toBe(404)
})
