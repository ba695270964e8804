// The control surface: adding and removing, pausing, stopping, signals, contexts.
import { describe, expect, test, vi } from 'vitest'
import { openPlanWorld, settle } from '../../../test/support/plans.ts'
import { SteppedClock } from '../../../test/support/stepped-clock.ts'
import { NewPlan } from './control-surface.ts'
import { Plan } from './plan.ts'
import type { PlanSignal, SignalChannel } from './signal-channel.ts'
import type { TaskContext } from './plan-task.ts'

test('P-01 what one surface does the other sees', async () => {
  const { registry } = openPlanWorld()
  const script = new Plan('p', { registry })
  const control = NewPlan('p', { registry })
  script.Add('a', 1, () => script.Set('k', 1))
  control.AddTask({ id: 'b', order: 2, function: (_, space) => space.Get('k') })
  await control.Start()
  expect(script.Status()).toEqual(control.GetStatus())
  expect(script.TaskData('b')).toBe(1)
  expect(script.Get('k')).toBe(1)
})

test('P-116 NewPlan returns a created plan, with options only when it is new', () => {
  const { registry } = openPlanWorld()
  expect(NewPlan('p', { registry, maxConcurrency: 2 }).status).toBe('created')
  expect(NewPlan('p', { registry }).id).toBe('p')
  expect(() => NewPlan('p', { registry, maxConcurrency: 3 })).toThrow(
    expect.objectContaining({ code: 'plan/exists' }),
  )
  expect(() => NewPlan('', { registry })).toThrow(expect.objectContaining({ code: 'plan/bad-id' }))
})

test('P-117 AddTask adds a created task and fires TaskStarted', () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  const fired = vi.fn()
  plan.sharedSpace.Subscribe('TaskStarted', fired)
  plan.AddTask({ id: 'a', order: 4, function: () => 1 })
  expect(plan.GetStatus().tasks).toEqual({ a: 'created' })
  expect(fired.mock.calls).toEqual([['TaskStarted', { task_id: 'a', order: 4 }]])
})

test('P-118 a task removed before its start is never called and no longer listed', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry, maxConcurrency: 1 })
  const called: string[] = []
  for (const [id, order] of [
    ['first', 1],
    ['queued', 1],
    ['later', 2],
  ] as const)
    plan.AddTask({
      id,
      order,
      function: async () => {
        called.push(id)
        await world.clock.sleep(10)
      },
    })
  const started = plan.Start()
  await settle()
  plan.RemoveTask('queued')
  plan.RemoveTask('later')
  expect(() => plan.RemoveTask('first')).toThrow(expect.objectContaining({ code: 'plan/task-has-begun' }))
  expect(() => plan.RemoveTask('nope')).toThrow(expect.objectContaining({ code: 'plan/no-such-task' }))
  await world.clock.run(started)
  expect(called).toEqual(['first'])
  expect(plan.GetStatus()).toEqual({ plan: 'completed', tasks: { first: 'completed' } })
})

test('P-119 P-04 one run goes through running, paused, running and destroyed', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  plan.AddTask({ id: 'a', order: 1, function: ({ signal }) => world.clock.sleep(60_000, signal) })
  const seen = [plan.status]
  const started = plan.Start()
  seen.push(plan.status)
  await Promise.all([plan.Pause(), world.clock.advance(100)])
  seen.push(plan.status)
  await Promise.all([plan.Resume(), world.clock.advance(100)])
  seen.push(plan.status)
  plan.Stop()
  seen.push(plan.status)
  await expect(started).rejects.toMatchObject({ code: 'plan/stopped' })
  expect(seen).toEqual(['created', 'running', 'paused', 'running', 'destroyed'])
})

test('P-120 P-121 a pause holds the plan at the barrier; resumed, nothing runs twice', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  const called: string[] = []
  for (const [id, order] of [
    ['a', 1],
    ['b', 2],
    ['c', 3],
  ] as const)
    plan.AddTask({
      id,
      order,
      function: async () => {
        called.push(id)
        await world.clock.sleep(150)
      },
    })
  const started = plan.Start()
  await Promise.all([plan.Pause(), world.clock.advance(100)])
  await world.clock.advance(5_000)
  expect(called).toEqual(['a'])
  expect(plan.GetStatus()).toEqual({ plan: 'paused', tasks: { a: 'completed', b: 'created', c: 'created' } })
  const resumed = plan.Resume()
  await world.clock.run(started)
  await resumed
  expect(called).toEqual(['a', 'b', 'c'])
  expect(plan.status).toBe('completed')
})

