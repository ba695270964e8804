// Goal: whatever takes units and answers can be attached to an engine, and gets them by the rules of every worker: what it answers
// counts once, what it loses is given back, and the state of an execution is changed by the engine alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { createRedactor, type Redactor } from '../../base/redaction.ts'
import { openEngine, type Engine } from '../../engine/host/open-engine.ts'
import type { EngineEvent } from '../../engine/telemetry/engine-events.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ExecutorLostError, TerminalError } from '../../tasks/author-errors.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { TaskQueue, WorkflowId } from '../ports.ts'
import { openExecutorPool, type ExecutorPool } from './executor-pool.ts'
import type { Executor } from './executor-port.ts'

async function setUp(
  more: {
    readonly queue?: (queue: TaskQueue) => TaskQueue
    readonly results?: string
    readonly redactor?: Redactor
  } = {},
) {
  const steps: EngineEvent[] = []
  const engine = await openEngine({ store: openMemoryStore(), observers: [(event) => steps.push(event)] })
  const { queue = (own) => own, ...options } = more
  const pool = await openExecutorPool({ queue: queue(engine.queue), ...options })
  onTestFinished(async () => {
    await pool.close({ deadlineMs: 0 })
    await engine.close()
  })
  return { engine, pool, steps }
}

function executor(name: string, more: Partial<Executor> = {}): Executor {
  return { name, types: ['t'], capacity: 1, run: () => Promise.resolve({ by: name }), ...more }
}

/** With one attempt, so that a unit that is given back shows that this used up none. */
async function start(
  { control }: Engine,
  units: Parameters<typeof graphOf>[0],
  more = {},
): Promise<WorkflowId> {
  for (const name of new Set(units.flatMap((unit) => (unit.type === 'SIMPLE' ? [unit.name] : []))))
    await control.registerTask({
      name,
      retryCount: 0,
      responseTimeoutSeconds: 2,
      timeoutSeconds: 60,
      ...more,
    })
  return control.startGraph(graphOf(units), {})
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 400; looks++) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`not in time: ${what}`)
}

async function ended({ control }: Engine, id: WorkflowId) {
  await until('the execution has ended', async () => (await control.readWorkflow(id))?.status !== 'RUNNING')
  const workflow = await control.readWorkflow(id)
  return { status: workflow?.status, tasks: workflow?.tasks ?? [], output: workflow?.output }
}

/** A run that ends when the test says. */
function held() {
  const begun: AbortSignal[] = []
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const run: Executor['run'] = async (_, { signal }) => {
    begun.push(signal)
    await released
    return {}
  }
  return { begun, release: () => release(), run }
}

test('WK-293 an answer of an executor with a configured secret in it fails the unit for good', async () => {
  const secret = 'very-secret-value'
  const { engine, pool } = await setUp({ redactor: createRedactor([secret]) })
  pool.register(executor('leaky', { run: () => Promise.resolve({ url: `https://host/?key=${secret}` }) }))
  const id = await start(engine, [task('a')], { retryCount: 3, retryDelaySeconds: 0 })
  const { status, tasks } = await ended(engine, id)
  expect([status, tasks.length]).toEqual(['FAILED', 1])
  expect(tasks[0]).toMatchObject({ status: 'FAILED_WITH_TERMINAL_ERROR', output: {} })
  expect(tasks[0]?.reasonForIncompletion).toContain('result.url')
  expect(JSON.stringify(tasks)).not.toContain(secret)
})

test('X-80 the pool runs what the engine hands out once it executes, and changes its state only through the queue', async () => {
  const calls: string[] = []
  const spied = (queue: TaskQueue): TaskQueue =>
    new Proxy(queue, {
      get: (target, name: keyof TaskQueue) =>
        ((...args: unknown[]) => {
          calls.push(name)
          return (target[name] as (...all: unknown[]) => unknown).apply(target, args)
        }) as unknown,
    })
  const { engine, pool, steps } = await setUp({ queue: spied })
  const during: number[] = []
  pool.register(
    executor('north', {
      run: async () => {
        const [before, sent] = [steps.length, calls.filter((name) => name === 'postResult').length]
        await sleep(30)
        during.push(steps.length - before, calls.filter((name) => name === 'postResult').length - sent)
        return { value: 1 }
      },
    }),
  )
  const id = await start(engine, [task('a'), task('b', ['a'])])
  expect(await ended(engine, id)).toMatchObject({ status: 'COMPLETED' })
  // While it runs a unit nothing of the execution moves.
  expect(during).toEqual([0, 0, 0, 0])
  expect([...new Set(calls)].sort()).toEqual(expect.arrayContaining(['poll', 'postResult', 'readTask']))
  expect(calls.filter((name) => !CLIENT_CALLS.has(name))).toEqual([])
  const handedOut = steps.findIndex(({ kind }) => kind === 'task-handed-out')
  const executing = steps.findIndex((event) => event.kind === 'step' && event.after.stage === 'EXECUTING')
  expect(executing).toBeLessThan(handedOut)
})

