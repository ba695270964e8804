/**
 * Which tasks will probably publish soon, as far as their last run tells. A wrong guess costs little: a staging branch
 * that is not needed, or one that is made later than it could be.
 */

import { EARLY_STAGING_MAX_MS } from '../limits.ts'

export class PublishHints {
  readonly #soon = new Set<string>()

  /** Whether the task's last run had something to publish, soon after it began. */
  publishesSoon(taskName: string): boolean {
    return this.#soon.has(taskName)
  }

  /** `afterMs`: from the claim until it was known what there was to publish. */
  learn(taskName: string, run: { readonly hasChanges: boolean; readonly afterMs: number }): void {
    if (run.hasChanges && run.afterMs <= EARLY_STAGING_MAX_MS) this.#soon.add(taskName)
    else this.#soon.delete(taskName)
  }
}
