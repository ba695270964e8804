import { afterEach, describe, expect, test } from 'vitest'
import {
  closedAddress,
  instantClock,
  startMuteServer,
  startScriptedServer,
  type Reaction,
  type ScriptedServer,
  type SeenRequest,
} from '../../test/conformance/scripted-server.ts'
import type { TaskId, TaskQueue, TaskResult, WorkflowId } from '../worker/ports.ts'
import { openConductorClient, type ConductorClient, type ConductorClientOptions } from './client.ts'
import { createDefinitionRegistry, type DefinitionRegistry } from './definitions.ts'
import { createHttpTaskQueue } from './http-task-queue.ts'

const TASK = {
  taskId: 'task-1',
  workflowInstanceId: 'wf-1',
  status: 'IN_PROGRESS',
  taskType: 't',
  taskDefName: 't',
  referenceTaskName: 'a',
  workerId: 'w',
  pollCount: 1,
  startTime: 5,
}
const RESULT: TaskResult = {
  taskId: 'task-1' as TaskId,
  workflowId: 'wf-1' as WorkflowId,
  workerId: 'w',
  status: 'COMPLETED',
  output: { n: 1 },
}
const ATTEMPT = { ...RESULT, retryCount: 0, pollCount: 1, startTimeMs: 5 }
const POLL = { taskType: 't', workerId: 'w', count: 1, waitMs: 0 }
const TAKEN: Reaction = { status: 200, text: 'task-1', type: 'text/plain;charset=UTF-8' }

const refusal = (status: number, message: string, retryable = false): Reaction => ({
  status,
  json: { status, message, instance: 'host', retryable },
})

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

function queueAt(endpoint: string, options: Partial<ConductorClientOptions> = {}): TaskQueue {
  const client = openConductorClient({ endpoint, clock: instantClock(), ...options })
  open.push(client)
  return createHttpTaskQueue(client)
}

async function scripted(
  react: (request: SeenRequest, index: number) => Reaction,
  options: Partial<ConductorClientOptions> = {},
): Promise<{ readonly server: ScriptedServer; readonly queue: TaskQueue }> {
  const server = await startScriptedServer(react)
  open.push(server)
  return { server, queue: queueAt(server.url, options) }
}

