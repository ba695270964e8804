// The statuses and their moves, one table for both surfaces.
import { describe, expect, test } from 'vitest'
import { openPlanWorld, settle, type PlanWorld } from '../../../test/support/plans.ts'
import { TASK_STATUSES, WORKFLOW_STATUSES } from '../../worker/ports.ts'
import { NewPlan, type ControlledPlan } from './control-surface.ts'
import { Plan } from './plan.ts'
import {
  isPlanMove,
  PLAN_STATUSES,
  PLAN_TRANSITIONS,
  planStatusOf,
  taskStatusOf,
  type PlanStatus,
} from './plan-status.ts'

const LIVE = ['created', 'running', 'paused', 'completed', 'failed', 'destroyed'] as const
type Live = (typeof LIVE)[number]

/** A plan brought into a status; its task ends when told to. */
async function planIn(
  status: Live,
  world: PlanWorld,
): Promise<{ plan: ControlledPlan; done: Promise<unknown> }> {
  const plan = NewPlan('p', { registry: world.registry })
  plan.AddTask({
    id: 'a',
    order: 1,
    function: async ({ signal }) => {
      if (status === 'failed') throw new Error('boom')
      if (status !== 'completed') await world.clock.sleep(10_000, signal)
    },
  })
  plan.AddTask({ id: 'b', order: 2, function: () => 1 })
  if (status === 'created') return { plan, done: Promise.resolve() }
  const done = plan.Start().catch((error: unknown) => error)
  if (status === 'paused') await Promise.all([plan.Pause(), world.clock.advance(100)])
  if (status === 'destroyed') plan.Stop()
  await settle()
  if (status === 'completed' || status === 'failed' || status === 'destroyed') await done
  return { plan, done }
}

test('P-40 plans and tasks have exactly seven statuses', () => {
  expect(PLAN_STATUSES).toEqual([
    ...['created', 'running', 'paused', 'completed', 'failed', 'destroyed', 'unknown'],
  ])
  expect(Object.keys(PLAN_TRANSITIONS)).toEqual([...PLAN_STATUSES])
})

test('P-40 every status of the rules has one that plans show', () => {
  const shown = WORKFLOW_STATUSES.flatMap((status) => [
    planStatusOf(status, 'stop'),
    planStatusOf(status, 'cancellation'),
  ])
  expect(new Set(shown)).toEqual(new Set(['running', 'paused', 'completed', 'failed', 'destroyed']))
  const row = (status: (typeof TASK_STATUSES)[number]): Parameters<typeof taskStatusOf>[0] =>
    ({ record: { status, pollCount: 0 } }) as Parameters<typeof taskStatusOf>[0]
  const ofTasks = TASK_STATUSES.map((status) => taskStatusOf(row(status), 'running'))
  expect(new Set(ofTasks)).toEqual(new Set(['created', 'running', 'completed', 'failed', 'destroyed']))
})

test('P-41 new plans and tasks are created', () => {
  const { registry } = openPlanWorld()
  const plan = new Plan('p', { registry })
  expect(plan.Status()).toEqual({ plan: 'created', tasks: {} })
  plan.Add('a', 1, () => 1)
  expect(plan.TaskStatus('a')).toBe('created')
})

test('P-42 while a task runs, it and its plan are running', async () => {
  const { registry } = openPlanWorld()
  const plan = new Plan('p', { registry })
  const seen: unknown[] = []
  plan.Add('a', 1, () => seen.push(plan.Status()))
  await plan.Run()
  expect(seen).toEqual([{ plan: 'running', tasks: { a: 'running' } }])
})

test('P-43 after a pause took effect the status is paused', async () => {
  const { plan } = await planIn('paused', openPlanWorld())
  expect(plan.GetStatus().plan).toBe('paused')
})

test('P-46 a stopped plan and its unfinished tasks are destroyed', async () => {
  const { plan } = await planIn('destroyed', openPlanWorld())
  expect(plan.GetStatus()).toEqual({ plan: 'destroyed', tasks: { a: 'destroyed', b: 'destroyed' } })
})

test('P-47 a task that the plan does not know is unknown', () => {
  const { registry } = openPlanWorld()
  expect(new Plan('p', { registry }).TaskStatus('nope')).toBe('unknown')
  expect(NewPlan('p', { registry }).GetTaskStatus('nope')).toBe('unknown')
})

test('P-48 the table holds exactly these moves', () => {
  const moves = PLAN_STATUSES.flatMap((from) =>
    PLAN_STATUSES.filter((to) => isPlanMove(from, to)).map((to) => `${from} → ${to}`),
  )
  expect(moves.sort()).toEqual(
    [
      'created → running',
      ...['completed', 'failed', 'paused', 'destroyed'].map((to) => `running → ${to}`),
      ...['running', 'destroyed'].map((to) => `paused → ${to}`),
    ].sort(),
  )
})

test('P-49 a paused plan can be stopped', async () => {
  const world = openPlanWorld()
  const { plan, done } = await planIn('paused', world)
  plan.Stop()
  expect(plan.status).toBe('destroyed')
  await done
})

describe('commands', () => {
  const CALLS: Readonly<Record<string, (plan: ControlledPlan) => unknown>> = {
    start: (plan) => plan.Start(),
    pause: (plan) => plan.Pause(),
    resume: (plan) => plan.Resume(),
    stop: (plan) => plan.Stop(),
  }
  const pairs = LIVE.flatMap((status) =>
    Object.keys(CALLS)
      .filter((call) => PLAN_TRANSITIONS[status][call as 'start'] === ('refuse' as PlanStatus | 'refuse'))
      .map((call) => [call, status] as const),
  )

  test.each(pairs)(
    'P-133 P-50 %s of a plan that is %s is refused and changes nothing',
    async (call, status) => {
      const world = openPlanWorld()
      const { plan, done } = await planIn(status, world)
      const before = plan.GetStatus()
      await expect(Promise.resolve().then(() => CALLS[call]?.(plan))).rejects.toMatchObject({
        code: 'plan/not-allowed',
        kind: 'refused',
      })
      expect(plan.GetStatus()).toEqual(before)
      if (status === 'running' || status === 'paused') plan.Stop()
      await done
    },
  )

  test('P-133 most pairs are refused', () => {
    expect(pairs.length).toBe(LIVE.length * 4 - 5)
  })
})
