// Who is let in, and what they may do.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDoorWorld, type AskRequest, type DoorWorld } from '../../../test/support/doors/world.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { UnavailableError, UncertainError } from '../../base/errors.ts'

const opened: DoorWorld[] = []
function open(...parts: Parameters<typeof openDoorWorld>): DoorWorld {
  const world = openDoorWorld(...parts)
  opened.push(world)
  return world
}
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close()
})

const EVENTS = '/executions/exec_1/events'
const EVENT = { execution_id: 'exec_1', event_type: 'external.a.b' }

describe('tokens', () => {
  let world: DoorWorld
  beforeEach(async () => {
    world = open()
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
  })

  test('DO-01 without a good token nothing is told, not even what there is', async () => {
    const good = await world.tokenFor('admin')
    const bad: AskRequest[] = [
      {},
      { token: '' },
      { token: good.slice(0, -1) },
      { headers: { authorization: good } },
      { headers: { authorization: `Basic ${good}` } },
      { headers: { authorization: `Bearer ${good} x` } },
      { token: `perago_${'x'.repeat(12)}_${'y'.repeat(43)}` },
    ]
    const answers = new Set<string>()
    for (const path of [EVENTS, '/executions/exec_2/events', '/nowhere', '/executions']) {
      for (const request of bad) {
        // From an address of its own each, or the failures would be counted together.
        const address = `192.0.2.${String(answers.size + bad.indexOf(request))}:${path}`
        const response = await world.ask(path, { ...request, address })
        expect(response.status).toBe(401)
        expect(response.headers.get('www-authenticate')).toContain('Bearer')
        answers.add(await response.text())
      }
    }
    expect(answers.size).toBe(1)
    expect((await world.ask(EVENTS, { token: good })).status).toBe(200)
  })

  test('DO-01 a request without a token is refused before its body is read', async () => {
    const response = await world.ask('/events', { method: 'POST', body: '{"broken": ' })
    expect(response.status).toBe(401)
  })

  test('DO-03 a token sees the executions of its own tenant alone', async () => {
    const foreign = await world.tokenFor('admin', 'acme')
    for (const path of [
      EVENTS,
      `${EVENTS}/pipeline.started`,
      '/executions/exec_1/variables',
      '/executions/exec_1/follow',
    ]) {
      const response = await world.ask(path, { token: foreign })
      expect(response.status).toBe(404)
      const absent = await world.ask(path.replace('exec_1', 'exec_2'), { token: foreign })
      const text = async (answer: Response) => (await answer.text()).replaceAll('exec_2', 'exec_1')
      expect(await text(response)).toBe(await text(absent))
    }
    expect((await world.ask('/events', { method: 'POST', body: EVENT, token: foreign })).status).toBe(404)
    // Neither a path nor a parameter, a header or a field can name another.
    expect((await world.ask('/executions/acme%2Fexec_1/events', { token: foreign })).status).toBe(400)
    expect((await world.ask(`${EVENTS}?tenant=`, { token: foreign })).status).toBe(400)
    const named = { ...EVENT, tenant: 'acme' }
    const own = await world.tokenFor('operator')
    expect((await world.ask('/events', { method: 'POST', body: named, token: own })).status).toBe(400)
  })

  test.each([
    ['viewer', 200, 403],
    ['operator', 200, 201],
    ['admin', 200, 201],
  ] as const)(
    'DO-04 a token of role %s reads (%i) and publishes (%i) as far as that',
    async (role, reads, writes) => {
      const token = await world.tokenFor(role)
      expect((await world.ask(EVENTS, { token })).status).toBe(reads)
      expect((await world.ask('/executions/exec_1/variables', { token })).status).toBe(reads)
      expect((await world.ask('/events', { method: 'POST', token, body: EVENT })).status).toBe(writes)
    },
  )

  test('DO-05 a token that is revoked is refused with the next request', async () => {
    const { token, record } = await world.tokens.create({ name: 'x', role: 'viewer' })
    expect((await world.ask(EVENTS, { token })).status).toBe(200)
    await world.tokens.revoke(record.id)
    expect((await world.ask(EVENTS, { token })).status).toBe(401)
  })
})

