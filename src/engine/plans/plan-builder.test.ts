// The builder: each task is added as its needs demand.
import { describe, expect, test, vi } from 'vitest'
import { openPlanWorld, type PlanWorld } from '../../../test/support/plans.ts'
import type { SharingRequirements } from './decisions.ts'
import { PlanBuilder, type SyncWait } from './plan-builder.ts'
import { Plan } from './plan.ts'
import { declareTask } from './task-handler.ts'

const ETL: SharingRequirements = { needsCommunication: true, hasDependency: true, needsRealtime: false }
const MONITORING: SharingRequirements = {
  needsCommunication: true,
  hasDependency: false,
  needsRealtime: true,
}
const COMPUTING: SharingRequirements = {
  needsCommunication: false,
  hasDependency: false,
  needsRealtime: false,
}

function open(id = 'built'): { world: PlanWorld; builder: PlanBuilder; messages: () => string[] } {
  const world = openPlanWorld()
  const builder = new PlanBuilder(id, { registry: world.registry })
  return { world, builder, messages: () => world.lines.map(({ message }) => message) }
}

test('P-184 a builder holds its id, no tasks, and the plan of that id', () => {
  const { world, builder } = open()
  expect(builder.planId).toBe('built')
  expect(builder.tasks).toEqual([])
  builder.sharedSpace.Set('k', 1)
  expect(new Plan('built', { registry: world.registry }).Get('k')).toBe(1)
})

describe('adding', () => {
  test.each([
    ['pipeline', ETL, 'addPipelineTask'],
    ['synced', MONITORING, 'addSyncedTask'],
    ['independent', COMPUTING, 'addIndependentTask'],
  ] as const)('P-185 a decision adds a %s task', (_, requirements, method) => {
    const { builder } = open()
    const spies = (['addPipelineTask', 'addSyncedTask', 'addIndependentTask'] as const).map((name) =>
      vi.spyOn(builder, name),
    )
    const config = { taskId: 't', order: 1, handler: () => 1 }
    expect(builder.addTaskFromDecision(requirements, config)).toBe(builder)
    const called = spies.filter((spy) => spy.mock.calls.length > 0)
    expect(called.map((spy) => spy.getMockName())).toEqual([method])
    expect(called[0]?.mock.calls[0]?.[0]).toBe(config)
  })

  test('P-186 an unknown recommendation is an error naming it', () => {
    const { registry } = openPlanWorld()
    const builder = new PlanBuilder('p', { registry, decide: () => ({ recommendation: 'X' as never }) })
    expect(() => builder.addTaskFromDecision(ETL, { taskId: 't', order: 1, handler: () => 1 })).toThrow(/"X"/)
  })

  test('P-187 P-188 a pipeline handler gets plan id, task id, plan and the values in property order', async () => {
    const { builder } = open()
    const handler = vi.fn()
    builder.addPipelineTask({ taskId: 't', source: 'users_db', order: 3, handler, limit: 10 })
    expect(builder.tasks).toEqual([{ taskId: 't', order: 3, type: 'pipeline' }])
    expect(builder.sharedSpace.Status().tasks).toEqual({ t: 'created' })
    await builder.build()
    expect(handler.mock.calls).toEqual([['built', 't', builder.sharedSpace, 'users_db', 10]])
  })

  test('P-189 two tasks of one order with a declared dependency are refused; undeclared orders are free', () => {
    const { builder } = open()
    builder.addPipelineTask({ taskId: 'makes', order: 1, handler: () => 1 }, { produces: ['users'] })
    expect(() =>
      builder.addPipelineTask({
        taskId: 'needs',
        order: 1,
        handler: declareTask(() => 1, { needs: ['users'] }),
      }),
    ).toThrow(expect.objectContaining({ code: 'plan/same-order-dependence' }))
    expect(builder.tasks).toHaveLength(1)
    builder.addPipelineTask({ taskId: 'needs', order: 2, handler: () => 1 }, { needs: ['users'] })
    builder.addPipelineTask({ taskId: 'other', order: 1, handler: () => 1 })
    expect(builder.tasks).toHaveLength(3)
  })

  test('P-190 P-194 additions are logged with id and order, and synced ones say so', () => {
    const { builder, messages } = open()
    builder
      .addPipelineTask({ taskId: 'a', order: 1, handler: () => 1 })
      .addSyncedTask({ taskId: 'b', order: 2, handler: () => 1 })
    expect(messages()).toEqual([
      'the pipeline task "a" was added in order 1',
      'the synced task "b" was added in order 2: it needs synchronisation with the others',
    ])
    expect(builder.tasks[1]).toEqual({ taskId: 'b', order: 2, type: 'synced' })
  })

  test('P-191 a synced handler gets the plan and syncWait before the other values', async () => {
    const { builder } = open()
    const handler = vi.fn()
    builder.addSyncedTask({ taskId: 't', order: 1, handler, extra: 'x' })
    await builder.build()
    expect(handler.mock.calls).toEqual([['built', 't', builder.sharedSpace, expect.any(Function), 'x']])
  })

  test('P-198 the add methods return the builder', () => {
    const { builder } = open()
    const handler = (): number => 1
    expect(
      builder
        .addPipelineTask({ taskId: 'a', order: 1, handler })
        .addSyncedTask({ taskId: 'b', order: 1, handler })
        .addIndependentTask({ taskId: 'c', handler }),
    ).toBe(builder)
  })

  test('P-187 a plan task without an order is refused', () => {
    expect(() => open().builder.addPipelineTask({ taskId: 't', handler: () => 1 })).toThrow(
      expect.objectContaining({ code: 'plan/no-order' }),
    )
  })
})

