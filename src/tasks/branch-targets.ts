/** The branches that the input of a workflow names. */

import type { Json, JsonObject } from '../base/json.ts'

export interface BranchTarget {
  readonly repository: string
  readonly branch: string
}

/** Every repository and branch that an input names, at any depth. */
export function targetsIn(input: JsonObject): readonly BranchTarget[] {
  const targets: BranchTarget[] = []
  // Without recursion, because an input may be nested deeply.
  const left: Json[] = [input]
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      left.push(...(value as readonly Json[]))
      continue
    }
    const fields = value as JsonObject
    const { repository, branch } = fields
    if (typeof repository === 'string' && typeof branch === 'string') targets.push({ repository, branch })
    left.push(...Object.values(fields))
  }
  return targets
}
