// Advice about plans: what is wrong is flagged, what is right is not.
import { expect, test } from 'vitest'
import { openPlanWorld } from '../../../test/support/plans.ts'
import { NewPlan } from './control-surface.ts'
import { lintPlan } from './lint-plan.ts'
import { Plan } from './plan.ts'
import { declareTask } from './task-handler.ts'

const produces = (...keys: string[]): (() => number) => declareTask(() => 1, { produces: keys })
const needs = (...keys: string[]): (() => number) => declareTask(() => 1, { needs: keys })

test('P-155 P-145 a key that is needed in the order that produces it is flagged', () => {
  const { registry } = openPlanWorld()
  const bad = new Plan('bad', { registry })
  bad.Add('makes', 1, produces('users'))
  bad.Add('reads', 1, needs('users'))
  expect(lintPlan(bad)).toMatchObject([
    { rule: 'same-order-dependence', tasks: ['reads', 'makes'], keys: ['users'] },
  ])
  const good = new Plan('good', { registry })
  good.Add('makes', 1, produces('users'))
  good.Add('reads', 2, needs('users'))
  expect(lintPlan(good)).toEqual([])
})

test('P-155 declarations of registered handlers and of the control surface count, too', () => {
  const { registry, handlers } = openPlanWorld()
  handlers.register('reads', () => 1, { needs: ['users'] })
  const plan = NewPlan('p', { registry })
  plan.AddTask({ id: 'makes', order: 1, function: () => 1, produces: ['users'] })
  new Plan('p', { registry }).Add('reads', 1, 'reads')
  expect(lintPlan(plan).map(({ rule }) => rule)).toEqual(['same-order-dependence'])
})

test('P-155 a needed key that nobody produces is flagged unless it is there already', () => {
  const { registry } = openPlanWorld()
  const plan = new Plan('p', { registry })
  plan.Add('makes-later', 3, produces('users'))
  plan.Add('reads', 2, needs('users'))
  expect(lintPlan(plan)).toMatchObject([{ rule: 'unproduced-key', tasks: ['reads'] }])
  plan.Set('users', [])
  expect(lintPlan(plan)).toEqual([])
})

test('P-156 P-207 data in more keys than the threshold is flagged, one structured value is not', () => {
  const { registry } = openPlanWorld()
  const scattered = new Plan('scattered', { registry })
  for (let user = 0; user < 51; user++) scattered.Set(`user_${user}_name`, 'x')
  expect(lintPlan(scattered)).toMatchObject([
    { rule: 'scattered-keys', message: 'the shared space has 51 keys, more than 50' },
  ])
  expect(lintPlan(scattered, { maxKeys: 51 })).toEqual([])
  const structured = new Plan('structured', { registry })
  structured.Set('user_data', { users: Array.from({ length: 51 }, () => ({ name: 'x' })), count: 51 })
  expect(lintPlan(structured)).toEqual([])
})

test('P-157 a finished plan that is not released is flagged', async () => {
  const plan = new Plan('p', { registry: openPlanWorld().registry })
  plan.Add('a', 1, () => 1)
  expect(lintPlan(plan)).toEqual([])
  await plan.Run()
  expect(lintPlan(plan).map(({ rule }) => rule)).toEqual(['not-released'])
  plan.Release()
  expect(lintPlan(plan)).toEqual([])
})
