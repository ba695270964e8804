/** Planning figures that scheduling could not use. */

import { walkUnits, type Graph, type Unit } from './graph.ts'
import type { GraphProblem } from './problem.ts'
import { RESOURCES, showAmount, type Resource, type ResourcePool } from './resources.ts'

export function findPlanningProblems(unit: Unit, pool: ResourcePool): readonly GraphProblem[] {
  return [
    ...judgeFactors(unit),
    ...judgeFigures(unit),
    ...RESOURCES.flatMap((resource) => judgeDemand(unit, resource, pool)),
  ]
}

/** Of a graph that was checked against another pool. */
export function findDemandProblems({ units }: Graph, pool: ResourcePool): readonly GraphProblem[] {
  return walkUnits(units).flatMap((unit) =>
    unit.planning?.demand === undefined
      ? []
      : RESOURCES.flatMap((resource) => judgeDemand(unit, resource, pool)),
  )
}

function judgeFactors({ taskReferenceName: unit, planning = {} }: Unit): readonly GraphProblem[] {
  return (['complexity', 'impact'] as const).flatMap((factor) => {
    const value = planning[factor] ?? 0
    // Also refuses what is not a number.
    if (value >= 0 && value <= 1) return []
    return [
      {
        kind: 'invalid',
        code: 'engine/bad-factor',
        unit,
        message: `"${unit}": ${factor} must be from 0 to 1, not ${String(value)}`,
        next: 'Correct the factor.',
      },
    ]
  })
}

function judgeFigures({
  taskReferenceName: unit,
  planning = {},
  startDelay = 0,
}: Unit): readonly GraphProblem[] {
  const isAmount = (value: number): boolean => Number.isFinite(value) && value >= 0
  const { priority = 0, expectedMs = 0 } = planning
  const wrong = [
    ...(Number.isFinite(priority) ? [] : [`priority must be a number, not ${String(priority)}`]),
    ...(isAmount(expectedMs) ? [] : [`expectedMs must be a number from 0, not ${String(expectedMs)}`]),
    ...(isAmount(startDelay) ? [] : [`startDelay must be a number from 0, not ${String(startDelay)}`]),
  ]
  return wrong.map((why) => ({
    kind: 'invalid',
    code: 'engine/bad-planning',
    unit,
    message: `"${unit}": ${why}`,
    next: 'Correct the figure.',
  }))
}

function judgeDemand(
  { taskReferenceName: unit, planning }: Unit,
  resource: Resource,
  pool: ResourcePool,
): readonly GraphProblem[] {
  const demanded = planning?.demand?.[resource] ?? 0
  if (!(Number.isFinite(demanded) && demanded >= 0)) {
    return [
      {
        kind: 'invalid',
        code: 'engine/bad-demand',
        unit,
        message: `"${unit}": demand.${resource} must be a number from 0, not ${String(demanded)}`,
        next: 'Correct the demand.',
      },
    ]
  }
  if (demanded <= pool[resource]) return []
  return [
    {
      kind: 'invalid',
      code: 'engine/demand-too-large',
      unit,
      message: `"${unit}" demands ${showAmount(resource, demanded)}, and the whole pool has ${showAmount(resource, pool[resource])}`,
      next: 'Lower the demand, or enlarge the pool in the configuration.',
    },
  ]
}
