// Executions over HTTP. Every answer is held to the contract by the world itself.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openDoorWorld, type AskRequest, type DoorWorld } from '../../../test/support/doors/world.ts'
import { graph, task } from '../../../test/support/rules-world.ts'
import type { Engine } from '../../engine/host/open-engine.ts'
import { compileDocument } from '../../engine/definitions/compile-document.ts'
import type { TaskRecord } from '../../worker/ports.ts'
import { API_RESULTS_MAX_BYTES } from '../limits.ts'

vi.mock(import('../../engine/definitions/compile-document.ts'), async (original) => {
  const real = await original()
  return { ...real, compileDocument: vi.fn(real.compileDocument) }
})

const DAILY = { name: 'daily', units: { a: { task: 't' }, b: { task: 't', after: ['a'] } } }
const SIGNED = {
  name: 'signed',
  units: { sign: { human: {} }, rest: { wait: { for: '1h' }, after: ['sign'] } },
}

let world: DoorWorld
let token: string
beforeEach(async () => {
  world = openDoorWorld()
  token = await world.tokenFor('operator')
})
afterEach(() => world.close())

interface Shown {
  readonly execution_id: string
  readonly status: string
  readonly plan_units: readonly { readonly id: string; readonly status: string; readonly attempts: number }[]
  readonly [field: string]: unknown
}

async function ask(path: string, request: AskRequest = {}): Promise<{ status: number; body: Shown }> {
  const response = await world.ask(path, { token, ...request })
  return { status: response.status, body: (await response.json()) as Shown }
}

function post(path: string, body?: unknown, more: AskRequest = {}): Promise<{ status: number; body: Shown }> {
  return ask(path, { method: 'POST', body, ...more })
}

async function start(body: unknown, more: AskRequest = {}): Promise<string> {
  const { status, body: started } = await post('/executions', body, more)
  expect(status).toBe(201)
  return started.execution_id
}

async function engineOf(tenant?: string): Promise<Engine> {
  return world.host.engines!.of(tenant)
}

/** Does what there is to do, as a worker. */
async function work(
  result: (task: TaskRecord) => object = () => ({}),
  taskType = 't',
): Promise<readonly string[]> {
  const { queue } = await engineOf()
  const tasks = await queue.poll({ taskType, workerId: 'w', count: 10, waitMs: 0 })
  for (const task of tasks) {
    const { taskId, workflowId, workerId } = task
    const output = result(task) as Record<string, never>
    await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output })
  }
  return tasks.map(({ referenceTaskName }) => referenceTaskName)
}

