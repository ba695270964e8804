/** How risky a unit is: a number from 0 to 1. Riskier units go first, so that a failure shows early. */

import { InvalidError } from '../../base/errors.ts'
import { IMPACT_HALF_UNITS } from '../limits.ts'
import type { Unit } from './graph.ts'
import { failureRateOf, type GraphHistory } from './history.ts'
import { shareOfPool, type ResourcePool } from './resources.ts'

/** Each from 0 to 1. */
export interface RiskFactors {
  readonly complexity: number
  /** The share of its recorded runs that failed. */
  readonly failureRate: number
  /** The largest share of the pool that it demands of any resource. */
  readonly demand: number
  /** How much is lost if it fails. */
  readonly impact: number
}

/** In tenths, because sums of whole numbers are exact. */
const TENTHS = { complexity: 3, failureRate: 4, demand: 2, impact: 1 } as const satisfies Record<
  keyof RiskFactors,
  number
>
const FACTORS = Object.keys(TENTHS) as readonly (keyof RiskFactors)[]

/** Throws `engine/bad-factor` for a factor that is not from 0 to 1. */
export function riskScore(factors: RiskFactors): number {
  for (const name of FACTORS) {
    const value = factors[name]
    if (!(value >= 0 && value <= 1)) {
      throw new InvalidError('engine/bad-factor', `score a risk: ${name} must be from 0 to 1, not ${value}`, {
        next: 'Correct the factor.',
      })
    }
  }
  return FACTORS.reduce((sum, name) => sum + TENTHS[name] * factors[name], 0) / 10
}

/** @param dependents units that wait for this one, directly or not: the scope of damage where the unit states none */
export function riskFactorsOf(
  { taskReferenceName, planning = {} }: Unit,
  known: {
    readonly history: GraphHistory
    readonly pool: ResourcePool
    readonly dependents: number
  },
): RiskFactors {
  return {
    complexity: planning.complexity ?? 0,
    failureRate: failureRateOf(known.history, taskReferenceName),
    demand: shareOfPool(planning.demand, known.pool),
    // Not a share of the graph: adding a unit elsewhere would change it for every other.
    impact: planning.impact ?? known.dependents / (known.dependents + IMPACT_HALF_UNITS),
  }
}
