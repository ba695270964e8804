// Built-in events: fired by themselves, and to subscribers like any key.
import { expect, test, vi } from 'vitest'
import { openPlanWorld } from '../../../test/support/plans.ts'
import { Plan } from './plan.ts'
import { BUILT_IN_EVENTS } from './shared-space.ts'

interface Heard {
  readonly plan: Plan
  readonly heard: unknown[][]
  readonly of: (event: string) => unknown[]
}

function listening(): Heard {
  const { registry } = openPlanWorld()
  const plan = new Plan('p', { registry })
  const heard: unknown[][] = []
  for (const event of [...BUILT_IN_EVENTS, 'TaskBegan'])
    plan.Subscribe(event, (...args: unknown[]) => heard.push(args), 'extra')
  return { plan, heard, of: (event) => heard.filter(([, key]) => key === event).map(([, , data]) => data) }
}

test('P-51 P-93 TaskStarted fires when a task is added, TaskBegan when it really starts', async () => {
  const { plan, of } = listening()
  plan.Add('a', 1, () => 1)
  plan.Add('b', 2, () => 1)
  expect(of('TaskStarted')).toEqual([
    { task_id: 'a', order: 1 },
    { task_id: 'b', order: 2 },
  ])
  expect(of('TaskBegan')).toEqual([])
  await plan.Run()
  expect(of('TaskStarted')).toHaveLength(2)
  expect(of('TaskBegan')).toEqual([
    { task_id: 'a', attempt: 1 },
    { task_id: 'b', attempt: 1 },
  ])
})

test('P-52 P-55 TaskCompleted fires once per successful task, with its id', async () => {
  const { plan, of } = listening()
  plan.Add('a', 1, () => 'result')
  plan.Add('b', 1, () => undefined)
  await plan.Run()
  expect(of('TaskCompleted')).toEqual([
    { task_id: 'a', result: 'result' },
    { task_id: 'b', result: undefined },
  ])
  expect(of('TaskError')).toEqual([])
})

test('P-53 TaskError fires once per failed task, with id and error', async () => {
  const { plan, of } = listening()
  const boom = new Error('boom')
  plan.Add('a', 1, () => {
    throw boom
  })
  plan.Add('b', 1, () => 1)
  await expect(plan.Run()).rejects.toThrow('boom')
  expect(of('TaskError')).toEqual([{ task_id: 'a', error: boom }])
})

test('P-53 a subscriber of TaskError finds the task failed', async () => {
  const { registry } = openPlanWorld()
  const plan = new Plan('p', { registry })
  const seen: unknown[] = []
  plan.Subscribe('TaskError', (plan_id: string, _: string, data: { task_id: string }) =>
    seen.push(new Plan(plan_id, { registry }).TaskStatus(data.task_id)),
  )
  plan.Add('a', 1, () => {
    throw new Error('boom')
  })
  await expect(plan.Run()).rejects.toThrow()
  expect(seen).toEqual(['failed'])
})

test('P-54 P-59 Released fires by Release, last, when the keys are gone', () => {
  const { plan, heard, of } = listening()
  const keysThen: boolean[] = []
  plan.Set('k', 1)
  plan.Subscribe('k', (...args: unknown[]) => heard.push(args))
  plan.Subscribe('Released', () => keysThen.push(plan.Has('k')))
  expect(of('Released')).toEqual([])
  plan.Release()
  expect(of('Released')).toEqual([undefined])
  expect(heard.map(([, key]) => key)).toEqual(['k', 'Released'])
  expect(keysThen).toEqual([false])
})

test.each([...BUILT_IN_EVENTS, 'TaskBegan'])('P-56 Set refuses %s as a key', (event) => {
  const { plan, of } = listening()
  expect(() => plan.Set(event, 1)).toThrow(expect.objectContaining({ code: 'plan/reserved-key' }))
  expect(of(event)).toEqual([])
  expect(plan.Has(event)).toBe(false)
})

test('P-57 their subscribers get plan id, event name, data, then their own arguments', async () => {
  const { plan, heard } = listening()
  plan.Add('a', 1, () => 1)
  await plan.Run()
  for (const [plan_id, event, , extra] of heard) {
    expect(plan_id).toBe('p')
    expect([...BUILT_IN_EVENTS, 'TaskBegan']).toContain(event)
    expect(extra).toBe('extra')
  }
  expect(heard).toHaveLength(3)
})

test('P-55 a subscriber that throws or adds a task harms nothing', async () => {
  const { registry } = openPlanWorld()
  const plan = new Plan('p', { registry })
  const added = vi.fn()
  plan.Subscribe('TaskBegan', () => {
    if (plan.TaskStatus('added') === 'unknown') plan.Add('added', 1, added)
    throw new Error('of the subscriber')
  })
  plan.Add('a', 1, () => 1)
  await plan.Run()
  expect(plan.Status()).toEqual({ plan: 'completed', tasks: { a: 'completed', added: 'completed' } })
  expect(added).toHaveBeenCalledTimes(1)
})