test('P-120 while a plan is paused, waiting tasks of the same order do not begin either', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry, maxConcurrency: 1 })
  const called: string[] = []
  for (const id of ['a', 'b'])
    plan.AddTask({
      id,
      order: 1,
      function: async () => {
        called.push(id)
        await world.clock.sleep(150)
      },
    })
  const started = plan.Start()
  await Promise.all([plan.Pause(), world.clock.advance(100)])
  await world.clock.advance(1_000)
  expect(called).toEqual(['a'])
  const resumed = plan.Resume()
  await world.clock.run(started)
  await resumed
  expect(called).toEqual(['a', 'b'])
})

test('P-48 a task that fails while its plan is paused fails the plan once it is resumed', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  plan.AddTask({
    id: 'a',
    order: 1,
    function: async () => {
      await world.clock.sleep(150)
      throw new Error('boom')
    },
  })
  plan.AddTask({ id: 'slow', order: 1, function: () => world.clock.sleep(900) })
  const started = plan.Start()
  await settle()
  await Promise.all([plan.Pause(), world.clock.advance(100)])
  await world.clock.advance(100)
  expect(plan.GetStatus()).toEqual({ plan: 'paused', tasks: { a: 'failed', slow: 'running' } })
  const resumed = plan.Resume()
  await expect(world.clock.run(started)).rejects.toMatchObject({ code: 'plan/task-failed' })
  await resumed
  expect(plan.status).toBe('failed')
})

test('P-122 a stop signals running tasks, cancels their context and begins nothing more', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  const seen: unknown[] = []
  plan.AddTask({
    id: 'a',
    order: 1,
    function: async ({ signal }, _, signals) => {
      seen.push(await signals.receive(), signal.aborted)
      signal.throwIfAborted()
    },
  })
  plan.AddTask({ id: 'b', order: 2, function: () => seen.push('b ran') })
  const started = plan.Start()
  await settle()
  plan.Stop()
  await expect(started).rejects.toMatchObject({ code: 'plan/stopped' })
  expect(seen).toEqual(['stop', true])
  expect(plan.status).toBe('destroyed')
})

test('P-122 a function that ignores the stop is waited for, for a limited time, and reported', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry, stopGraceMs: 500 })
  plan.AddTask({ id: 'deaf', order: 1, function: () => new Promise(() => undefined) })
  const started = plan.Start()
  await settle()
  plan.Stop()
  await expect(world.clock.run(started)).rejects.toMatchObject({ code: 'plan/stopped' })
  expect(world.clock.monotonicMs()).toBe(500)
  expect(world.lines).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      fields: expect.objectContaining({ tasks: ['deaf'] }) as unknown,
    }),
  )
})

test('P-123 P-08 Release frees everything: no registry entry, no data, no subscriber', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  const called = vi.fn()
  plan.sharedSpace.Subscribe('k', called)
  plan.AddTask({ id: 'a', order: 1, function: (_, space) => space.Set('k', 1) })
  await plan.Start()
  expect(world.registry.ids()).toEqual(['p'])
  plan.Release()
  plan.Release()
  expect(world.registry.ids()).toEqual([])
  expect(plan.sharedSpace.Keys()).toEqual([])
  expect(plan.tasks).toEqual([])
  expect(() => plan.sharedSpace.Set('k', 2)).toThrow(expect.objectContaining({ code: 'plan/released' }))
  expect(() => plan.Trigger('k', 2)).toThrow(expect.objectContaining({ code: 'plan/released' }))
  expect(called).toHaveBeenCalledTimes(2)
})

test('P-123 releasing a running plan stops it', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  plan.AddTask({ id: 'a', order: 1, function: ({ signal }) => world.clock.sleep(60_000, signal) })
  const started = plan.Start()
  await settle()
  plan.Release()
  await expect(started).rejects.toMatchObject({ code: 'plan/stopped' })
  expect(plan.GetStatus()).toEqual({ plan: 'destroyed', tasks: { a: 'destroyed' } })
})

test('P-124 P-126 the status of a task agrees with GetStatus', async () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  for (const id of ['a', 'b']) plan.AddTask({ id, order: 1, function: () => id })
  await plan.Start()
  const { plan: whole, tasks } = plan.GetStatus()
  expect(whole).toBe('completed')
  expect(Object.entries(tasks)).toEqual(['a', 'b'].map((id) => [id, plan.GetTaskStatus(id)]))
  expect(plan.GetTaskStatus('c')).toBe('unknown')
})

