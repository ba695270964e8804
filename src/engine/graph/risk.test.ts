import { expect, test } from 'vitest'
import { graphOf, task } from '../../../test/support/engine-graphs.ts'
import { analyseGraph } from './analysis.ts'
import { recordRuns, type GraphHistory } from './history.ts'
import { riskScore, type RiskFactors } from './risk.ts'

const NONE: RiskFactors = { complexity: 0, failureRate: 0, demand: 0, impact: 0 }
const alone = { impact: 0 }

function riskOf(planning: object, history: GraphHistory = {}): number | undefined {
  return analyseGraph(graphOf([task('a', [], { planning })]), { history }).units.get('a')?.risk
}

const runs = (count: number, succeeded: boolean) =>
  Array.from({ length: count }, () => ({ unit: 'a', succeeded, durationMs: 10 }))

test('X-16 complexity alone counts 0.3', () => {
  expect(riskScore({ ...NONE, complexity: 1 })).toBe(0.3)
  expect(riskOf({ ...alone, complexity: 1 })).toBe(0.3)
})

test('X-17 the share of recorded runs that failed counts 0.4, and failures raise it', () => {
  expect(riskScore({ ...NONE, failureRate: 1 })).toBe(0.4)
  const good = recordRuns({}, runs(3, true))
  const worse = recordRuns(good, runs(1, false))
  expect(riskOf(alone, good)).toBe(0)
  expect(riskOf(alone, worse)).toBe(0.1)
  expect(riskOf(alone, recordRuns({}, runs(2, false)))).toBe(0.4)
})

test('X-17 runs long ago count less and less', () => {
  const bad = recordRuns({}, runs(100, false))
  const later = recordRuns(bad, runs(300, true))
  expect(riskOf(alone, bad)).toBe(0.4)
  expect(riskOf(alone, later)).toBeLessThan(0.03)
  expect(riskOf(alone, later)).toBeGreaterThan(0)
})

test('X-18 the demand counts 0.2, by the resource of which it needs the largest share', () => {
  expect(riskScore({ ...NONE, demand: 1 })).toBe(0.2)
  expect(riskOf({ ...alone, demand: { cpu: 10, gpu: 10 } })).toBe(0.2)
  expect(riskOf({ ...alone, demand: { cpu: 50, gpu: 1 } })).toBe(0.1)
})

test('X-19 the scope of damage counts 0.1; where none is stated it grows with the units that depend on it', () => {
  expect(riskScore({ ...NONE, impact: 1 })).toBe(0.1)
  expect(riskOf({ impact: 1 })).toBe(0.1)
  const chain = Array.from({ length: 20 }, (_, index) =>
    task(`u${index}`, index === 0 ? [] : [`u${index - 1}`]),
  )
  const { units } = analyseGraph(graphOf(chain))
  const impacts = chain.map(({ taskReferenceName }) => units.get(taskReferenceName)?.factors.impact ?? -1)
  expect(impacts).toEqual([...impacts].sort((one, other) => other - one))
  expect(new Set(impacts).size).toBe(20)
  expect(impacts.at(-1)).toBe(0)
  // Ten units wait for it.
  expect(impacts[9]).toBe(0.5)
})

test('X-20 the score is the weighted sum, and a factor outside of 0 to 1 is refused', () => {
  expect(riskScore({ complexity: 1, failureRate: 1, demand: 1, impact: 1 })).toBe(1)
  expect(riskScore({ complexity: 0.5, failureRate: 0.2, demand: 0.4, impact: 1 })).toBeCloseTo(0.41, 10)
  for (const name of ['complexity', 'failureRate', 'demand', 'impact'])
    for (const value of [-0.01, 1.01, NaN])
      expect(() => riskScore({ ...NONE, [name]: value })).toThrow(`${name} must be from 0 to 1`)
})