/** What every worker may call. */
const CLIENT_CALLS = new Set<string>([
  'poll',
  'readTask',
  'readWorkflowStatus',
  'renewLease',
  'postResult',
  'appendLog',
])

test('X-86 a quantum backend gets its units once it is attached; without one they wait', async () => {
  const { engine, pool } = await setUp()
  const ising = { h: [1, -1], j: -2 }
  const id = await start(engine, [task('solve', [], { name: 'quantum.solve', inputParameters: { ising } })])
  await sleep(50)
  expect((await engine.control.readWorkflow(id))?.tasks[0]?.status).toBe('SCHEDULED')
  const jobs: unknown[] = []
  pool.register(
    executor('annealer', {
      types: ['quantum.solve'],
      run: ({ input }) => {
        jobs.push(input.ising)
        return Promise.resolve({ spins: [1, 1] })
      },
    }),
  )
  expect(await ended(engine, id)).toMatchObject({ status: 'COMPLETED', output: { spins: [1, 1] } })
  expect(jobs).toEqual([ising])
})

test('X-87 a knowledge graph answers the units that ask it, and other units use the answers; it is off by default', async () => {
  const { engine, pool } = await setUp()
  const facts: Readonly<Record<string, string>> = { 'orders.owner': 'sales' }
  pool.register(executor('plain', { run: ({ input }) => Promise.resolve({ told: input.owner ?? null }) }))
  const ask = task('ask', [], { name: 'knowledge.ask', inputParameters: { subject: 'orders.owner' } })
  const tell = task('tell', ['ask'], { inputParameters: { owner: '${ask.output.answer}' } })
  const id = await start(engine, [ask, tell])
  await sleep(50)
  expect((await engine.control.readWorkflow(id))?.tasks.map(({ status }) => status)).toEqual(['SCHEDULED'])
  pool.register(
    executor('graph', {
      types: ['knowledge.ask'],
      run: ({ input }) => Promise.resolve({ answer: facts[input.subject as string] ?? null }),
    }),
  )
  expect(await ended(engine, id)).toMatchObject({ status: 'COMPLETED', output: { told: 'sales' } })
})

test('EN-750 an executor never runs more units than its capacity, of all its types, and its load is visible', async () => {
  const { engine, pool } = await setUp()
  let [now, most] = [0, 0]
  const { run, release } = held()
  const north = pool.register(
    executor('north', {
      types: ['t', 'u'],
      capacity: 3,
      labels: { cloud: 'north' },
      run: async (unit, call) => {
        most = Math.max(most, ++now)
        return run(unit, call).finally(() => (now -= 1))
      },
    }),
  )
  const names = ['t', 'u', 't', 'u', 't', 'u', 't', 'u']
  const id = await start(
    engine,
    names.map((name, index) => task(`u${index}`, [], { name })),
  )
  await until('three run', () => now === 3)
  expect(pool.list()).toEqual([north.status()])
  const { running, ...status } = north.status()
  expect(running.map(({ workflowId }) => workflowId)).toEqual([id, id, id])
  expect(status).toMatchObject({
    ...{ name: 'north', types: ['t', 'u'], capacity: 3, labels: { cloud: 'north' }, state: 'running' },
    ...{ health: { is: 'up' }, ended: { completed: 0 } },
  })
  release()
  expect(await ended(engine, id)).toMatchObject({ status: 'COMPLETED' })
  await until('its results are in', () => north.status().running.length === 0)
  expect([most, north.status().ended.completed]).toEqual([3, 8])
})

test('EN-751 executors of several places run parts of one graph, each its own types or domain', async () => {
  const { engine, pool } = await setUp()
  const parts: Record<string, string> = {}
  const place = (name: string, more: Partial<Executor>): Executor =>
    executor(name, {
      ...more,
      run: ({ attempt }) => {
        parts[attempt.referenceName] = name
        return Promise.resolve({ from: name })
      },
    })
  pool.register(place('north', { types: ['north.train'], labels: { cloud: 'north' } }))
  pool.register(place('south', { types: ['south.train'], labels: { cloud: 'south' } }))
  pool.register(place('edge', { types: ['merge'], domain: 'edge' }))
  for (const name of ['north.train', 'south.train', 'merge']) await engine.control.registerTask({ name })
  const graph = graphOf([
    task('one', [], { name: 'north.train' }),
    task('two', [], { name: 'south.train' }),
    task('both', ['one', 'two'], {
      name: 'merge',
      inputParameters: { one: '${one.output.from}', two: '${two.output.from}' },
    }),
  ])
  const id = await engine.control.startGraph(graph, { taskToDomain: { merge: 'edge' } })
  const { status, tasks } = await ended(engine, id)
  expect([status, parts]).toEqual(['COMPLETED', { one: 'north', two: 'south', both: 'edge' }])
  expect(tasks.at(-1)?.input).toMatchObject({ one: 'north', two: 'south' })
})