test('P-125 P-56 Trigger notifies and stores nothing, and built-in events cannot be faked', () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  const called = vi.fn()
  plan.sharedSpace.Subscribe('k', called)
  plan.Trigger('k', 7)
  expect(called.mock.calls).toEqual([['k', 7]])
  expect(plan.sharedSpace.Has('k')).toBe(false)
  expect(() => plan.Trigger('TaskError', 1)).toThrow(expect.objectContaining({ code: 'plan/reserved-key' }))
})

test('P-127 P-13 GetTaskData returns what the task stored; an unknown id is an error', async () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  plan.AddTask({ id: 'a', order: 1, function: (context) => context.SetData({ rows: 3 }) })
  await plan.Start()
  expect(plan.GetTaskData('a')).toEqual({ rows: 3 })
  expect(() => plan.GetTaskData('b')).toThrow(expect.objectContaining({ kind: 'missing' }))
})

test('P-129 a task triggers an event, and the subscription of another task is called', async () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  const heard: unknown[] = []
  plan.AddTask({
    id: 'b',
    order: 1,
    function: (_, space) => space.Subscribe('ready', (key, value) => heard.push([key, value])),
  })
  plan.AddTask({ id: 'd', order: 2, function: (_, space) => space.Trigger('ready', 42) })
  await plan.Start()
  expect(heard).toEqual([['ready', 42]])
})

test('P-130 a task has id, order, function, context, signal channel, status and data', async () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  const run = (): string => 'data'
  plan.AddTask({ id: 'a', order: 2, function: run })
  expect(plan.tasks).toMatchObject([{ id: 'a', order: 2, status: 'created', data: undefined }])
  await plan.Start()
  const [task] = plan.tasks
  expect(Object.keys(task ?? {}).sort()).toEqual(
    ['context', 'data', 'function', 'id', 'order', 'signals', 'status'].sort(),
  )
  expect(task).toMatchObject({ status: 'completed', data: 'data', context: { taskId: 'a', attempt: 1 } })
})

test('P-131 P-10 a task function gets its context, the shared space and its signal channel', async () => {
  const plan = NewPlan('p', { registry: openPlanWorld().registry })
  const seen: unknown[][] = []
  plan.AddTask({ id: 'a', order: 1, function: (...args) => void seen.push(args) })
  await plan.Start()
  const [context, space, signals] = seen[0] as [TaskContext, unknown, SignalChannel]
  expect(context).toMatchObject({ planId: 'p', taskId: 'a', attempt: 1 })
  expect(context.signal).toBeInstanceOf(AbortSignal)
  expect(space).toBe(plan.sharedSpace)
  expect(await signals.receive()).toBeUndefined()
  expect(seen[0]).toHaveLength(3)
})

test('P-132 P-136 cancelling the context of a plan cancels that of each task', async () => {
  const outside = new AbortController()
  const plan = NewPlan('p', { registry: openPlanWorld().registry, context: outside.signal })
  const contexts: AbortSignal[] = []
  for (const id of ['a', 'b'])
    plan.AddTask({
      id,
      order: 1,
      function: ({ signal }) => {
        contexts.push(signal)
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
        })
      },
    })
  const started = plan.Start()
  await settle()
  expect(plan.context.aborted).toBe(false)
  const reason = new Error('shutting down')
  outside.abort(reason)
  await expect(started).rejects.toMatchObject({ code: 'plan/cancelled', cause: reason })
  expect(contexts.map(({ aborted, reason: why }): unknown[] => [aborted, why])).toEqual([
    [true, reason],
    [true, reason],
  ])
})

test('P-27 a context cancelled during an order ends the plan as failed, and no later order starts', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  const later = vi.fn()
  plan.AddTask({
    id: 'a',
    order: 1,
    // It ends well although it was cancelled.
    function: async () => {
      await world.clock.sleep(10)
      return 'done'
    },
  })
  plan.AddTask({ id: 'b', order: 2, function: later })
  const started = plan.Start()
  await settle()
  plan.Cancel(new Error('not needed any more'))
  await expect(world.clock.run(started)).rejects.toMatchObject({
    code: 'plan/cancelled',
    message: 'run the plan "p": its context was cancelled: not needed any more',
  })
  expect(later).not.toHaveBeenCalled()
  expect(plan.GetStatus()).toEqual({ plan: 'failed', tasks: { a: 'completed', b: 'created' } })
})

