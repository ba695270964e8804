import type { CommitOutcome, StoreCondition } from '../core/ports.ts'

type Unmet = Extract<CommitOutcome, { committed: false }>['unmet']

/** The conditions that do not hold, given the revision each key has now. */
export function findUnmet(
  conditions: readonly StoreCondition[],
  revisionOf: (key: string) => number | undefined,
): Unmet {
  let unmet: Unmet[number][] | undefined
  for (const condition of conditions) {
    const { key } = condition
    const revision = revisionOf(key)
    if (!holds(condition, revision)) (unmet ??= []).push({ key, revision })
  }
  return unmet ?? NONE
}

const NONE: Unmet = []

function holds(condition: StoreCondition, revision: number | undefined): boolean {
  if (condition.is === 'at') return revision === condition.revision
  return (revision !== undefined) === (condition.is === 'present')
}
