/** What stands behind an instance of a surface, for the builder and the lint. */

import { InvalidError } from '../../base/errors.ts'
import type { PlanCore } from './plan-core.ts'
import type { PlanRegistry } from './plan-registry.ts'

export interface SurfaceParts {
  readonly core: PlanCore
  readonly registry: PlanRegistry
}

const PARTS = new WeakMap<object, SurfaceParts>()

export function noteParts(surface: object, parts: SurfaceParts): void {
  PARTS.set(surface, parts)
}

export function partsOf(surface: object): SurfaceParts {
  const parts = PARTS.get(surface)
  if (parts !== undefined) return parts
  throw new InvalidError('plan/not-a-plan', 'use a plan: this object was made by neither Plan nor NewPlan')
}