test('P-27 a plan whose context was cancelled before or during a pause ends as failed', async () => {
  const world = openPlanWorld()
  const early = new AbortController()
  early.abort(new Error('too late'))
  const before = NewPlan('before', { registry: world.registry, context: early.signal })
  before.AddTask({ id: 'a', order: 1, function: () => 1 })
  await expect(before.Start()).rejects.toMatchObject({ code: 'plan/cancelled' })
  const paused = NewPlan('paused', { registry: world.registry })
  paused.AddTask({ id: 'a', order: 1, function: ({ signal }) => world.clock.sleep(60_000, signal) })
  const started = paused.Start()
  await Promise.all([paused.Pause(), world.clock.advance(100)])
  paused.Cancel(new Error('enough'))
  await expect(started).rejects.toMatchObject({ code: 'plan/cancelled' })
  expect([before.status, paused.status]).toEqual(['failed', 'failed'])
})

test('P-11 P-137 a task that obeys its stop signal or cancellation ends at once', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  plan.AddTask({ id: 'sleeps', order: 1, function: ({ signal }) => world.clock.sleep(60_000, signal) })
  plan.AddTask({
    id: 'listens',
    order: 1,
    function: async (_, __, signals) => {
      for await (const signal of signals) if (signal === 'stop') return 'stopped early'
      return 'never'
    },
  })
  const started = plan.Start()
  await world.clock.advance(20)
  plan.Stop()
  await expect(started).rejects.toMatchObject({ code: 'plan/stopped' })
  expect(world.clock.monotonicMs()).toBe(20)
})

test('P-05 running tasks receive pause, resume and stop through their own channels', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  const heard: Record<string, PlanSignal[]> = { a: [], b: [] }
  for (const id of ['a', 'b'])
    plan.AddTask({
      id,
      order: 1,
      function: async (_, __, signals) => {
        for await (const signal of signals) {
          heard[id]?.push(signal)
          if (signal === 'stop') return
        }
      },
    })
  const started = plan.Start()
  await Promise.all([plan.Pause(), world.clock.advance(100)])
  await Promise.all([plan.Resume(), world.clock.advance(100)])
  plan.Stop()
  await expect(started).rejects.toThrow()
  const all = ['pause', 'resume', 'stop']
  expect(heard).toEqual({ a: all, b: all })
})

describe('the interval of status checks', () => {
  test.each([
    [5, 5],
    [200, 200],
    [undefined, 100],
  ])('P-06 an interval of %s ms makes a pause take effect after %s ms', async (interval, expected) => {
    const world = openPlanWorld()
    const plan = NewPlan('p', {
      registry: world.registry,
      ...(interval === undefined ? {} : { statusCheckIntervalMs: interval }),
    })
    plan.AddTask({ id: 'a', order: 1, function: ({ signal }) => world.clock.sleep(60_000, signal) })
    const started = plan.Start()
    await settle()
    const paused = plan.Pause()
    await world.clock.advance(expected - 1)
    expect(plan.status).toBe('running')
    await world.clock.advance(1)
    expect(plan.status).toBe('paused')
    await paused
    plan.Stop()
    await expect(started).rejects.toThrow()
  })

  test('P-06 a pause that the end of the plan overtakes is refused', async () => {
    const world = openPlanWorld()
    const plan = NewPlan('p', { registry: world.registry })
    plan.AddTask({ id: 'a', order: 1, function: () => world.clock.sleep(10) })
    const started = plan.Start()
    const paused = plan.Pause()
    const refused = expect(paused).rejects.toMatchObject({ code: 'plan/not-allowed' })
    await world.clock.run(started)
    await refused
    expect(world.clock.monotonicMs()).toBe(10)
  })
})

test('P-134 pause, resume and stop raced a thousand times never hang the plan', async () => {
  const world = openPlanWorld()
  for (let round = 0; round < 1000; round++) {
    const plan = NewPlan(`p${round}`, { registry: world.registry, statusCheckIntervalMs: 1 + (round % 3) })
    for (const id of ['a', 'b'])
      plan.AddTask({ id, order: 1, function: ({ signal }) => world.clock.sleep(round % 5, signal) })
    const calls = [plan.Start(), plan.Pause(), plan.Resume(), plan.Pause()]
    if (round % 2 === 0) calls.push(Promise.resolve().then(() => plan.Stop()))
    const settled = Promise.allSettled(calls)
    await world.clock.advance(10)
    if (plan.status === 'paused') plan.Stop()
    await settled
    expect(['completed', 'destroyed']).toContain(plan.status)
    plan.Release()
  }
}, 60_000)

