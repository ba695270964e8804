// The script surface: the class Plan, its handlers, its data.
import { describe, expect, test, vi } from 'vitest'
import { openPlanWorld, settle } from '../../../test/support/plans.ts'
import type { Clock } from '../../base/clock.ts'
import { NewPlan } from './control-surface.ts'
import { PlanFailedError } from './plan-errors.ts'
import { Plan } from './plan.ts'
import { PlanRegistry } from './plan-registry.ts'
import { declareTask } from './task-handler.ts'
import { time } from './time.ts'

describe('identity', () => {
  test('P-88 new Plan opens the plan of its id', () => {
    const { registry } = openPlanWorld()
    new Plan('p', { registry }).Set('k', 1)
    expect(new Plan('p', { registry }).Get('k')).toBe(1)
  })

  test('P-89 equal ids are one plan in one namespace and different plans in two', () => {
    const { registry } = openPlanWorld()
    const east = new Plan('p', { registry, namespace: 'east' })
    const west = new Plan('p', { registry, namespace: 'west' })
    east.Set('k', 'east')
    expect(west.Has('k')).toBe(false)
    expect(new Plan('p', { registry, namespace: 'east' }).Get('k')).toBe('east')
  })

  test('P-89 a task finds the plans of its own namespace', async () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry, namespace: 'east' })
    plan.Set('k', 'east')
    plan.Add('a', 1, (plan_id: string) => new Plan(plan_id).Get('k'))
    await plan.Run()
    expect(plan.TaskData('a')).toBe('east')
  })

  test('P-90 a released id gives a new plan', async () => {
    const { registry } = openPlanWorld()
    const first = new Plan('p', { registry })
    first.Add('a', 1, () => first.Set('k', 1))
    await first.Run()
    first.Release()
    const second = new Plan('p', { registry })
    expect(second.Status()).toEqual({ plan: 'created', tasks: {} })
    expect(second.Has('k')).toBe(false)
    expect(first.Status()).toEqual({ plan: 'completed', tasks: { a: 'completed' } })
  })

  test('P-09 two plans have two shared spaces', () => {
    const { registry } = openPlanWorld()
    new Plan('one', { registry }).Set('k', 1)
    expect(new Plan('two', { registry }).Has('k')).toBe(false)
  })
})

