// How orders run: in sequence, each as a whole, and how a run ends.
import { describe, expect, test } from 'vitest'
import { openPlanWorld, settle, type PlanWorld } from '../../../test/support/plans.ts'
import { NewPlan, type ControlledPlan } from './control-surface.ts'
import { PlanFailedError } from './plan-errors.ts'

interface Step {
  readonly id: string
  readonly order: number
  readonly ms?: number
  readonly fails?: unknown
}

interface Traced {
  readonly plan: ControlledPlan
  readonly log: string[]
  readonly spans: Map<string, { startMs: number; endMs: number }>
}

/** A plan whose tasks take their time, and note when they began and ended. */
function trace(world: PlanWorld, id: string, steps: readonly Step[]): Traced {
  const plan = NewPlan(id, { registry: world.registry })
  const log: string[] = []
  const spans = new Map<string, { startMs: number; endMs: number }>()
  for (const step of steps)
    plan.AddTask({
      id: step.id,
      order: step.order,
      function: async ({ signal }) => {
        const startMs = world.clock.monotonicMs()
        log.push(`+${step.id}`)
        if (step.ms !== undefined) await world.clock.sleep(step.ms, signal)
        if ('fails' in step) throw step.fails
        log.push(`-${step.id}`)
        spans.set(step.id, { startMs, endMs: world.clock.monotonicMs() })
        return step.id
      },
    })
  return { plan, log, spans }
}

async function failureOf(running: Promise<unknown>): Promise<PlanFailedError> {
  const error: unknown = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(PlanFailedError)
  return error as PlanFailedError
}

describe('orders', () => {
  test('P-02 three tasks of one order take the time of one', async () => {
    const world = openPlanWorld()
    const { plan } = trace(
      world,
      'p',
      ['a', 'b', 'c'].map((id) => ({ id, order: 1, ms: 100 })),
    )
    await world.clock.run(plan.Start())
    expect(world.clock.monotonicMs()).toBe(100)
  })

  test('P-12 two tasks of one order are running at one moment', async () => {
    const world = openPlanWorld()
    const { plan } = trace(world, 'p', [
      { id: 'a', order: 1, ms: 10 },
      { id: 'b', order: 1, ms: 10 },
    ])
    const started = plan.Start()
    await settle()
    expect(plan.GetStatus().tasks).toEqual({ a: 'running', b: 'running' })
    await world.clock.run(started)
  })

  test('P-15 P-21 plan and task are running when the function is called', async () => {
    const world = openPlanWorld()
    const plan = NewPlan('p', { registry: world.registry })
    const seen: unknown[] = []
    plan.AddTask({ id: 'a', order: 1, function: () => void seen.push(plan.GetStatus()) })
    await plan.Start()
    expect(seen).toEqual([{ plan: 'running', tasks: { a: 'running' } }])
  })

  test('P-16 P-17 orders go from 0 up to the highest, however they were added', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(
      world,
      'p',
      [4, 0, 2, 1].map((order) => ({ id: `t${order}`, order })),
    )
    await plan.Start()
    expect(log).toEqual(['+t0', '-t0', '+t1', '-t1', '+t2', '-t2', '+t4', '-t4'])
  })

  test('P-18 a gap between two orders takes no time and no step', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(world, 'p', [
      { id: 'first', order: 1 },
      { id: 'last', order: 1_000_000_000 },
    ])
    await plan.Start()
    expect(log).toEqual(['+first', '-first', '+last', '-last'])
    expect(world.clock.monotonicMs()).toBe(0)
  })

  test('P-19 P-20 an order begins exactly its tasks, all of them before any has ended', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(world, 'p', [
      { id: 'a', order: 1, ms: 1 },
      { id: 'x', order: 2, ms: 1 },
      { id: 'b', order: 1, ms: 1 },
      { id: 'y', order: 2, ms: 1 },
    ])
    await world.clock.run(plan.Start())
    expect(log).toEqual(['+a', '+b', '-a', '-b', '+x', '+y', '-x', '-y'])
  })

  test('P-25 no task starts before the slowest one of the order below has ended', async () => {
    const world = openPlanWorld()
    const { plan, spans } = trace(world, 'p', [
      { id: 'fast', order: 1, ms: 1 },
      { id: 'slow', order: 1, ms: 500 },
      { id: 'next', order: 2 },
    ])
    await world.clock.run(plan.Start())
    expect(spans.get('next')?.startMs).toBe(500)
  })

  test('P-28 P-32 five orders run strictly one after the other', async () => {
    const world = openPlanWorld()
    const orders = [1, 2, 3, 4, 5]
    const { plan, spans } = trace(
      world,
      'p',
      orders.flatMap((order) => [
        { id: `${order}a`, order, ms: 10 * order },
        { id: `${order}b`, order, ms: 1 },
      ]),
    )
    await world.clock.run(plan.Start())
    for (const order of orders.slice(1)) {
      const before = [spans.get(`${order - 1}a`), spans.get(`${order - 1}b`)]
      const ended = Math.max(...before.map((span) => span?.endMs ?? Infinity))
      expect(spans.get(`${order}a`)?.startMs).toBe(ended)
      expect(spans.get(`${order}b`)?.startMs).toBe(ended)
    }
  })

  test('P-35 a plan without tasks is completed once started', async () => {
    const plan = NewPlan('p', { registry: openPlanWorld().registry })
    await plan.Start()
    expect(plan.GetStatus()).toEqual({ plan: 'completed', tasks: {} })
  })

  test('P-38 three tasks, then two, then one run in these layers and complete', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(world, 'p', [
      ...['A', 'B', 'C'].map((id) => ({ id, order: 0, ms: 5 })),
      ...['D', 'E'].map((id) => ({ id, order: 1, ms: 5 })),
      { id: 'F', order: 2, ms: 5 },
    ])
    await world.clock.run(plan.Start())
    expect(log.join(' ')).toBe('+A +B +C -A -B -C +D +E -D -E +F -F')
    expect(plan.status).toBe('completed')
  })

  test('P-251 a thousand tasks in one order run to completion', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(
      world,
      'p',
      Array.from({ length: 1000 }, (_, index) => ({ id: `t${index}`, order: 1 })),
    )
    await plan.Start()
    expect(log.filter((line) => line.startsWith('-'))).toHaveLength(1000)
    expect(plan.status).toBe('completed')
  }, 60_000)
})