describe('when the answer does not come', () => {
  test.each<[string, Reaction, Partial<ConductorClientOptions>]>([
    ['the connection is cut', 'drop', {}],
    ['nothing comes', 'silence', { answerTimeoutMs: 50 }],
  ])('CO-61 a result is sent once and is uncertain when %s', async (_, reaction, options) => {
    const { server, queue } = await scripted(() => reaction, options)
    await expect(queue.postResult(RESULT)).rejects.toMatchObject({
      kind: 'uncertain',
      code: 'conductor/answer-lost',
      read: expect.stringContaining('the task') as string,
    })
    expect(server.seen).toHaveLength(1)
  })

  test('CO-62 what surely did not arrive is sent again, until the tries are used up', async () => {
    const clock = instantClock()
    const queue = queueAt(await closedAddress(), { clock, retry: { maxAttempts: 3 } })
    await expect(queue.appendLog(RESULT.taskId, 'line')).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'conductor/unreachable',
    })
    expect(clock.slept).toHaveLength(2)
  })

  test('CO-100 a result is sent once, even when it surely did not arrive or comes too often', async () => {
    const clock = instantClock()
    const absent = queueAt(await closedAddress(), { clock })
    await expect(absent.postResult(RESULT)).rejects.toMatchObject({ kind: 'unavailable' })
    const { server, queue } = await scripted(() => refusal(429, 'slow down'), { clock })
    await expect(queue.postResult(RESULT)).rejects.toMatchObject({ kind: 'unavailable' })
    expect([server.seen.length, clock.slept]).toEqual([1, []])
  })

  test('CO-100 a result with a refused token is not sent again, but the next request has a new one', async () => {
    let trades = 0
    const { server, queue } = await scripted(
      ({ path, headers }) => {
        if (path === '/api/token') return { status: 200, json: { token: `token-${++trades}` } }
        return headers['x-authorization'] === 'token-1'
          ? refusal(401, 'expired')
          : { status: 200, json: TASK }
      },
      { key: { keyId: 'key', keySecret: 'secret' } },
    )
    const post = queue.postResult(RESULT)
    await expect(post).rejects.toMatchObject({ kind: 'unavailable', code: 'conductor/unauthorized' })
    expect(await queue.readTask(RESULT.taskId)).toMatchObject({ taskId: 'task-1' })
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      ...['POST /api/token', 'POST /api/tasks', 'POST /api/token', 'GET /api/tasks/task-1'],
    ])
  })

  test.each<[string, Partial<ConductorClientOptions>]>([
    ['a token', { key: { keyId: 'key', keySecret: 'secret' } }],
    ['a connection', { connectionsMax: 1 }],
  ])('CO-102 a result that waits for %s until its time is over is not sent', async (_, options) => {
    let nowMs = 0
    const { server, queue } = await scripted(
      ({ path }) => {
        if (path === '/api/tasks') return TAKEN
        nowMs += 100
        return { status: 200, json: path === '/api/token' ? { token: 'token' } : [] }
      },
      { clock: { ...instantClock(), monotonicMs: () => nowMs }, ...options },
    )
    const busy = options.key === undefined ? queue.poll(POLL) : undefined
    const late = queue.postResult(RESULT, { sendWithinMs: 50 })
    await expect(late).rejects.toMatchObject({ kind: 'unavailable', code: 'conductor/unreachable' })
    await expect(late).rejects.toThrow('its time to be sent was over, nothing was sent')
    await busy
    expect(await queue.postResult(RESULT, { sendWithinMs: 50 })).toBe(true)
    expect(server.seen.filter(({ path }) => path === '/api/tasks')).toHaveLength(1)
  })

  test('CO-63 a read is repeated after trouble', async () => {
    const { server, queue } = await scripted((_, index) => {
      if (index === 0) return 'drop'
      return index === 1
        ? { status: 503, text: 'no backend', type: 'text/plain' }
        : { status: 200, json: TASK }
    })
    expect(await queue.readTask(RESULT.taskId)).toMatchObject({ taskId: 'task-1' })
    expect(server.seen).toHaveLength(3)
  })

  test('CO-63 a poll and a renewal are never repeated, not even when they did not arrive', async () => {
    const clock = instantClock()
    const absent = queueAt(await closedAddress(), { clock })
    await expect(absent.poll(POLL)).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(absent.renewLease(ATTEMPT)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(clock.slept).toEqual([])
    const { server, queue } = await scripted(() => 'drop')
    await expect(queue.poll(POLL)).rejects.toMatchObject({ kind: 'uncertain' })
    await expect(queue.renewLease(ATTEMPT)).rejects.toMatchObject({ kind: 'uncertain' })
    expect(server.seen).toHaveLength(2)
  })

  const declared = { name: 't', version: 1, tasks: [] }
  const idempotent: Record<string, (registry: DefinitionRegistry) => Promise<void>> = {
    terminateWorkflow: (registry) => registry.terminateWorkflow(RESULT.workflowId, 'why'),
    registerTaskDefs: (registry) => registry.applyTaskDef({ action: 'create', declared }),
    updateTaskDef: (registry) =>
      registry.applyTaskDef({ action: 'update', declared, registered: declared, changes: [] }),
    updateWorkflowDefs: (registry) =>
      registry.applyWorkflowDef({ action: 'update', declared, registered: declared, changes: [] }),
  }
  test.each(Object.keys(idempotent))(
    'CO-79 %s is uncertain when the first answer was lost and no later try could be sent',
    async (name) => {
      let closed: Promise<void> | undefined
      const server = await startScriptedServer(() => {
        closed = server.close()
        return 'drop'
      })
      const client = openConductorClient({
        endpoint: server.url,
        clock: instantClock(),
        retry: { maxAttempts: 3 },
      })
      open.push(client)
      await expect(idempotent[name]!(createDefinitionRegistry(client))).rejects.toMatchObject({
        kind: 'uncertain',
        code: 'conductor/answer-lost',
        read: expect.stringMatching(/workflow|definition/) as string,
        cause: { kind: 'unavailable', code: 'conductor/unreachable' },
      })
      expect(server.seen).toHaveLength(1)
      await closed
    },
  )

  test.each<[string, (client: ConductorClient) => Promise<Reaction>]>([
    ['the client is closed before the next try', (client) => client.close().then(() => 'drop')],
    [
      'a proxy answers the next try',
      () => Promise.resolve({ status: 404, text: 'none', type: 'text/plain' }),
    ],
  ])('CO-101 an idempotent request whose answer was lost is uncertain when %s', async (_, meanwhile) => {
    const server = await startScriptedServer((__, index) => (index === 0 ? 'drop' : next))
    let next: Reaction = 'drop'
    const clock = instantClock()
    const client = openConductorClient({
      endpoint: server.url,
      clock: {
        ...clock,
        sleep: async (...given) => {
          next = await meanwhile(client)
          await clock.sleep(...given)
        },
      },
    })
    open.push(server, client)
    const terminated = createDefinitionRegistry(client).terminateWorkflow(RESULT.workflowId, 'why')
    await expect(terminated).rejects.toMatchObject({ kind: 'uncertain', code: 'conductor/answer-lost' })
  })

  test('CO-67 a poll may take the wait it asked for on top of the bound of every request', async () => {
    const reply = { status: 200, json: [] }
    const { server, queue } = await scripted(
      (request) => (request.path.includes('timeout=4000') ? reply : 'silence'),
      {
        answerTimeoutMs: 40,
      },
    )
    expect(await queue.poll({ ...POLL, waitMs: 4_000 })).toEqual([])
    expect(server.seen[0]?.path).toBe('/api/tasks/poll/batch/t?workerid=w&count=1&timeout=4000')
    await expect(queue.poll({ ...POLL, waitMs: 10 })).rejects.toThrow('no response within 50 ms')
    await expect(queue.poll({ ...POLL, waitMs: 5_001 })).rejects.toMatchObject({ kind: 'invalid' })
    await expect(queue.poll({ ...POLL, count: 0 })).rejects.toMatchObject({ kind: 'invalid' })
    expect(server.seen).toHaveLength(2)
  })

  test('CO-68 an aborted read ends with its reason, an aborted result that was sent is uncertain', async () => {
    const giveUp = new AbortController()
    const { queue } = await scripted(() => {
      giveUp.abort(new Error('shutting down'))
      return 'silence'
    })
    const options = { signal: giveUp.signal }
    await expect(queue.postResult(RESULT, options)).rejects.toMatchObject({ kind: 'uncertain' })
    await expect(queue.readTask(RESULT.taskId, options)).rejects.toThrow('shutting down')
    // Aborted before it begins, nothing is sent: that is no uncertainty.
    await expect(queue.postResult(RESULT, options)).rejects.toThrow('shutting down')
  })
})