describe('tasks', () => {
  test('P-91 P-95 a handler gets plan id, task id and the arguments in their order', async () => {
    const { registry, handlers } = openPlanWorld()
    const handler = vi.fn()
    handlers.register('a.b.handler', handler)
    const plan = new Plan('p', { registry })
    plan.Add('t', 1, 'a.b.handler', 'x', 2, { y: 3 })
    await plan.Run()
    expect(handler.mock.calls).toEqual([['p', 't', 'x', 2, { y: 3 }]])
  })

  test('P-92 P-242 a registered name works, an unknown one is an error naming it', async () => {
    const { registry, handlers } = openPlanWorld()
    handlers.registerAll('scripts.runtime.api.plan', { Task1: () => 'one', Task2: () => 'two' })
    const plan = new Plan('p', { registry })
    plan.Add('t', 1, 'scripts.runtime.api.plan.Task1')
    expect(() => plan.Add('u', 1, 'scripts.runtime.api.plan.Task3')).toThrow(
      expect.objectContaining({
        code: 'plan/no-such-handler',
        message: 'find the handler "scripts.runtime.api.plan.Task3": it is not registered',
        next: 'Did you mean "scripts.runtime.api.plan.Task1"?',
      }),
    )
    await plan.Run()
    expect(plan.Status().tasks).toEqual({ t: 'completed' })
    expect(plan.TaskData('t')).toBe('one')
  })

  test('P-92 a strict plan accepts names only', () => {
    const { registry, handlers } = openPlanWorld()
    handlers.register('named', () => 1)
    const plan = new Plan('p', { registry, strict: true })
    const refused = expect.objectContaining({ code: 'plan/names-only' }) as Error
    expect(() => plan.Add('t', 1, () => 1)).toThrow(refused)
    expect(() => plan.Subscribe('k', () => 1)).toThrow(refused)
    expect(() => plan.Add('t', 1, 'named')).not.toThrow()
  })

  test('P-242 a name has words joined by dots, and belongs to one function', () => {
    const { handlers } = openPlanWorld()
    for (const bad of ['', 'a..b', '.a', 'a b', '1a'])
      expect(() => handlers.register(bad, () => 1)).toThrow(
        expect.objectContaining({ code: 'plan/bad-handler-name' }),
      )
    const one = (): number => 1
    handlers.register('a.b', one)
    handlers.register('a.b', one)
    expect(() => handlers.register('a.b', () => 2)).toThrow(
      expect.objectContaining({ code: 'plan/handler-exists' }),
    )
  })

  test('P-94 a task id that the plan has is refused, and runs once', async () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    const called = vi.fn()
    plan.Add('t', 1, called)
    expect(() => plan.Add('t', 2, called)).toThrow(expect.objectContaining({ code: 'plan/task-exists' }))
    expect(() => plan.Add('', 2, called)).toThrow(expect.objectContaining({ code: 'plan/bad-task-id' }))
    await plan.Run()
    expect(called).toHaveBeenCalledTimes(1)
  })

  test('P-96 P-102 a returned value is the data of the task, unless it stores other data', async () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    plan.Add('returns', 1, () => ({ rows: 3 }))
    plan.Add('stores', 1, (plan_id: string, task_id: string) => {
      new Plan(plan_id).TaskData(task_id, { a: 1 })
      return 'the result'
    })
    await plan.Run()
    expect(plan.TaskData('returns')).toEqual({ rows: 3 })
    expect(plan.TaskData('stores')).toEqual({ a: 1 })
    expect(() => plan.TaskData('nope')).toThrow(expect.objectContaining({ code: 'plan/no-such-task' }))
  })

  test('P-103 TaskData with data sets it and returns the previous data', () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    plan.Add('t', 1, () => 1)
    expect(plan.TaskData('t', 'first')).toBeUndefined()
    expect(plan.TaskData('t', 'second')).toBe('first')
    expect(plan.TaskData('t', undefined)).toBe('second')
    expect(plan.TaskData('t')).toBeUndefined()
  })

  test('P-97 when Run has resolved no task is running and the status is final', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    for (const id of ['a', 'b', 'c']) plan.Add(id, 1, () => time.Sleep(100))
    await world.clock.run(plan.Run())
    expect(plan.Status()).toEqual({
      plan: 'completed',
      tasks: { a: 'completed', b: 'completed', c: 'completed' },
    })
  })

  test('P-98 Run rejects with the error of the task that failed the plan', async () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    const boom = new Error('boom')
    plan.Add('t', 1, () => {
      throw boom
    })
    const error: unknown = await plan.Run().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PlanFailedError)
    expect((error as PlanFailedError).cause).toBe(boom)
  })

  test('P-100 P-101 Status and TaskStatus show a run before, during and after it', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    plan.Add('a', 1, () => time.Sleep(10))
    plan.Add('b', 2, () => 1)
    expect(plan.Status()).toEqual({ plan: 'created', tasks: { a: 'created', b: 'created' } })
    const running = plan.Run()
    await settle()
    expect(plan.Status()).toEqual({ plan: 'running', tasks: { a: 'running', b: 'created' } })
    expect(plan.TaskStatus('a')).toBe('running')
    await world.clock.run(running)
    expect(plan.Status()).toEqual({ plan: 'completed', tasks: { a: 'completed', b: 'completed' } })
    expect(plan.TaskStatus('a')).toBe('completed')
  })

  test('P-115 a Plan passed as an argument arrives readable and writable', async () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    plan.Set('k', 1)
    plan.Add(
      't',
      1,
      (_: string, __: string, given: Plan) => given.Set('k', (given.Get('k') as number) + 1),
      plan,
    )
    await plan.Run()
    expect(plan.Get('k')).toBe(2)
  })

  test('P-211 a single handler can be tested with a stand-in plan', () => {
    const robust = (_: string, task_id: string, plan: Pick<Plan, 'Get' | 'Set'>): void =>
      plan.Set('sum', `${task_id} ${(plan.Get('rows') as number) + 1}`)
    const stored: unknown[] = []
    robust('p', 't', { Get: () => 2, Set: (key, value) => stored.push([key, value]) })
    expect(stored).toEqual([['sum', 't 3']])
  })

  test('P-212 a failure is logged with plan, task, order, attempt and error', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    const boom = new Error('boom')
    plan.Add(
      't',
      3,
      declareTask(
        () => {
          throw boom
        },
        { retry: { attempts: 2, delayMs: 10 } },
      ),
    )
    await expect(world.clock.run(plan.Run())).rejects.toThrow('boom')
    const fields = { plan: 'p', task: 't', order: 3, error: boom }
    expect(world.lines).toEqual([
      {
        level: 'warn',
        message: 'a task failed and is tried again',
        fields: { ...fields, attempt: 1, delayMs: 10 },
      },
      { level: 'error', message: 'a task failed', fields: { ...fields, attempt: 2 } },
    ])
    expect(plan.TaskTimes('t')?.durationMs).toBe(10)
  })
})

