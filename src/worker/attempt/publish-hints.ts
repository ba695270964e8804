/**
 * Which tasks are about to publish, as far as their last run tells. A guess is enough: one that is wrong costs a staging
 * branch that is made in vain, or one that is made later than it could be.
 */

import { EARLY_STAGING_MAX_MS } from '../limits.ts'

export interface PublishHabits {
  /** Whether the task's last run had something to publish, and came to that soon. */
  publishesSoon(taskName: string): boolean
  /** `afterMs`: from the claim until it was known what there was to publish. */
  learn(taskName: string, run: { readonly hasChanges: boolean; readonly afterMs: number }): void
}

export function openPublishHabits(): PublishHabits {
  const soon = new Set<string>()
  return {
    publishesSoon: (taskName) => soon.has(taskName),
    learn(taskName, { hasChanges, afterMs }) {
      if (hasChanges && afterMs <= EARLY_STAGING_MAX_MS) soon.add(taskName)
      else soon.delete(taskName)
    },
  }
}