describe('starting', () => {
  test('X-103 X-89 what is submitted has an id that the status route knows at once', async () => {
    const { status, body } = await post('/executions', { definition: DAILY, input: { day: '2026-01-16' } })
    expect([status, body['name'], body['version'], body['paused']]).toEqual([201, 'daily', 1, false])
    const read = await ask(`/executions/${body.execution_id}`)
    expect(read.body).toMatchObject({
      ...{ execution_id: body.execution_id, status: 'EXECUTING', phase: 'layer-1', run: 1, attempt: 1 },
      input: { day: '2026-01-16' },
      plan_units: [
        { id: 'a', status: 'PENDING', attempts: 1 },
        { id: 'b', status: 'PENDING', attempts: 0 },
      ],
      metrics: { tasks_total: 2, tasks_completed: 0, tasks_failed: 0 },
    })
    const events = await world.ask(`/executions/${body.execution_id}/events`, { token })
    expect(await events.json()).toMatchObject({ events: [{ type: 'pipeline.started' }] })
    const variable = await world.ask(`/executions/${body.execution_id}/variables/pipeline.input.day`, {
      token,
    })
    expect(await variable.json()).toMatchObject({ value: '2026-01-16' })
  })

  test('X-77 the raw definition is given to the parser, and the graph that it returns is run', async () => {
    vi.mocked(compileDocument).mockClear()
    const id = await start({ definition: DAILY })
    expect(vi.mocked(compileDocument).mock.calls.map(([document]) => document)).toEqual([DAILY])
    const parsed = vi.mocked(compileDocument).mock.results[0]?.value as ReturnType<typeof compileDocument>
    expect(parsed.graph?.units.map(({ taskReferenceName }) => taskReferenceName)).toEqual(['a', 'b'])
    const execution = await (await engineOf()).reader.read(id as never)
    expect(execution?.graph).toEqual(parsed.graph)
  })

  test('EN-700 a registered pipeline is started by name, in its latest version or another', async () => {
    await post('/pipelines', DAILY)
    await post('/pipelines', { ...DAILY, version: 2, units: { only: { task: 't' } } })
    const units = async (body: object) => {
      const read = await ask(`/executions/${await start(body)}`)
      return read.body.plan_units.map(({ id }) => id)
    }
    expect(await units({ pipeline: 'daily' })).toEqual(['only'])
    expect(await units({ pipeline: 'daily', version: 1 })).toEqual(['a', 'b'])
    const missing = await post('/executions', { pipeline: 'daily', version: 3 })
    expect([missing.status, missing.body]).toMatchObject([
      404,
      { error: { code: 'engine/no-such-definition' } },
    ])
  })

  test('EN-701 a start that is sent again with its key starts once; the key is for nothing else', async () => {
    const keyed = { headers: { 'idempotency-key': 'daily-2026-01-16' } }
    await post('/pipelines', DAILY)
    const id = await start({ pipeline: 'daily', input: { day: 1 } }, keyed)
    // Whatever was registered meanwhile: it is the same request.
    await post('/pipelines', { ...DAILY, version: 2 })
    const again = await post('/executions', { pipeline: 'daily', input: { day: 1 } }, keyed)
    expect([again.status, again.body.execution_id, again.body['version']]).toEqual([200, id, 1])
    const other = await post('/executions', { pipeline: 'daily', input: { day: 2 } }, keyed)
    expect([other.status, other.body]).toMatchObject([
      409,
      { error: { code: 'engine/idempotency-conflict' } },
    ])
    const { body } = await ask('/executions')
    expect(body['executions']).toHaveLength(1)
    await (await engineOf()).control.remove(id as never)
    expect((await post('/executions', { pipeline: 'daily', input: { day: 1 } }, keyed)).status).toBe(409)
  })

  test('EN-701 of many starts at once with one key one starts', async () => {
    const keyed = { headers: { 'idempotency-key': 'k' } }
    const sent = await Promise.all(
      Array.from({ length: 8 }, () => post('/executions', { definition: DAILY }, keyed)),
    )
    expect(new Set(sent.map(({ body }) => body.execution_id)).size).toBe(1)
    expect(sent.map(({ status }) => status).sort()).toEqual([...Array<number>(7).fill(200), 201])
  })

  test.each<[string, unknown, number, string]>([
    ['nothing', {}, 400, 'api/missing-field'],
    ['both', { pipeline: 'daily', definition: DAILY }, 400, 'api/missing-field'],
    ['a version of a definition', { definition: DAILY, version: 1 }, 400, 'api/missing-field'],
    ['an unknown field', { pipeline: 'daily', inputs: {} }, 400, 'api/unknown-field'],
    ['a priority of 100', { definition: DAILY, priority: 100 }, 400, 'api/wrong-type'],
    ['half a version', { pipeline: 'daily', version: 0.5 }, 400, 'api/wrong-type'],
    ['a list as input', { definition: DAILY, input: [] }, 400, 'api/wrong-type'],
    ['a pipeline without units', { definition: { name: 'x', units: {} } }, 400, 'engine/bad-pipeline'],
    [
      'an input too large',
      { definition: DAILY, input: { x: 'x'.repeat(5_300_000) } },
      413,
      'conductor/payload-too-large',
    ],
    ['a body too large', ' '.repeat(6_300_000), 413, 'api/body-too-large'],
  ])('EN-702 %s is refused, and nothing is started', async (_, body, status, code) => {
    const answer = await post('/executions', body)
    expect([answer.status, answer.body]).toMatchObject([status, { error: { code } }])
    expect((await ask('/executions')).body['executions']).toEqual([])
  })

  test('EN-702 everything that is wrong in a pipeline is named with its path', async () => {
    const wrong = { name: 'x', units: { a: { task: 't', aftr: [] }, b: { task: 't', after: ['c'] } } }
    const { body } = await post('/executions', { definition: wrong })
    const { details } = body['error'] as { details: { problems: { path: string; problem: string }[] } }
    expect(details.problems[0]).toMatchObject({
      path: expect.stringContaining('definition.units.a') as string,
    })
    expect(details.problems[0]?.problem).toContain('did you mean "after"?')
  })
})