describe('data', () => {
  test('P-104 Get of a missing key throws, or gives undefined by option or a fallback', () => {
    const { registry } = openPlanWorld()
    const throwing = new Plan('p', { registry })
    expect(() => throwing.Get('k')).toThrow(
      expect.objectContaining({ kind: 'missing', code: 'plan/not-found' }),
    )
    expect(throwing.Get('k', 'fallback')).toBe('fallback')
    expect(throwing.TryGet('k')).toBeUndefined()
    const lenient = new Plan('q', { registry, missingKeys: 'undefined' })
    expect(lenient.Get('k')).toBeUndefined()
    lenient.Set('k', 0)
    expect(lenient.Get('k', 'fallback')).toBe(0)
  })

  test('P-105 Set stores, then calls the subscribers of the key, who see the value', () => {
    const { registry, handlers } = openPlanWorld()
    const seen: unknown[] = []
    handlers.register('on.rows', (plan_id: string, key: string, data: unknown) =>
      seen.push([data, new Plan(plan_id, { registry }).Get(key)]),
    )
    const plan = new Plan('p', { registry })
    plan.Subscribe('rows', 'on.rows')
    plan.Set('rows', 3)
    expect(seen).toEqual([[3, 3]])
  })

  test('P-106 P-110 Del and its alias Delete remove only that value', () => {
    const plan = new Plan('p', { registry: openPlanWorld().registry })
    for (const key of ['a', 'b', 'c']) plan.Set(key, key)
    plan.Del('a')
    plan.Delete('b')
    expect(() => plan.Get('a')).toThrow(/not found/)
    expect(() => plan.Get('b')).toThrow(/not found/)
    expect(plan.Get('c')).toBe('c')
  })

  test('P-107 Clear empties the space and keeps the subscriptions', () => {
    const plan = new Plan('p', { registry: openPlanWorld().registry })
    const called = vi.fn()
    plan.Subscribe('a', called)
    for (const key of ['a', 'b', 'c']) plan.Set(key, key)
    plan.Clear()
    for (const key of ['a', 'b', 'c']) expect(plan.Has(key)).toBe(false)
    plan.Set('a', 1)
    expect(called).toHaveBeenCalledTimes(2)
  })

  test('P-108 P-109 a subscribed handler gets plan id, key, data and its own arguments', () => {
    const { registry, handlers } = openPlanWorld()
    const handler = vi.fn()
    handlers.register('on.key', handler)
    const plan = new Plan('p', { registry })
    plan.Subscribe('key', 'on.key', 'x', 'y')
    plan.Set('key', 'value')
    expect(handler.mock.calls).toEqual([['p', 'key', 'value', 'x', 'y']])
    expect(() => plan.Subscribe('key', 'on.nothing')).toThrow(/"on.nothing"/)
  })

  test('P-75 the rejection of an asynchronous subscriber is logged', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    plan.Subscribe('k', () => Promise.reject(new Error('later')))
    plan.Set('k', 1)
    await settle()
    expect(world.lines.map(({ message }) => message)).toEqual(['a subscriber failed'])
  })

  test('P-80 P-154 Update is atomic for one key', async () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    for (let index = 0; index < 100; index++)
      plan.Add(`t${index}`, 1, async () => {
        await time.Sleep(0)
        plan.Update<number>('count', (count = 0) => count + 1)
      })
    await plan.Run()
    expect(plan.Get('count')).toBe(100)
    expect(() => plan.Update('count', () => Promise.resolve(1))).toThrow(
      expect.objectContaining({ code: 'plan/async-update' }),
    )
    expect(plan.Get('count')).toBe(100)
  })

  test('P-99 Release clears the space and leaves the registry', () => {
    const { registry } = openPlanWorld()
    const plan = new Plan('p', { registry })
    plan.Set('k', 1)
    plan.Release()
    expect(plan.Has('k')).toBe(false)
    expect(registry.ids()).toEqual([])
  })

  test('P-74 a slow subscriber delays the caller of Set', () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    const order: string[] = []
    plan.Subscribe('k', () => {
      // Nothing else runs meanwhile, so whatever it does, the setter waits for it.
      for (let step = 0; step < 1_000; step++) order.length = 0
      order.push('subscriber is done')
    })
    plan.Set('k', 1)
    order.push('Set returned')
    expect(order).toEqual(['subscriber is done', 'Set returned'])
  })

  test('P-208 a subscriber slower than the configured time causes a warning', () => {
    let elapsedMs = 0
    const world = openPlanWorld()
    const clock: Clock = {
      now: () => new Date(0),
      monotonicMs: () => elapsedMs,
      sleep: () => Promise.resolve(),
    }
    const registry = new PlanRegistry({ clock, logger: world.registry.logger })
    const plan = new Plan('p', { registry, slowCallbackMs: 20 })
    plan.Subscribe('fast', () => (elapsedMs += 20))
    plan.Subscribe('slow', () => (elapsedMs += 21))
    plan.Set('fast', 1)
    expect(world.lines).toEqual([])
    plan.Set('slow', 1)
    expect(world.lines).toEqual([
      {
        level: 'warn',
        message: 'a subscriber is slow, and the setter waits for it',
        fields: { plan: 'p', key: 'slow', tookMs: 21, slowCallbackMs: 20 },
      },
    ])
  })
})

