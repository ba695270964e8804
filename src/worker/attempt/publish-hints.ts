/**
 * Which tasks will probably publish soon, as far as their last run tells. A wrong guess costs little: a staging branch
 * that is not needed, or one that is made later than it could be.
 */

import { EARLY_STAGING_MAX_MS } from '../limits.ts'

export interface PublishHints {
  /** Whether the task's last run had something to publish, soon after it began. */
  publishesSoon(taskName: string): boolean
  /** `afterMs`: from the claim until it was known what there was to publish. */
  learn(taskName: string, run: { readonly hasChanges: boolean; readonly afterMs: number }): void
}

export function openPublishHints(): PublishHints {
  const soon = new Set<string>()
  return {
    publishesSoon: (taskName) => soon.has(taskName),
    learn(taskName, { hasChanges, afterMs }) {
      if (hasChanges && afterMs <= EARLY_STAGING_MAX_MS) soon.add(taskName)
      else soon.delete(taskName)
    },
  }
}
