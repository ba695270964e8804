// Goal: the engine over a store does what the rules say also where they need something from outside: events, variables, children,
// room, other instances.
import { describe, expect, onTestFinished, test, type TestContext } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { executionId } from '../../core/keys.ts'
import { openCore, type Core } from '../../core/life-cycle/core.ts'
import type { Store } from '../../core/ports.ts'
import type { TaskRecord, WorkflowId } from '../../worker/ports.ts'
import { STORE_KINDS, type StoreKind } from '../../../test/support/stores.ts'
import type { Graph, TaskUnit, Unit } from '../graph/graph.ts'
import type { Execution } from '../protocol/execution.ts'
import { openEngine, type Engine, type EngineOptions } from './open-engine.ts'

function task(taskReferenceName: string, more: Partial<TaskUnit> = {}): TaskUnit {
  return { type: 'SIMPLE', name: 't', taskReferenceName, inputParameters: {}, after: [], ...more }
}

function graphOf(units: readonly Unit[], name = 'g'): Graph {
  return {
    ...{ name, version: 1, units, inputTemplate: {}, outputParameters: undefined },
    ...{ restartable: true, timeoutSeconds: 0, timeoutPolicy: 'ALERT_ONLY' },
  }
}

interface Scene {
  readonly store: Store
  readonly core: Core
  readonly engine: Engine
  readonly open: (options?: Partial<EngineOptions>) => Promise<Engine>
  readonly openAnother: () => Promise<Store>
}

async function setUp(
  kind: StoreKind,
  context: TestContext,
  options: Partial<EngineOptions> = {},
): Promise<Scene> {
  const { store, openAnother } = await kind.open(context)
  const open = async (more: Partial<EngineOptions> = {}): Promise<Engine> => {
    const engine = await openEngine({ store: await openAnother(), leaseMs: 900, ...more })
    onTestFinished(() => engine.close())
    return engine
  }
  const engine = await open(options)
  await engine.control.registerTask({ name: 't', retryCount: 1, retryDelaySeconds: 0 })
  return { store, core: openCore({ store }), engine, open, openAnother }
}

function poll({ queue }: Engine, waitMs = 0, count = 10): Promise<readonly TaskRecord[]> {
  return queue.poll({ taskType: 't', workerId: 'w', count, waitMs })
}

async function complete(
  { queue }: Engine,
  { taskId, workflowId, workerId }: TaskRecord,
  output = {},
): Promise<void> {
  expect(await queue.postResult({ taskId, workflowId, workerId, status: 'COMPLETED', output })).toBe(true)
}

async function post(
  { queue }: Engine,
  { taskId, workflowId, workerId }: TaskRecord,
  status: 'FAILED' | 'FAILED_WITH_TERMINAL_ERROR' | 'IN_PROGRESS',
  output = {},
): Promise<void> {
  await queue.postResult({ taskId, workflowId, workerId, status, output })
}

/** Leases count again from the moment in which an instance took the execution over. */
function apartFromLeases(execution: Execution | undefined): Execution | undefined {
  const rows = execution?.rows.map((row) =>
    row.record.status === 'IN_PROGRESS' ? { ...row, record: { ...row.record, updateTimeMs: 0 } } : row,
  )
  return execution && { ...execution, rows: rows ?? [] }
}

async function work(engine: Engine, waitMs = 0): Promise<readonly string[]> {
  const tasks = await poll(engine, waitMs)
  for (const each of tasks) await complete(engine, each)
  return tasks.map(({ referenceTaskName }) => referenceTaskName)
}

async function statusOf({ control }: Engine, id: WorkflowId): Promise<string | undefined> {
  return (await control.readWorkflow(id))?.status
}

async function typesOf(core: Core, id: WorkflowId): Promise<readonly string[]> {
  return (await core.events.queryEvents(executionId(id))).map(({ type }) => type)
}