describe('loopback', () => {
  const local = { address: '127.0.0.1', headers: { host: '127.0.0.1:8080' } }

  test('DO-06 loopback needs a token too, unless it was asked to be let in', async () => {
    const closed = open()
    expect((await closed.ask(EVENTS, local)).status).toBe(401)
    const free = open({ openLoopback: 'operator' })
    await free.core.startExecution({ id: 'exec_1', name: 'etl' })
    for (const address of ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1']) {
      expect((await free.ask(EVENTS, { ...local, address })).status).toBe(200)
    }
    expect((await free.ask('/events', { ...local, method: 'POST', body: EVENT })).status).toBe(201)
    const reading = open({ openLoopback: 'viewer' })
    await reading.core.startExecution({ id: 'exec_1', name: 'etl' })
    expect((await reading.ask('/events', { ...local, method: 'POST', body: EVENT })).status).toBe(403)
  })

  test.each<[string, AskRequest]>([
    ['another machine', { ...local, address: '192.0.2.1' }],
    ['no address at all', { ...local, address: '' }],
    ['an address that only looks like it', { ...local, address: '127.0.0.1.example.com' }],
    ['a proxy', { ...local, headers: { ...local.headers, 'x-forwarded-for': '192.0.2.1' } }],
    ['a proxy that says so', { ...local, headers: { ...local.headers, forwarded: 'for=192.0.2.1' } }],
    ['a page of a browser', { ...local, headers: { ...local.headers, origin: 'http://evil.example' } }],
    ['a name that was pointed here', { ...local, headers: { host: 'evil.example:8080' } }],
    ['a bad token', { ...local, token: 'perago_x' }],
  ])('DO-06 %s is not let in without a token', async (_, request) => {
    const world = open({ openLoopback: 'operator' })
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    expect((await world.ask(EVENTS, request)).status).toBe(401)
  })

  test.each([
    ...['X-Forwarded-Host', 'X-Forwarded-Proto', 'x-forwarded', 'CF-Ray', 'CF-Connecting-IP', 'Via'],
    ...['X-Real-IP', 'X-Original-URL', 'True-Client-IP', 'X-Client-IP', 'X-Envoy-External-Address'],
  ])('DO-76 with the header %s, which proxies add, it is not let in without a token', async (name) => {
    const world = open({ openLoopback: 'operator' })
    const headers = { ...local.headers, [name]: 'x' }
    expect((await world.ask(EVENTS, { ...local, headers })).status).toBe(401)
  })
})

describe('too many', () => {
  test('DO-09 a caller that asks too often is told when to come back, and others are served', async () => {
    const clock = new ManualClock()
    const world = open({ clock, limits: { requestsAtOnce: 3, requestsPerSecond: 1 } })
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const [token, other] = [await world.tokenFor('viewer'), await world.tokenFor('viewer')]
    const statuses = []
    for (let count = 0; count < 4; count++) statuses.push((await world.ask(EVENTS, { token })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await world.ask(EVENTS, { token })).headers.get('retry-after')).toBe('1')
    expect((await world.ask(EVENTS, { token: other })).status).toBe(200)
    await clock.advance(1_000)
    expect((await world.ask(EVENTS, { token })).status).toBe(200)
  })

  test('DO-72 an address that keeps failing is slowed, and good tokens behind the same address are served', async () => {
    const clock = new ManualClock()
    const world = open({ clock, openLoopback: 'viewer' })
    await world.core.startExecution({ id: 'exec_1', name: 'etl' })
    const good = await world.tokenFor('viewer')
    const bad = `perago_${'x'.repeat(12)}_${'y'.repeat(43)}`
    const address = '127.0.0.1'
    const statuses = []
    for (let count = 0; count < 30; count++) {
      const token = [bad, 'nonsense', ''][count % 3]
      statuses.push((await world.ask(EVENTS, { token, address })).status)
      expect((await world.ask(EVENTS, { token: good, address })).status).toBe(200)
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.at(-1)).toBe(429)
    expect((await world.ask(EVENTS, { token: bad, address })).headers.get('retry-after')).toBe('1')
    // Nor is somebody refused who needs no token.
    const headers = { host: '127.0.0.1:8080' }
    expect((await world.ask(EVENTS, { address, headers })).status).toBe(200)
    expect((await world.ask(EVENTS, { token: bad, address: '192.0.2.8' })).status).toBe(401)
    await clock.advance(1_000)
    expect((await world.ask(EVENTS, { token: bad, address })).status).toBe(401)
  })
})

describe('failures behind the door', () => {
  const failing = (error: Error) => open({ host: { executions: { open: () => Promise.reject(error) } } })

  test('DO-17 a mistake of the server says nothing of its inside', async () => {
    const world = failing(new Error('secret stack of /home/ada'))
    const response = await world.ask(EVENTS, { token: await world.tokenFor('viewer') })
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({
      error: {
        kind: 'defect',
        code: 'base/unexpected',
        message: 'internal error; see the log of the server',
      },
    })
  })

  test('DO-17 what is unavailable or uncertain is told as such, and causes are not told', async () => {
    const cause = new Error('connect ECONNREFUSED 10.0.0.7')
    const away = failing(
      new UnavailableError('stores/away', 'read the store: no answer', { cause, retryAfterMs: 1_500 }),
    )
    const first = await away.ask(EVENTS, { token: await away.tokenFor('viewer') })
    expect([first.status, first.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await first.text()).not.toContain('10.0.0.7')
    const lost = failing(
      new UncertainError('stores/lost', 'write: the answer was lost', { read: 'the log', cause }),
    )
    const token = await lost.tokenFor('operator')
    const second = await lost.ask('/events', { method: 'POST', body: EVENT, token })
    expect(second.status).toBe(504)
    expect(await second.json()).toMatchObject({ error: { kind: 'uncertain', read: 'the log' } })
  })
})