describe('syncWait', () => {
  async function waitWith(
    work: (plan: Plan, syncWait: SyncWait) => Promise<unknown>,
    setAfterMs: number,
  ): Promise<{ result: unknown; atMs: number }> {
    const { world, builder } = open()
    const seen: unknown[] = []
    builder.addSyncedTask({
      taskId: 'waits',
      order: 1,
      handler: async (_: string, __: string, plan: Plan, syncWait: SyncWait) => {
        const result = await work(plan, syncWait).catch((error: unknown) => error)
        seen.push(result, world.clock.monotonicMs())
      },
    })
    builder.addSyncedTask({
      taskId: 'sets',
      order: 1,
      handler: async (_: string, __: string, plan: Plan) => {
        plan.Set('ready', 0)
        await world.clock.sleep(setAfterMs)
        plan.Set('ready', 'yes')
      },
    })
    await world.clock.run(builder.build())
    return { result: seen[0], atMs: seen[1] as number }
  }

  test('P-192 it looks every 50 ms and returns the first truthy value', async () => {
    expect(await waitWith((_, syncWait) => syncWait('ready'), 120)).toEqual({ result: 'yes', atMs: 150 })
  })

  test('P-193 a missing key is not yet there; after the timeout an error names it', async () => {
    const { result, atMs } = await waitWith((_, syncWait) => syncWait('never', 200), 120)
    expect(result).toMatchObject({ message: 'wait for "never": not there after 200 ms' })
    expect(atMs).toBe(200)
  })

  test('P-192 without a timeout it gives up after 5 seconds', async () => {
    expect((await waitWith((_, syncWait) => syncWait('never'), 1)).atMs).toBe(5_000)
  })
})

describe('independent tasks', () => {
  test('P-195 P-196 the handler is called soon, with null, task id and values; the plan gets nothing', async () => {
    const { builder } = open()
    const handler = vi.fn(() => 'result')
    builder.addIndependentTask({ taskId: 't', order: 1, handler, formula: 'x + 1' })
    expect(handler).not.toHaveBeenCalled()
    expect(builder.sharedSpace.Status().tasks).toEqual({})
    expect(builder.tasks).toEqual([])
    expect(await builder.independentOutcomes()).toEqual([
      { taskId: 't', status: 'completed', result: 'result' },
    ])
    expect(handler.mock.calls).toEqual([[null, 't', 'x + 1']])
  })

  test('P-197 failures can be awaited and are reported', async () => {
    const { builder, world, messages } = open()
    const boom = new Error('boom')
    builder.addIndependentTask({ taskId: 'bad', handler: () => Promise.reject(boom) })
    builder.addIndependentTask({ taskId: 'good', handler: () => 1 })
    await world.clock.run(builder.build())
    expect(await builder.independentOutcomes()).toEqual([
      { taskId: 'bad', status: 'failed', error: boom },
      { taskId: 'good', status: 'completed', result: 1 },
    ])
    expect(messages()).toContain('the independent task "bad" failed')
  })
})

test('P-199 build logs the tasks, runs the plan, releases it and returns it with its last status', async () => {
  const { world, builder, messages } = open()
  builder
    .addPipelineTask({ taskId: 'a', order: 1, handler: () => 1 })
    .addSyncedTask({ taskId: 'b', order: 2, handler: () => 1 })
  const plan = await builder.build()
  expect(messages().slice(2)).toEqual([
    'the plan "built" is run with 2 tasks',
    'task "a": pipeline, order 1',
    'task "b": synced, order 2',
  ])
  expect(plan).toBe(builder.sharedSpace)
  expect(plan.Status()).toEqual({ plan: 'completed', tasks: { a: 'completed', b: 'completed' } })
  expect(world.registry.ids()).toEqual([])
})

test('P-199 a failed plan is released, too, and build rejects', async () => {
  const { world, builder } = open()
  builder.addPipelineTask({ taskId: 'a', order: 1, handler: () => Promise.reject(new Error('boom')) })
  await expect(builder.build()).rejects.toThrow('boom')
  expect(world.registry.ids()).toEqual([])
})