describe('what tasks see of each other', () => {
  test('P-03 P-83 a value set in order 1 is read in orders 1, 2 and 3', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    const seen: unknown[] = []
    plan.Add('sets', 1, () => plan.Set('k', 'value'))
    for (const order of [1, 2, 3])
      plan.Add(`reads-${order}`, order, async () => seen.push(await plan.waitFor('k')))
    await world.clock.run(plan.Run())
    expect(seen).toEqual(['value', 'value', 'value'])
  })

  test('P-36 tasks of all orders get one and the same space', async () => {
    const plan = NewPlan('p', { registry: openPlanWorld().registry })
    const spaces = new Set<unknown>()
    for (const order of [0, 1, 5])
      plan.AddTask({ id: `t${order}`, order, function: (_, space) => spaces.add(space) })
    await plan.Start()
    expect([...spaces]).toEqual([plan.sharedSpace])
  })

  test('P-84 a reader of the same order sees the first and then the second value of a writer', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    const seen: unknown[] = []
    plan.Add('writer', 1, async () => {
      for (const value of ['first', 'second']) {
        plan.Set('k', value)
        await time.Sleep(10)
      }
    })
    plan.Add('reader', 1, async () => {
      for (const wait of [5, 10]) {
        await time.Sleep(wait)
        seen.push(plan.Get('k'))
      }
    })
    await world.clock.run(plan.Run())
    expect(seen).toEqual(['first', 'second'])
  })

  test('P-85 order 3 has what orders 1 and 2 have set', async () => {
    const plan = new Plan('p', { registry: openPlanWorld().registry })
    plan.Add('a', 1, () => plan.Set('one', 1))
    plan.Add('b', 2, () => plan.Set('two', 2))
    plan.Add('c', 3, () => [plan.Get('one'), plan.Get('two')])
    await plan.Run()
    expect(plan.TaskData('c')).toEqual([1, 2])
  })

  test('P-87 when two tasks of one order write one key, the later write stays', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    for (const [id, ms] of [
      ['late', 20],
      ['early', 10],
    ] as const)
      plan.Add(id, 1, async () => {
        await time.Sleep(ms)
        plan.Set('k', id)
      })
    await world.clock.run(plan.Run())
    expect(plan.Get('k')).toBe('late')
  })
})