test('P-206 maxConcurrency limits how many tasks of an order run at once', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry, maxConcurrency: 3 })
  let running = 0
  const counts: number[] = []
  for (let index = 0; index < 10; index++)
    plan.AddTask({
      id: `t${index}`,
      order: 1,
      function: async () => {
        counts.push(++running)
        await world.clock.sleep(10 + index)
        running -= 1
      },
    })
  await world.clock.run(plan.Start())
  expect(Math.max(...counts)).toBe(3)
  expect(counts).toHaveLength(10)
})

test('P-213 start, end and duration of each task can be read after a run', async () => {
  const world = openPlanWorld()
  const plan = NewPlan('p', { registry: world.registry })
  plan.AddTask({ id: 'a', order: 1, function: () => world.clock.sleep(30) })
  plan.AddTask({ id: 'b', order: 2, function: () => world.clock.sleep(12) })
  expect(plan.GetTaskTimes('a')).toBeUndefined()
  const startMs = world.clock.now().getTime()
  await world.clock.run(plan.Start())
  expect(plan.GetTaskTimes('b')).toEqual({
    startedAt: new Date(startMs + 30),
    endedAt: new Date(startMs + 42),
    durationMs: 12,
  })
})

describe('retry', () => {
  test('P-244 a failing task is tried again before its barrier closes, with a delay by its error', async () => {
    const world = openPlanWorld()
    const plan = NewPlan('p', { registry: world.registry })
    const calls: string[] = []
    const failing = (id: string, message: string): void =>
      plan.AddTask({
        id,
        order: 1,
        retry: {
          attempts: 2,
          delayMs: (error) => {
            const text = String(error)
            return text.includes('timeout') ? 0 : text.includes('connection') ? 5_000 : undefined
          },
        },
        function: ({ attempt }) => {
          calls.push(`${id} ${attempt} at ${world.clock.monotonicMs()}`)
          if (attempt === 1) throw new Error(message)
        },
      })
    failing('slow', 'a timeout of the database')
    failing('away', 'the connection was refused')
    plan.AddTask({ id: 'next', order: 2, function: () => calls.push(`next at ${world.clock.monotonicMs()}`) })
    const errors = vi.fn()
    plan.sharedSpace.Subscribe('TaskError', errors)
    await world.clock.run(plan.Start())
    expect(calls).toEqual(['slow 1 at 0', 'away 1 at 0', 'slow 2 at 0', 'away 2 at 5000', 'next at 5000'])
    expect(errors).not.toHaveBeenCalled()
  })

  test('EN-594 a retry of a plan comes in its time when the clock is set back while it waits', async () => {
    const clock = new SteppedClock()
    const world = openPlanWorld({ clock })
    const plan = NewPlan('p', { registry: world.registry })
    const calls: number[] = []
    plan.AddTask({
      id: 'away',
      order: 1,
      retry: { attempts: 2, delayMs: () => 5_000 },
      function: ({ attempt }) => {
        calls.push(clock.monotonicMs())
        if (attempt > 1) return
        clock.set(-3 * 3_600_000)
        throw new Error('away')
      },
    })
    await clock.run(plan.Start())
    expect(calls).toEqual([0, 5_000])
  })

  test('P-244 other errors are not tried again, and the last failure counts', async () => {
    const world = openPlanWorld()
    for (const [message, expected] of [
      ['disk full', 1],
      ['timeout', 3],
    ] as const) {
      const plan = NewPlan(message, { registry: world.registry })
      let calls = 0
      plan.AddTask({
        id: 'a',
        order: 1,
        retry: { attempts: 3, delayMs: (error) => (String(error).includes('timeout') ? 10 : undefined) },
        function: () => {
          calls += 1
          throw new Error(message)
        },
      })
      await expect(world.clock.run(plan.Start())).rejects.toMatchObject({ taskId: 'a' })
      expect(calls).toBe(expected)
    }
  })

  test('P-21 a task that waits for its next try is still running', async () => {
    const world = openPlanWorld()
    const plan = NewPlan('p', { registry: world.registry })
    plan.AddTask({
      id: 'a',
      order: 1,
      retry: { attempts: 2, delayMs: 1_000 },
      function: ({ attempt }) => {
        if (attempt === 1) throw new Error('once')
      },
    })
    const started = plan.Start()
    await world.clock.advance(500)
    expect(plan.GetTaskStatus('a')).toBe('running')
    await world.clock.run(started)
    expect(plan.GetTaskStatus('a')).toBe('completed')
  })
})