describe('listing', () => {
  test("EN-703 one's own are listed, the newest first, by name and stage, page by page", async () => {
    const ids: string[] = []
    for (const definition of [DAILY, SIGNED, DAILY, DAILY]) {
      ids.unshift(await start({ definition }))
      // Those of one millisecond are in any order.
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await post(`/executions/${ids[0]!}/cancel`)
    const list = async (query: string) => {
      const { body } = await ask(`/executions${query}`)
      const found = body['executions'] as readonly Shown[]
      return { ids: found.map(({ execution_id: id }) => id), next: body['next_after'] as string | undefined }
    }
    expect(await list('')).toEqual({ ids, next: undefined })
    expect((await list('?name=signed')).ids).toEqual([ids[2]])
    expect((await list('?status=CANCELLED')).ids).toEqual([ids[0]])
    expect((await list('?status=CANCELLED&status=EXECUTING')).ids).toEqual(ids)
    const first = await list('?limit=1&name=daily')
    expect(first.ids).toEqual([ids[0]])
    const second = await list(`?limit=1&name=daily&after=${first.next!}`)
    expect(second.ids).toEqual([ids[1]])
    const third = await list(`?limit=2&name=daily&after=${second.next!}`)
    expect(third).toEqual({ ids: [ids[3]], next: undefined })
    for (const query of ['?after=x', '?status=RUNNING', '?limit=0', '?name=', '?page=1'])
      expect((await ask(`/executions${query}`)).status).toBe(400)
  })
})

describe('control', () => {
  test('EN-704 an execution is paused, resumed, cancelled and retried, each as its state allows', async () => {
    const id = await start({ definition: DAILY })
    const act = async (what: string) => {
      const { status, body } = await post(`/executions/${id}/${what}`)
      return [status, body.status, body['paused']]
    }
    expect(await act('pause')).toEqual([200, 'EXECUTING', true])
    expect(await act('pause')).toEqual([200, 'EXECUTING', true])
    expect(await act('resume')).toEqual([200, 'EXECUTING', false])
    expect((await act('resume'))[0]).toBe(409)
    expect((await act('retry'))[0]).toBe(409)
    expect(await act('cancel?reason=too%20late')).toEqual([200, 'CANCELLED', false])
    expect((await act('cancel'))[1]).toBe('CANCELLED')
    expect((await ask(`/executions/${id}`)).body['reason']).toBe('too late')
    expect(await act('retry')).toEqual([200, 'EXECUTING', false])
    expect([await work(), await work()]).toEqual([['a'], ['b']])
    expect((await act('cancel'))[0]).toBe(409)
    expect((await ask(`/executions/${id}`)).body).toMatchObject({ status: 'COMMIT', run: 2 })
  })

  test('EN-705 a unit that waits for somebody is completed from outside, a task is not', async () => {
    const id = await start({ definition: SIGNED })
    const complete = (unit: string, body: object = {}) =>
      post(`/executions/${id}/units/${unit}/complete`, body)
    expect((await complete('rest')).status).toBe(409)
    expect((await complete('nobody')).status).toBe(409)
    expect((await complete('sign', { output: { by: 'ada' } })).status).toBe(200)
    // The answer may have been lost.
    expect((await complete('sign', { output: { by: 'ada' } })).status).toBe(200)
    expect((await complete('sign', { status: 'FAILED' })).status).toBe(409)
    const { body } = await complete('rest')
    expect(body.status).toBe('COMMIT')
    const read = await ask(`/executions/${id}`)
    expect(read.body.plan_units[0]).toMatchObject({ status: 'COMPLETED', result: { by: 'ada' } })
    const daily = await start({ definition: DAILY })
    const refused = await post(`/executions/${daily}/units/a/complete`, {})
    expect([refused.status, refused.body]).toMatchObject([409, { error: { code: 'engine/refused' } }])
  })

  test('EN-705 what waits for an event goes on when the event is posted', async () => {
    const definition = { name: 'x', units: { ok: { wait: { events: ['external.approval.given'] } } } }
    const id = await start({ definition })
    await post('/events', { execution_id: id, event_type: 'external.approval.given' })
    const { body } = await ask(`/executions/${id}/wait?timeout_ms=20000`)
    expect(body).toMatchObject({ ended: true, execution: { status: 'COMMIT' } })
  })
})

describe('waiting', () => {
  const verified = graph([task('a', [], { undo: { name: 'u' }, name: 't' })], {
    ...{ name: 'verified', outputParameters: { n: '${a.output.n}' } },
    policy: { onFailure: 'rollback', attempts: 1, verify: { expression: 'a.n == 1' } },
  })

  test('X-110 results that pass: COMMIT is stored, and the client that waits is told of success', async () => {
    await (await engineOf()).control.registerGraph(verified)
    const id = await start({ pipeline: 'verified' })
    const waited = ask(`/executions/${id}/wait`)
    expect(await work(() => ({ n: 1 }))).toEqual(['a'])
    const { body } = await waited
    expect(body).toMatchObject({ ended: true, execution: { status: 'COMMIT', output: { n: 1 } } })
    expect(await (await engineOf()).reader.read(id as never)).toMatchObject({ stage: 'COMMIT' })
  })

  test('X-111 results that fail: every unit is rolled back, and the client that waits is told of failure', async () => {
    await (await engineOf()).control.registerGraph(verified)
    const id = await start({ pipeline: 'verified' })
    const waited = ask(`/executions/${id}/wait`)
    await work(() => ({ n: 2 }))
    expect(await work(() => ({}), 'u')).toEqual(['a__undo'])
    const { body } = await waited
    expect(body).toMatchObject({
      ended: true,
      execution: {
        ...{ status: 'FAILED', reason: expect.stringContaining('verification failed') as string },
        plan_units: [{ id: 'a', status: 'ROLLED_BACK' }],
      },
    })
  })

  test('EN-706 a wait ends when its time is over, when the server closes, and for what is not there', async () => {
    const id = await start({ definition: DAILY })
    expect((await ask(`/executions/${id}/wait?timeout_ms=0`)).body['ended']).toBe(false)
    expect((await ask(`/executions/${id}/wait?timeout_ms=30`)).body['ended']).toBe(false)
    expect((await ask('/executions/none/wait')).status).toBe(404)
    expect((await ask(`/executions/${id}/wait?timeout_ms=60001`)).status).toBe(400)
    const closing = new AbortController()
    const closed = openDoorWorld({ closing: closing.signal, host: { engines: world.host.engines } })
    const operator = await closed.tokenFor('operator')
    const waited = closed.ask(`/executions/${id}/wait`, { token: operator })
    await new Promise((resolve) => setTimeout(resolve, 20))
    closing.abort()
    expect(await (await waited).json()).toMatchObject({ ended: false })
    await closed.close()
  })
})

describe('tenants and roles', () => {
  test('EN-707 nobody sees or controls an execution or a pipeline of another tenant', async () => {
    await post('/pipelines', DAILY)
    const id = await start({ pipeline: 'daily' })
    const foreign = { token: await world.tokenFor('admin', 'acme') }
    expect((await ask('/executions', foreign)).body['executions']).toEqual([])
    expect((await ask('/pipelines', foreign)).body['pipelines']).toEqual([])
    expect((await ask('/pipelines/daily', foreign)).status).toBe(404)
    expect((await post('/executions', { pipeline: 'daily' }, foreign)).status).toBe(404)
    expect((await ask(`/executions/${id}`, foreign)).status).toBe(404)
    expect((await ask(`/executions/${id}/wait`, foreign)).status).toBe(404)
    for (const act of ['pause', 'resume', 'cancel', 'retry'])
      expect((await post(`/executions/${id}/${act}`, undefined, foreign)).status).toBe(404)
    expect((await post(`/executions/${id}/units/a/complete`, {}, foreign)).status).toBe(404)
    expect((await ask(`/executions/${id}`)).body).toMatchObject({ status: 'EXECUTING', paused: false })
    // One key in two tenants is two starts.
    const headers = { 'idempotency-key': 'k' }
    const [own, other] = [
      await start({ definition: DAILY }, { headers }),
      await start({ definition: DAILY }, { headers, ...foreign }),
    ]
    expect(own).not.toBe(other)
    expect((await ask('/executions', foreign)).body['executions']).toMatchObject([{ execution_id: other }])
  })

  test('X-141 a viewer reads, and neither submits nor cancels nor controls', async () => {
    const id = await start({ definition: DAILY })
    const expected: Readonly<Record<string, readonly [string, number, number, unknown?]>> = {
      list: ['/executions', 200, 200],
      read: [`/executions/${id}`, 200, 200],
      wait: [`/executions/${id}/wait?timeout_ms=0`, 200, 200],
      pipelines: ['/pipelines', 200, 200],
      submit: ['/executions', 403, 201, { definition: DAILY }],
      register: ['/pipelines', 403, 201, DAILY],
      pause: [`/executions/${id}/pause`, 403, 200],
      resume: [`/executions/${id}/resume`, 403, 200],
      cancel: [`/executions/${id}/cancel`, 403, 200],
      retry: [`/executions/${id}/retry`, 403, 200],
      complete: [`/executions/${id}/units/a/complete`, 403, 409, {}],
    }
    const asAll = async (role: 'viewer' | 'operator' | 'admin') => {
      const given = { token: await world.tokenFor(role) }
      const found: [string, number][] = []
      for (const [what, [path, , , body]] of Object.entries(expected)) {
        const reads = ['list', 'read', 'wait', 'pipelines'].includes(what)
        found.push([what, (await (reads ? ask(path, given) : post(path, body, given))).status])
      }
      return Object.fromEntries(found)
    }
    const by = (at: 1 | 2) =>
      Object.fromEntries(Object.entries(expected).map(([what, row]) => [what, row[at]]))
    expect(await asAll('viewer')).toEqual(by(1))
    expect(await asAll('operator')).toEqual(by(2))
    expect(await asAll('admin')).toEqual(by(2))
  })
})

test('EN-708 an answer is bounded: results that do not fit are left out, and named', async () => {
  const units = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { task: 't' }]))
  const id = await start({ definition: { name: 'wide', units } })
  const result = { text: 'x'.repeat(API_RESULTS_MAX_BYTES / 3) }
  await work(() => result)
  const { body } = await ask(`/executions/${id}`)
  expect(JSON.stringify(body).length).toBeLessThan(1.5 * API_RESULTS_MAX_BYTES)
  expect(body['left_out']).toEqual(['plan_units.b.result', 'plan_units.c.result'])
  expect(body.plan_units.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED'])
})

test('EN-709 pipelines are registered, listed by page and read; a wrong one is refused with its places', async () => {
  for (const version of [1, 2, 10]) await post('/pipelines', { ...DAILY, version })
  await post('/pipelines', SIGNED)
  const page = await ask('/pipelines?limit=3')
  expect(page.body['pipelines']).toEqual([1, 2, 10].map((version) => ({ name: 'daily', version })))
  const next = await ask(`/pipelines?limit=3&after=${String(page.body['next_after'])}`)
  expect(next.body).toEqual({ pipelines: [{ name: 'signed', version: 1 }] })
  expect((await ask('/pipelines/daily')).body).toMatchObject({ version: 10, graph: { name: 'daily' } })
  expect((await ask('/pipelines/daily?version=2')).body).toMatchObject({ version: 2 })
  expect((await ask('/pipelines/daily?version=3')).status).toBe(404)
  const wrong = await post('/pipelines', { name: 'x', units: { a: { tsk: 't' } } })
  expect([wrong.status, wrong.body]).toMatchObject([400, { error: { code: 'engine/bad-pipeline' } }])
})
