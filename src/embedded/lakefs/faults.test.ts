import { expect, test } from 'vitest'

import { EMBEDDED_HISTORY_MAX } from '../limits.ts'
import { FaultPlan, type FaultTarget } from './faults.ts'

const MERGE: FaultTarget = { operation: 'mergeIntoBranch', method: 'POST', path: '/merge' }
const STAT: FaultTarget = { operation: 'statObject', method: 'GET', path: '/stat?path=a' }

test('ES-80 a rule strikes the operations it names, as often as it says', () => {
  const plan = new FaultPlan()
  plan.add({ operation: 'mergeIntoBranch', skip: 1, times: 2, fault: { kind: 'lose-after' } })
  expect(plan.strike(STAT)).toBeUndefined()
  const struck = [MERGE, MERGE, MERGE, MERGE].map((request) => plan.strike(request)?.kind)
  expect(struck).toEqual([undefined, 'lose-after', 'lose-after', undefined])
})

test('ES-80 rules are asked in order; one can be taken away, or all', () => {
  const plan = new FaultPlan()
  const remove = plan.add({ operation: ['statObject', 'listObjects'], fault: { kind: 'lose-before' } })
  plan.add({ when: (request) => request.path.includes('path=a'), fault: { kind: 'delay', delayMs: 1 } })
  expect(plan.strike(STAT)?.kind).toBe('lose-before')
  expect(plan.strike(MERGE)).toBeUndefined()
  remove()
  expect(plan.strike(STAT)?.kind).toBe('delay')
  plan.clear()
  expect(plan.strike(STAT)).toBeUndefined()
})

test('ES-81 one seed, one row of choices', () => {
  const choices = (seed: number): string => {
    const plan = new FaultPlan({ seed })
    plan.add({ probability: 0.5, fault: { kind: 'lose-before' } })
    return Array.from({ length: 64 }, () => (plan.strike(STAT) === undefined ? '.' : 'x')).join('')
  }
  expect(choices(7)).toBe(choices(7))
  expect(choices(7)).not.toBe(choices(8))
  expect(choices(7)).toMatch(/^(?=.*x)(?=.*\.)/)
  const unseeded = new FaultPlan()
  expect(new FaultPlan({ seed: unseeded.seed }).seed).toBe(unseeded.seed)
})

test('ES-82 the history is bounded and keeps the latest', () => {
  const plan = new FaultPlan()
  for (let status = 0; status <= EMBEDDED_HISTORY_MAX; status += 1) plan.record({ ...STAT, status })
  expect(plan.history.length).toBeLessThanOrEqual(EMBEDDED_HISTORY_MAX)
  expect(plan.history.at(-1)?.status).toBe(EMBEDDED_HISTORY_MAX)
  plan.clearHistory()
  expect(plan.history).toEqual([])
})