test('EN-752 an executor that dies gives its units back without using up a retry, and gets none until it is back', async () => {
  const { engine, pool } = await setUp()
  let isAlive = true
  const begun: string[] = []
  const first = pool.register(
    executor('first', {
      capacity: 2,
      examine: () => (isAlive ? Promise.resolve() : Promise.reject(new Error('no power'))),
      run: ({ attempt }, { signal }) =>
        new Promise((resolve, reject) => {
          begun.push(attempt.referenceName)
          if (attempt.referenceName === 'a' && begun.length === 2) {
            isAlive = false
            reject(new ExecutorLostError('the line is dead'))
          } else if (!isAlive) resolve({})
          else signal.addEventListener('abort', () => reject(new Error('told to stop')), { once: true })
        }),
    }),
  )
  const id = await start(engine, [task('b'), task('a')])
  await until('it is seen', () => first.status().health.is === 'down')
  await until('both are given back', () => first.status().running.length === 0)
  expect(first.status()).toMatchObject({ ended: { completed: 0, failed: 0, givenBack: 2 } })
  expect((await engine.control.readWorkflow(id))?.tasks).toMatchObject([
    { status: 'SCHEDULED', retryCount: 0 },
    { status: 'SCHEDULED', retryCount: 0 },
  ])
  pool.register(executor('second', { capacity: 2 }))
  const { status, tasks } = await ended(engine, id)
  expect([status, tasks.map(({ retryCount, output }) => [retryCount, output])]).toEqual([
    'COMPLETED',
    [
      [0, { by: 'second' }],
      [0, { by: 'second' }],
    ],
  ])
  expect(begun).toHaveLength(2)
})

test('EN-752 an executor that cannot be examined gets units again after a while, one that can when it is well', async () => {
  const clock = new ManualClock()
  const engine = await openEngine({ store: openMemoryStore(), clock })
  const pool = await openExecutorPool({ queue: engine.queue, clock })
  onTestFinished(async () => {
    const closing = pool.close({ deadlineMs: 0 })
    await clock.advance(60_000)
    await closing
    await engine.close()
  })
  let isWell = false
  const examined = pool.register(
    executor('examined', {
      types: ['x'],
      examine: () => (isWell ? Promise.resolve() : Promise.reject(new Error('cold'))),
    }),
  )
  let losses = 0
  const plain = pool.register(
    executor('plain', {
      run: () => (losses++ === 0 ? Promise.reject(new ExecutorLostError('gone')) : Promise.resolve({})),
    }),
  )
  await clock.advance(1)
  const health = () => [examined.status().health.why ?? 'up', plain.status().health.is]
  expect(health()).toEqual(['cold', 'up'])
  const id = await start(engine, [task('a')])
  for (let seconds = 0; seconds < 3; seconds++) await clock.advance(500)
  expect(health()).toEqual(['cold', 'down'])
  isWell = true
  for (let seconds = 0; seconds < 12; seconds++) await clock.advance(1_000)
  expect(health()).toEqual(['up', 'up'])
  expect((await engine.control.readWorkflow(id))?.status).toBe('COMPLETED')
  expect(losses).toBe(2)
})

test('EN-753 the answer of an attempt that ran out of time does not count; its signal is aborted', async () => {
  const { engine, pool } = await setUp()
  const signals: AbortSignal[] = []
  const slow = pool.register(
    executor('slow', {
      capacity: 2,
      run: async ({ attempt }, { signal }) => {
        signals.push(signal)
        if (attempt.retryCount > 0) return { by: 'the second attempt' }
        await until('it is aborted', () => signal.aborted)
        return { by: 'the first attempt' }
      },
    }),
  )
  // The lease is kept; it is the time limit of the whole attempt that ends it.
  const id = await start(engine, [task('a')], {
    retryCount: 1,
    retryDelaySeconds: 0,
    timeoutSeconds: 1,
    responseTimeoutSeconds: 1,
    timeoutPolicy: 'RETRY',
  })
  const { status, tasks } = await ended(engine, id)
  expect([status, tasks.map((each) => [each.status, each.output])]).toEqual([
    'COMPLETED',
    [
      ['TIMED_OUT', {}],
      ['COMPLETED', { by: 'the second attempt' }],
    ],
  ])
  await until('the late answer was dropped', () => slow.status().ended.superseded === 1)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})