describe.each(STORE_KINDS)('on $kind', (kind) => {
  test('E-02 E-15 each change of a unit and of the execution is one event, in order', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a'), task('b', { after: ['a'] })]), {})
    const [first] = await poll(engine)
    const { taskId, workflowId, workerId } = first!
    await engine.queue.postResult({ taskId, workflowId, workerId, status: 'IN_PROGRESS', output: {} })
    const [again] = await poll(engine)
    await post(engine, again!, 'FAILED')
    await engine.control.pause(id)
    await engine.control.resume(id)
    await work(engine)
    await work(engine)
    expect(await typesOf(core, id)).toEqual([
      ...['pipeline.started', 'a.started', 'a.task.started', 'a.task.running', 'a.task.started'],
      ...['a.task.failed', 'a.retrying', 'pipeline.paused', 'pipeline.resumed', 'a.task.started'],
      ...[
        'a.task.completed',
        'a.completed',
        'b.started',
        'b.task.started',
        'b.task.completed',
        'b.completed',
      ],
      'pipeline.completed',
    ])
    const retrying = await core.events.getEvent(executionId(id), 'a.retrying')
    expect(retrying?.payload).toMatchObject({ attempt: 1 })
  })

  test('E-20 E-24 a unit starts before its work, both when a worker takes it', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a')]), {})
    expect(await typesOf(core, id)).toEqual(['pipeline.started'])
    await poll(engine)
    expect(await typesOf(core, id)).toEqual(['pipeline.started', 'a.started', 'a.task.started'])
  })

  test('E-25 each progress report is recorded and kept', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a')]), {})
    for (let report = 0; report < 3; report += 1) {
      const [first] = await poll(engine)
      await post(engine, first!, 'IN_PROGRESS', { report })
    }
    expect((await typesOf(core, id)).filter((type) => type === 'a.task.running')).toHaveLength(3)
  })

  test('E-22 E-27 a unit fails once, after the work of its last attempt failed', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a')]), {})
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const [first] = await poll(engine)
      await post(engine, first!, 'FAILED')
    }
    expect((await typesOf(core, id)).slice(3)).toEqual([
      ...['a.task.failed', 'a.retrying', 'a.task.started', 'a.task.failed', 'a.failed', 'pipeline.failed'],
    ])
    expect(await statusOf(engine, id)).toBe('FAILED')
  })

  test('E-21 E-26 a unit completes once, after its work; one that failed never does', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a'), task('b')]), {})
    const [a, b] = await poll(engine)
    await complete(engine, a!)
    await complete(engine, a!)
    await post(engine, b!, 'FAILED_WITH_TERMINAL_ERROR', {})
    await complete(engine, b!)
    const types = await typesOf(core, id)
    expect(types.filter((type) => type === 'a.completed')).toHaveLength(1)
    expect(types.indexOf('a.task.completed')).toBeLessThan(types.indexOf('a.completed'))
    expect(types).not.toContain('b.completed')
  })

  test('E-23 every further attempt is announced with its number', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a', { retryCount: 3 })]), {})
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const [first] = await poll(engine)
      await post(engine, first!, 'FAILED')
    }
    const found = await core.events.queryEvents(executionId(id), { types: ['a.retrying'] })
    expect(found.map(({ payload }) => payload['attempt'])).toEqual([1, 2, 3])
  })

  test('E-57 who sees that a unit has completed finds its state and its outputs', async (context) => {
    const { core, engine, store } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a')]), {})
    const stop = new AbortController()
    const seen = (async () => {
      for await (const notice of store.watch({ prefix: 'events:', signal: stop.signal }))
        if (await core.events.hasEvent(executionId(id), 'a.completed'))
          return [notice.kind, await core.variables.get(executionId(id), 'a.rows')]
      return undefined
    })()
    const [a] = await poll(engine)
    await complete(engine, a!, { rows: 7, 'not a name': 1 })
    expect((await seen)?.[1]).toBe(7)
    stop.abort()
    expect((await core.events.getEvent(executionId(id), 'a.completed'))?.payload).toMatchObject({
      notStored: ['not a name'],
    })
    expect((await engine.queue.readTask(a!.taskId))?.output).toEqual({ rows: 7, 'not a name': 1 })
  })

  test('E-59 E-60 a unit starts when the whole of its condition is true, not a part of it', async (context) => {
    const { engine } = await setUp(kind, context)
    const startWhen = 'event:external.data_ready && event:a.completed'
    const id = await engine.control.startGraph(graphOf([task('a'), task('b', { startWhen })]), {})
    expect(await work(engine)).toEqual(['a'])
    expect(await work(engine)).toEqual([])
    await engine.control.publishEvent(id, { type: 'external.data_ready', source: 'lake' })
    expect(await work(engine)).toEqual(['b'])
    expect(await statusOf(engine, id)).toBe('COMPLETED')
  })

  test('E-58 E-98 an event from elsewhere is noticed within the poll interval', async (context) => {
    const { engine, core } = await setUp(kind, context)
    const startWhen = 'event:external.go'
    const id = await engine.control.startGraph(graphOf([task('b', { startWhen })]), {})
    expect(await work(engine)).toEqual([])
    const waiting = work(engine, 5_000)
    // Through the core alone, as another process would do it.
    await core.events.publishEvent(executionId(id), {
      type: 'external.go',
      source: { entityType: 'external', entityId: 'x' },
    })
    const sentAt = performance.now()
    expect(await waiting).toEqual(['b'])
    // The interval is 100 ms; the rest is for a busy machine.
    expect(performance.now() - sentAt).toBeLessThan(1_500)
  })

  test('E-99 an execution waits for the approval of a person and goes on with the decision', async (context) => {
    const { engine, core } = await setUp(kind, context)
    const graph = graphOf([
      {
        type: 'WAIT',
        taskReferenceName: 'approval',
        inputParameters: {},
        after: [],
        events: ['external.approval.given'],
      },
      task('b', { after: ['approval'] }),
    ])
    const id = await engine.control.startGraph(graph, {})
    expect(await work(engine)).toEqual([])
    const payload = { approver: 'ada', decision: 'approved' }
    await engine.control.publishEvent(id, { type: 'external.approval.given', source: 'web', payload })
    expect(await work(engine)).toEqual(['b'])
    expect((await core.events.getEvent(executionId(id), 'external.approval.given'))?.payload).toEqual(payload)
  })

  const waitsFor = async (context: TestContext, type: string): Promise<void> => {
    const { engine } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('b', { startWhen: `event:${type}` })]), {})
    expect(await work(engine)).toEqual([])
    await engine.control.publishEvent(id, { type, source: 'lake' })
    expect(await work(engine)).toEqual(['b'])
  }

  test('E-100 an execution waits for data from outside', async (context) => {
    await waitsFor(context, 'external.data_ready')
  })

  test('E-101 an execution waits for an upstream system to finish', async (context) => {
    await waitsFor(context, 'external.upstream.finished')
  })

  test('E-63 a unit whose condition stays true starts once', async (context) => {
    const { engine } = await setUp(kind, context)
    const graph = graphOf([
      task('a', { startWhen: 'event:external.x' }),
      task('b', { startWhen: 'event:external.y' }),
    ])
    const id = await engine.control.startGraph(graph, {})
    for (let times = 0; times < 3; times += 1)
      await engine.control.publishEvent(id, { type: 'external.x', source: 'x' })
    expect(await work(engine)).toEqual(['a'])
    await engine.control.publishEvent(id, { type: 'external.x', source: 'x' })
    expect(await work(engine)).toEqual([])
  })

  test('E-07 an event that is recorded while no engine runs causes nothing until one does', async (context) => {
    const { engine, core, open } = await setUp(kind, context)
    const graph = graphOf([task('b', { startWhen: 'event:external.x' })])
    const id = await engine.control.startGraph(graph, {})
    await engine.close()
    await core.events.publishEvent(executionId(id), {
      type: 'external.x',
      source: { entityType: 'external', entityId: 'x' },
    })
    await systemClock.sleep(200)
    expect(await typesOf(core, id)).toEqual(['pipeline.started', 'external.x'])
    expect(await work(await open())).toEqual(['b'])
  })

  test('X-104 what was submitted is stored as PENDING before anything is decided, and found after a crash', async (context) => {
    const { engine, store, open } = await setUp(kind, context)
    const seen: string[] = []
    const dead = { is: false }
    const dying: Store = {
      ...store,
      commit: async (batch, options) => {
        if (dead.is) throw new Error('the process is dead')
        const done = await store.commit(batch, options)
        for (const each of batch.operations)
          if (each.do === 'put' && each.key.endsWith(':head'))
            seen.push(
              (JSON.parse(Buffer.from(each.value).toString()) as { fields: { stage: string } }).fields.stage,
            )
        dead.is = seen.length > 0
        return done
      },
    }
    await engine.close()
    const first = await openEngine({ store: dying })
    const started = await first.control.startGraph(graphOf([task('a')]), {}).catch(() => undefined)
    expect(started).toBeUndefined()
    await first.close()
    expect(seen).toEqual(['PENDING'])
    await store.clear('leases:')
    const second = await open()
    const [found] = await second.control.listOpen()
    expect(await work(second)).toEqual(['a'])
    expect(await statusOf(second, found!.workflowId)).toBe('COMPLETED')
  })

  test('X-116 more executions than may run wait for a place, and get it in their order', async (context) => {
    const { engine } = await setUp(kind, context, { atOnceMax: 2 })
    const ids: WorkflowId[] = []
    for (let index = 0; index < 4; index += 1)
      ids.push(await engine.control.startGraph(graphOf([task('a')]), {}))
    const stages = async () =>
      Promise.all(ids.map(async (id) => (await engine.control.readExecution(id))?.stage))
    expect(await stages()).toEqual(['EXECUTING', 'EXECUTING', 'SCHEDULING', 'SCHEDULING'])
    const [first] = await poll(engine, 0, 1)
    await complete(engine, first!)
    await expect.poll(stages).toEqual(['COMMIT', 'EXECUTING', 'EXECUTING', 'SCHEDULING'])
    for (let left = 3; left > 0; left -= (await work(engine, 1_000)).length) expect(left).toBeGreaterThan(0)
    expect(await stages()).toEqual(['COMMIT', 'COMMIT', 'COMMIT', 'COMMIT'])
  })

  test('EN-403 a child execution is started once, and its parent goes on with its output', async (context) => {
    const { engine, open } = await setUp(kind, context)
    await engine.control.registerGraph(graphOf([task('inner')], 'child'))
    const graph = graphOf([
      {
        type: 'SUB_WORKFLOW',
        taskReferenceName: 'c',
        inputParameters: {},
        after: [],
        subWorkflowParam: { name: 'child' },
      },
      task('b', { after: ['c'], inputParameters: { got: '${c.output.n}' } }),
    ])
    const id = await engine.control.startGraph(graph, {})
    expect((await engine.control.listOpen()).length).toBe(2)
    await engine.close()
    const second = await open()
    expect((await second.control.listOpen()).length).toBe(2)
    const [inner] = await poll(second)
    expect(inner?.referenceTaskName).toBe('inner')
    await complete(second, inner!, { n: 5 })
    const [b] = await poll(second)
    expect(b).toMatchObject({ referenceTaskName: 'b', input: { got: 5 } })
    await complete(second, b!)
    expect(await statusOf(second, id)).toBe('COMPLETED')
  })

  test('EN-635 a paused execution pauses its children, and they go on with it', async (context) => {
    const { engine, open } = await setUp(kind, context)
    await engine.control.registerGraph(
      graphOf([task('first'), task('second', { after: ['first'] })], 'child'),
    )
    const sub = {
      type: 'SUB_WORKFLOW',
      inputParameters: {},
      after: [],
      subWorkflowParam: { name: 'child' },
    } as const
    const graph = graphOf([
      { ...sub, taskReferenceName: 'c' },
      { ...sub, taskReferenceName: 'd' },
    ])
    const id = await engine.control.startGraph(graph, {})
    const rows = (await engine.control.readExecution(id))?.rows ?? []
    const [c, d] = rows.map(({ child }) => child!.workflowId) as [WorkflowId, WorkflowId]
    await engine.control.pause(d)
    await engine.control.pause(id)
    expect([await statusOf(engine, c), await statusOf(engine, d)]).toEqual(['PAUSED', 'PAUSED'])
    await engine.close()
    const second = await open()
    await second.control.resume(id)
    // One that was paused by itself stays so.
    expect([await statusOf(second, c), await statusOf(second, d)]).toEqual(['RUNNING', 'PAUSED'])
    await second.control.resume(d)
    for (let left = 4; left > 0; left -= (await work(second, 1_000)).length) expect(left).toBeGreaterThan(0)
    expect(await statusOf(second, id)).toBe('COMPLETED')
  })

  test('X-58 X-127 five hundred units at once, and values of megabytes, are stored and read back', async (context) => {
    const { engine, open, core } = await setUp(kind, context)
    const big = { text: 'x'.repeat(2_000_000), list: Array.from({ length: 2_000 }, (_, n) => ({ n })) }
    const units = Array.from({ length: 500 }, (_, index) =>
      task(`u${index}`, index === 0 ? { inputParameters: { big: '${workflow.input.big}' } } : {}),
    )
    const id = await engine.control.startGraph(graphOf(units), { input: { big } })
    const [claimed] = await poll(engine, 0, 1)
    expect(claimed?.input).toEqual({ big })
    const before = await engine.control.readExecution(id)
    expect(before?.rows).toHaveLength(500)
    expect(before?.input).toEqual({ big })
    await engine.close()
    const second = await open()
    expect(apartFromLeases(await second.control.readExecution(id))).toEqual(apartFromLeases(before))
    await second.control.terminate(id, { reason: 'enough' })
    const types = await typesOf(core, id)
    expect(types.filter((type) => type.endsWith('.cancelled'))).toHaveLength(501)
    expect(types.at(-1)).toBe('pipeline.cancelled')
  }, 60_000)

  test('EN-406 closing ends waiting polls with nothing, and refuses those that come later', async (context) => {
    const { engine } = await setUp(kind, context)
    const waiting = poll(engine, 5_000)
    await engine.close()
    expect(await waiting).toEqual([])
    await expect(poll(engine)).rejects.toMatchObject({ kind: 'unavailable', code: 'engine/not-running' })
  })

  test('EN-405 a pipeline may be named with dots, as tasks are; another name is refused before it starts', async (context) => {
    const { core, engine } = await setUp(kind, context)
    const graph = graphOf([task('a')])
    const id = await engine.control.startGraph({ ...graph, name: 'orders.daily-2' }, {})
    await work(engine)
    expect(await statusOf(engine, id)).toBe('COMPLETED')
    const completed = await core.events.getEvent(executionId(id), 'pipeline.completed')
    expect(completed?.source.entityId).toBe('orders.daily-2')
    for (const name of ['', '.daily', 'orders..daily', 'orders daily', 'x'.repeat(129)]) {
      await expect(engine.control.startGraph({ ...graph, name }, {})).rejects.toMatchObject({
        code: 'engine/bad-name',
      })
    }
  })

  test('EN-404 another instance takes over when the first is gone, and a lease counts from then', async (context) => {
    const { engine, open } = await setUp(kind, context)
    const id = await engine.control.startGraph(graphOf([task('a')]), {})
    const [held] = await poll(engine)
    const second = await open()
    expect(second.isRunning()).toBe(false)
    await expect(second.control.startGraph(graphOf([task('a')]), {})).rejects.toMatchObject({
      code: 'engine/not-running',
    })
    await engine.close()
    await expect.poll(() => second.isRunning(), { timeout: 10_000 }).toBe(true)
    const found = await second.queue.readTask(held!.taskId)
    expect(found).toMatchObject({ status: 'IN_PROGRESS' })
    expect(found!.updateTimeMs).toBeGreaterThan(held!.updateTimeMs)
    await complete(second, held!)
    expect(await statusOf(second, id)).toBe('COMPLETED')
  })
})