describe('ends', () => {
  test('P-22 P-29 after the highest order all are completed and Start returns no value', async () => {
    const { plan } = trace(openPlanWorld(), 'p', [{ id: 'a', order: 1 }])
    await expect(plan.Start()).resolves.toBeUndefined()
    expect(plan.GetStatus()).toEqual({ plan: 'completed', tasks: { a: 'completed' } })
  })

  test('P-44 a run without errors leaves plan and tasks completed', async () => {
    const { plan } = trace(openPlanWorld(), 'p', [
      { id: 'a', order: 1 },
      { id: 'b', order: 3 },
    ])
    await plan.Start()
    expect(plan.GetStatus()).toEqual({ plan: 'completed', tasks: { a: 'completed', b: 'completed' } })
  })

  test('P-23 P-45 a task that throws is failed, keeps its error, and its plan is failed', async () => {
    const boom = new Error('boom')
    const { plan } = trace(openPlanWorld(), 'p', [{ id: 'a', order: 1, fails: boom }])
    const error = await failureOf(plan.Start())
    expect(plan.GetStatus()).toEqual({ plan: 'failed', tasks: { a: 'failed' } })
    expect(error.failures).toEqual([{ taskId: 'a', order: 1, error: boom }])
  })

  test('P-24 P-135 the error names the task, and its cause is the very object thrown', async () => {
    const boom = new Error('boom')
    const { plan } = trace(openPlanWorld(), 'p', [{ id: 'a', order: 1, fails: boom }])
    const statusThen: string[] = []
    const error = await failureOf(plan.Start().finally(() => statusThen.push(plan.status)))
    expect(error.taskId).toBe('a')
    expect(error.cause).toBe(boom)
    expect(error.message).toBe('run the plan "p": the task "a" failed: boom')
    expect(statusThen).toEqual(['failed'])
  })

  test('P-26 P-31 after an order with an error later tasks stay created', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(world, 'p', [
      { id: 'bad', order: 1, fails: new Error('boom') },
      { id: 'next', order: 2 },
      { id: 'last', order: 3 },
    ])
    await failureOf(plan.Start())
    expect(log).toEqual(['+bad'])
    expect(plan.GetStatus().tasks).toEqual({ bad: 'failed', next: 'created', last: 'created' })
  })

  test('P-30 an error makes the plan failed and Start rejects', async () => {
    const { plan } = trace(openPlanWorld(), 'p', [{ id: 'a', order: 0, fails: new Error('no') }])
    await expect(plan.Start()).rejects.toMatchObject({ code: 'plan/task-failed', kind: 'refused' })
    expect(plan.status).toBe('failed')
  })

  test('P-33 all failures of an order are kept, the first one as the cause', async () => {
    const world = openPlanWorld()
    const plan = NewPlan('p', { registry: world.registry })
    const first = new Error('first')
    const second = new Error('second')
    plan.AddTask({
      id: 'late',
      order: 1,
      // It ignores that it is cancelled, and fails in its own way.
      function: async () => {
        await world.clock.sleep(50)
        throw second
      },
    })
    plan.AddTask({
      id: 'early',
      order: 1,
      function: async () => {
        await world.clock.sleep(10)
        throw first
      },
    })
    const error = await failureOf(world.clock.run(plan.Start()))
    expect(error.cause).toBe(first)
    expect(error.failures.map(({ taskId }) => taskId)).toEqual(['early', 'late'])
    expect(plan.GetStatus().tasks).toEqual({ late: 'failed', early: 'failed' })
    expect(world.clock.monotonicMs()).toBe(50)
  })

  test('P-138 when a task fails its siblings are cancelled at once, and awaited', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(world, 'p', [
      { id: 'bad', order: 1, ms: 5, fails: new Error('boom') },
      { id: 'long', order: 1, ms: 60_000 },
      { id: 'next', order: 2 },
    ])
    await failureOf(world.clock.run(plan.Start()))
    expect(world.clock.monotonicMs()).toBe(5)
    expect(log).toEqual(['+bad', '+long'])
    expect(plan.GetStatus().tasks).toEqual({ bad: 'failed', long: 'destroyed', next: 'created' })
  })

  test.each([
    ['P-139 a thrown string is caught and kept', 'a string'],
    ['P-139 a thrown null is caught and kept', null],
    ['P-139 a thrown object is caught and kept', { why: 'none' }],
  ])('%s', async (_, thrown) => {
    const { plan } = trace(openPlanWorld(), 'p', [{ id: 'a', order: 1, fails: thrown }])
    const error = await failureOf(plan.Start())
    expect(error.failures[0]?.error).toBe(thrown)
  })

  test('P-139 a function that throws at once, rejects or returns an error is caught', async () => {
    for (const broken of [
      () => {
        throw new Error('at once')
      },
      () => Promise.reject(new Error('later')),
      () => new Error('returned'),
    ]) {
      const plan = NewPlan('p', { registry: openPlanWorld().registry })
      plan.AddTask({ id: 'a', order: 1, function: broken })
      await failureOf(plan.Start())
      expect(plan.GetTaskStatus('a')).toBe('failed')
    }
  })
})

