import type { CommitOutcome, StoreCondition } from '../core/ports.ts'

type Unmet = Extract<CommitOutcome, { committed: false }>['unmet']

/** The conditions that do not hold, given the revision each key has now. */
export function findUnmet(
  conditions: readonly StoreCondition[],
  revisionOf: (key: string) => number | undefined,
): Unmet {
  return conditions
    .map((condition) => ({ condition, revision: revisionOf(condition.key) }))
    .filter(({ condition, revision }) => !holds(condition, revision))
    .map(({ condition: { key }, revision }) => ({ key, revision }))
}

function holds(condition: StoreCondition, revision: number | undefined): boolean {
  if (condition.is === 'at') return revision === condition.revision
  return (revision !== undefined) === (condition.is === 'present')
}