test('EN-754 a failure is tried again as the definition says, a terminal one is not, and an answer must be an object', async () => {
  const { engine, pool } = await setUp()
  pool.register(
    executor('shaky', {
      run: ({ input, attempt }) => {
        if (input.how === 'once' && attempt.retryCount === 0) return Promise.reject(new Error('no luck'))
        if (input.how === 'never') return Promise.reject(new TerminalError('no such state'))
        if (input.how === 'wrong') return Promise.resolve([1] as never)
        if (input.how === 'throws') throw new TerminalError('thrown, not rejected')
        return Promise.resolve({ fine: true })
      },
    }),
  )
  const outcome = async (how: string): Promise<unknown> => {
    const id = await start(engine, [task('a', [], { inputParameters: { how } })], {
      retryCount: 1,
      retryDelaySeconds: 0,
    })
    const { status, tasks } = await ended(engine, id)
    return [status, tasks.map((each) => each.status), tasks.at(-1)?.reasonForIncompletion]
  }
  expect(await outcome('once')).toMatchObject([
    'COMPLETED',
    ['FAILED', 'COMPLETED'],
    expect.stringContaining('no luck'),
  ])
  expect(await outcome('never')).toEqual([
    'FAILED',
    ['FAILED_WITH_TERMINAL_ERROR'],
    expect.stringContaining('no such state'),
  ])
  expect(await outcome('throws')).toEqual([
    'FAILED',
    ['FAILED_WITH_TERMINAL_ERROR'],
    expect.stringContaining('thrown'),
  ])
  expect(await outcome('wrong')).toEqual([
    'FAILED',
    ['FAILED', 'FAILED'],
    expect.stringContaining('must be an object'),
  ])
})

test('EN-755 what is unregistered gets no more units, ends those that it has, and gives back what does not end', async () => {
  const { engine, pool } = await setUp()
  const patient = held()
  const leaving = pool.register(executor('leaving', { run: patient.run }))
  const id = await start(engine, [task('a'), task('b', ['a'])])
  await until('it runs', () => patient.begun.length === 1)
  const left = leaving.unregister()
  expect(leaving.status().state).toBe('stopping')
  patient.release()
  await left
  expect(pool.list()).toEqual([])
  expect((await engine.control.readWorkflow(id))?.tasks.map(({ status }) => status)).toEqual([
    'COMPLETED',
    'SCHEDULED',
  ])
  // The same name again, and one that goes on until it is told to stop.
  const stubborn = pool.register(
    executor('leaving', {
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
        }),
    }),
  )
  await until('it runs', () => stubborn.status().running.length === 1)
  await stubborn.unregister({ deadlineMs: 0 })
  const [, second] = (await engine.control.readWorkflow(id))?.tasks ?? []
  expect([second?.status, second?.retryCount]).toEqual(['SCHEDULED', 0])
})

test('EN-756 a result that the queue did not take is sent again, also by the next pool with its directory', async () => {
  const results = mkdtempSync(join(tmpdir(), 'perago-executors-'))
  onTestFinished(() => rmSync(results, { recursive: true }))
  let isAway = false
  const cut = (queue: TaskQueue): TaskQueue =>
    new Proxy(queue, {
      get: (target, name: keyof TaskQueue) =>
        ((...args: unknown[]) =>
          isAway && name !== 'poll'
            ? Promise.reject(new Error('no way through'))
            : (target[name] as (...all: unknown[]) => unknown).apply(target, args)) as unknown,
    })
  const { engine, pool } = await setUp({ queue: cut, results })
  let runs = 0
  const run: Executor['run'] = () => {
    isAway = true
    runs += 1
    return Promise.resolve({ runs })
  }
  const first = pool.register(executor('first', { run }))
  const id = await start(engine, [task('a')], { responseTimeoutSeconds: 30 })
  await until('its result is kept', () => first.status().ended.completed === 1)
  await pool.close()
  const next: ExecutorPool = await openExecutorPool({ queue: engine.queue, results })
  onTestFinished(() => next.close())
  expect(await ended(engine, id)).toMatchObject({ status: 'COMPLETED', output: { runs: 1 } })
})

test.each([
  ['a name with a slash', { name: 'a/b' }],
  ['no types', { types: [] }],
  ['a type twice', { types: ['t', 't'] }],
  ['no room', { capacity: 0 }],
  ['half a unit', { capacity: 1.5 }],
])('EN-757 an executor with %s is refused', async (_, more) => {
  const { pool } = await setUp()
  expect(() => pool.register(executor('north', more))).toThrow(
    expect.objectContaining({ code: 'worker/bad-executor' }),
  )
})

test('EN-757 two executors with one name are refused, and so is any after the pool was closed', async () => {
  const { pool } = await setUp()
  const refusal = expect.objectContaining({ code: 'worker/executor-not-registered' }) as Error
  pool.register(executor('north'))
  expect(() => pool.register(executor('north'))).toThrow(refusal)
  await pool.close()
  expect(() => pool.register(executor('south'))).toThrow(refusal)
})