describe('what an answer means', () => {
  test('CO-64 trouble that calls itself not retryable: a read is repeated, nothing else is', async () => {
    const { server, queue } = await scripted(() => refusal(500, 'database is away'), {
      retry: { maxAttempts: 3 },
    })
    await expect(queue.readTask(RESULT.taskId)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'conductor/server-trouble',
      message: 'read the task (taskId task-1): the server answered 500: database is away',
    })
    expect(server.seen).toHaveLength(3)
    const unknown = { kind: 'uncertain', code: 'conductor/not-retryable' }
    await expect(queue.postResult(RESULT)).rejects.toMatchObject(unknown)
    await expect(queue.appendLog(RESULT.taskId, 'line')).rejects.toMatchObject(unknown)
    expect(server.seen).toHaveLength(5)
  })

  test('CO-65 only Conductor itself can say that a task is gone', async () => {
    const gone = await scripted(() => refusal(404, 'Task not found for taskId: task-1'))
    expect(await gone.queue.readTask(RESULT.taskId)).toBeUndefined()
    expect(await gone.queue.postResult(RESULT)).toBe(false)
    expect(await gone.queue.renewLease(ATTEMPT)).toBe(false)
    const wrong = { kind: 'invalid', code: 'conductor/not-conductor' }
    const noRoute = await scripted(() => refusal(404, 'No static resource api/tasks/task-1.'))
    await expect(noRoute.queue.readTask(RESULT.taskId)).rejects.toMatchObject(wrong)
    await expect(noRoute.queue.poll(POLL)).rejects.toMatchObject(wrong)
    const proxy = await scripted(() => ({ status: 404, text: '<h1>not here</h1>', type: 'text/html' }))
    await expect(proxy.queue.readTask(RESULT.taskId)).rejects.toMatchObject(wrong)
  })

  test.each<[string, Reaction]>([
    ['no route', refusal(404, 'No static resource api/tasks.')],
    ['a text 404', { status: 404, text: 'default backend - 404', type: 'text/plain' }],
    ['the 404 of a gateway', { status: 404, json: { message: 'no Route matched with those values' } }],
    ['a page 400', { status: 400, text: '<html>', type: 'text/html' }],
    ['a wrong method', refusal(405, 'not supported')],
    ['a page 413', { status: 413, text: '<html>', type: 'text/html' }],
    ['a redirection', { status: 302, text: '', type: 'text/plain' }],
    ['an empty success', { status: 200, text: '', type: 'text/plain' }],
    ['a page 502', { status: 502, text: '<html>', type: 'text/html' }],
    ['a timeout of a proxy', { status: 408, text: '', type: 'text/plain' }],
    ['the database is away', refusal(500, 'Connection refused')],
  ])('CO-103 %s says nothing about a result: it is uncertain', async (_, reaction) => {
    const { queue } = await scripted(() => reaction)
    const { taskId } = RESULT
    await expect(queue.postResult(RESULT)).rejects.toMatchObject({ kind: 'uncertain', details: { taskId } })
  })

  test.each([400, 413, 422])('CO-103 a %i of Conductor itself refuses a result', async (status) => {
    const { queue } = await scripted(() => refusal(status, 'Validation failed'))
    await expect(queue.postResult(RESULT)).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('CO-66 a page where an answer belongs is no success', async () => {
    const { queue } = await scripted(() => ({
      status: 200,
      text: '<html>please log in</html>',
      type: 'text/html',
    }))
    await expect(queue.readTask(RESULT.taskId)).rejects.toMatchObject({
      kind: 'invalid',
      code: 'conductor/not-conductor',
    })
    const unknown = { kind: 'uncertain', code: 'conductor/unknown-answer' }
    await expect(queue.postResult(RESULT)).rejects.toMatchObject(unknown)
    await expect(queue.renewLease(ATTEMPT)).rejects.toMatchObject(unknown)
    await expect(queue.appendLog(RESULT.taskId, 'line')).rejects.toMatchObject(unknown)
    const other = await scripted(() => ({ status: 200, text: 'task-2', type: 'text/plain' }))
    await expect(other.queue.postResult(RESULT)).rejects.toMatchObject(unknown)
    const mute = await startMuteServer('SSH-2.0-OpenSSH\r\n')
    open.push(mute)
    await expect(queueAt(mute.url).readTask(RESULT.taskId)).rejects.toMatchObject({
      code: 'conductor/not-conductor',
    })
  })

  test('CO-77 absent fields of a task are at their empty values', async () => {
    const { queue } = await scripted(() => ({ status: 200, json: [{ ...TASK, workerId: null }] }))
    expect(await queue.poll(POLL)).toEqual([
      {
        taskId: 'task-1',
        workflowId: 'wf-1',
        workflowType: '',
        status: 'IN_PROGRESS',
        taskType: 't',
        taskDefName: 't',
        referenceTaskName: 'a',
        retryCount: 0,
        pollCount: 1,
        seq: 0,
        iteration: 0,
        scheduledTimeMs: 0,
        startTimeMs: 5,
        updateTimeMs: 0,
        responseTimeoutSeconds: 0,
        isRetried: false,
        workerId: '',
        correlationId: undefined,
        domain: undefined,
        reasonForIncompletion: undefined,
        input: {},
        output: {},
        externalInputPath: undefined,
        externalOutputPath: undefined,
      },
    ])
  })

  test('CO-77 a task that cannot be read names the field', async () => {
    const { queue } = await scripted((request) =>
      request.path.includes('/poll/')
        ? { status: 200, json: [{ ...TASK, status: 'DREAMING' }] }
        : { status: 200, json: { ...TASK, pollCount: 'one' } },
    )
    await expect(queue.readTask(RESULT.taskId)).rejects.toThrow('field "pollCount"')
    await expect(queue.poll(POLL)).rejects.toThrow('field "status"')
  })
})

describe('what is sent', () => {
  test('CO-69 a result keeps every log line it was given', async () => {
    const { server, queue } = await scripted(() => TAKEN)
    const logs = Array.from({ length: 25 }, (_, index) => `line ${index}`)
    await queue.postResult({ ...RESULT, logs })
    const sent = JSON.parse(server.seen[0]!.body.toString()) as { logs: { log: string }[] }
    expect(sent.logs).toHaveLength(10)
    expect(sent.logs.flatMap(({ log }) => log.split('\n'))).toEqual(logs)
  })

  test('CO-69 a result carries what was given and nothing else; a renewal only asks for more time', async () => {
    const { server, queue } = await scripted(() => TAKEN)
    await queue.postResult({
      ...RESULT,
      status: 'IN_PROGRESS',
      reasonForIncompletion: 'wait',
      callbackAfterSeconds: 9,
    })
    await queue.renewLease(ATTEMPT)
    expect(server.seen.map(({ body }) => JSON.parse(body.toString()) as unknown)).toEqual([
      {
        taskId: 'task-1',
        workflowInstanceId: 'wf-1',
        workerId: 'w',
        status: 'IN_PROGRESS',
        outputData: { n: 1 },
        reasonForIncompletion: 'wait',
        callbackAfterSeconds: 9,
      },
      {
        taskId: 'task-1',
        workflowInstanceId: 'wf-1',
        workerId: 'w',
        status: 'IN_PROGRESS',
        extendLease: true,
      },
    ])
  })
})

describe('open workflows', () => {
  const found = (id: string, more: object = {}): object => ({ workflowId: id, status: 'RUNNING', ...more })
  const pageOf = (total: number, results: readonly object[]): Reaction => ({
    status: 200,
    json: { totalHits: total, results },
  })

  test('CO-78 are read page by page, no more than asked for, and it is said when there are more', async () => {
    const { server, queue } = await scripted((_, index) =>
      pageOf(
        250,
        Array.from({ length: index === 2 ? 50 : 100 }, (__, at) => found(`w-${index}-${at}`)),
      ),
    )
    const all = await queue.readOpenWorkflows(1_000)
    expect([all.workflows.length, all.isWhole]).toEqual([250, true])
    const starts = server.seen.map(({ path }) => new URL(path, 'http://host').searchParams)
    expect(starts.map((query) => query.get('start'))).toEqual(['0', '100', '200'])
    expect(starts[0]?.get('query')).toBe('status IN (RUNNING,PAUSED)')
    const some = await scripted(() => pageOf(250, [found('w')]))
    const one = await some.queue.readOpenWorkflows(1)
    expect([one.workflows.length, one.isWhole, some.server.seen.length]).toEqual([1, false, 1])
  })

  test('CO-78 a page that ends before its count does is the last one', async () => {
    const { server, queue } = await scripted((_, index) => pageOf(3, index === 0 ? [found('w')] : []))
    expect(await queue.readOpenWorkflows(10)).toMatchObject({ isWhole: false, workflows: [{ steps: [] }] })
    expect(server.seen).toHaveLength(2)
  })

  test('CO-78 what is no page is refused', async () => {
    const { queue } = await scripted(() => ({ status: 200, json: { totalHits: 1, results: [{}] } }))
    await expect(queue.readOpenWorkflows(10)).rejects.toMatchObject({ code: 'conductor/not-conductor' })
  })
})