describe('time', () => {
  test('P-113 Sleep waits at least that long and blocks no other task', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    const log: string[] = []
    plan.Add('sleeps', 1, async () => {
      await time.Sleep(50)
      log.push(`slept until ${world.clock.monotonicMs()}`)
    })
    plan.Add('works', 1, () => log.push(`worked at ${world.clock.monotonicMs()}`))
    await world.clock.run(plan.Run())
    expect(log).toEqual(['worked at 0', 'slept until 50'])
  })

  test('P-138 Sleep ends early when the task is cancelled', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    plan.Add('sleeps', 1, () => time.Sleep(60_000))
    plan.Add('fails', 1, async () => {
      await time.Sleep(10)
      throw new Error('boom')
    })
    await expect(world.clock.run(plan.Run())).rejects.toThrow('boom')
    expect(world.clock.monotonicMs()).toBe(10)
    expect(plan.Status().tasks).toEqual({ sleeps: 'destroyed', fails: 'failed' })
  })

  test('P-138 waitFor ends early when the task is cancelled', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    plan.Add('waits', 1, () => plan.waitFor('never', { timeout: 60_000 }))
    plan.Add('fails', 1, () => Promise.reject(new Error('boom')))
    await expect(world.clock.run(plan.Run())).rejects.toThrow('boom')
    expect(world.clock.monotonicMs()).toBe(0)
    expect(plan.TaskStatus('waits')).toBe('destroyed')
  })

  test('P-143 waitFor returns the value once it is there, and fails after its timeout', async () => {
    const world = openPlanWorld()
    const plan = new Plan('p', { registry: world.registry })
    plan.Add('sets', 1, async () => {
      await time.Sleep(35)
      plan.Set('k', 'value')
    })
    plan.Add('waits', 1, async () => [
      await plan.waitFor('k', { timeout: 100, interval: 10 }),
      world.clock.monotonicMs(),
    ])
    await world.clock.run(plan.Run())
    expect(plan.TaskData('waits')).toEqual(['value', 40])
    await expect(
      world.clock.run(plan.waitFor('never', { timeout: 100, interval: 30 })),
    ).rejects.toMatchObject({
      code: 'plan/wait-timeout',
      message: 'wait for "never": not there after 100 ms',
    })
    expect(world.clock.monotonicMs()).toBe(140)
  })
})

test('P-157 a finished plan that is not released in time is reported, once', async () => {
  const world = openPlanWorld({ leakWarningMs: 1_000 })
  const leaked = new Plan('leaked', { registry: world.registry })
  await leaked.Run()
  const released = new Plan('released', { registry: world.registry })
  await released.Run()
  released.Release()
  await world.clock.advance(999)
  world.registry.warnOfLeaks()
  expect(world.lines).toEqual([])
  await world.clock.advance(1)
  const other = new Plan('other', { registry: world.registry })
  world.registry.warnOfLeaks()
  expect(other.Status().plan).toBe('created')
  expect(world.lines).toMatchObject([{ level: 'warn', fields: { plan: 'leaked', status: 'completed' } }])
})