describe('adding', () => {
  test.each([-1, 1.5, NaN, Infinity, 2 ** 60])('P-34 the order %s is refused', (order) => {
    const plan = NewPlan('p', { registry: openPlanWorld().registry })
    expect(() => plan.AddTask({ id: 'a', order, function: () => 1 })).toThrow(
      expect.objectContaining({ code: 'plan/bad-order', kind: 'invalid' }),
    )
    expect(plan.GetStatus().tasks).toEqual({})
  })

  test('P-32 a running plan takes tasks of its current and of later orders, not of earlier ones', async () => {
    const world = openPlanWorld()
    const { plan, log } = trace(world, 'p', [
      { id: 'a', order: 1, ms: 5 },
      { id: 'c', order: 3 },
    ])
    const add = (id: string, order: number, ms = 0): void =>
      plan.AddTask({
        id,
        order,
        function: async () => {
          log.push(`+${id}`)
          await world.clock.sleep(ms)
          log.push(`-${id}`)
        },
      })
    plan.AddTask({
      id: 'adds',
      order: 2,
      function: () => {
        expect(() => add('too-late', 1)).toThrow(expect.objectContaining({ code: 'plan/order-passed' }))
        add('same', 2, 20)
        add('between', 2)
        add('new-last', 7)
      },
    })
    await world.clock.run(plan.Start())
    expect(log).toEqual([
      '+a',
      '-a',
      '+same',
      '+between',
      '-between',
      '-same',
      '+c',
      '-c',
      '+new-last',
      '-new-last',
    ])
    expect(() => add('after', 9)).toThrow(expect.objectContaining({ code: 'plan/final' }))
  })
})
