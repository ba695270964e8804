/** Staging branches whose removal failed because lakeFS was away: removed once it is back. */

import { followSignals } from '../../base/abort-signals.ts'
import { errorKindOf } from '../../base/errors.ts'
import type { BranchName, RepositoryName } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import { PUBLICATION_CLEANUP_MS } from '../../publication/limits.ts'
import type { VersionedRepo } from '../../publication/ports.ts'
import { REMOVALS_LATER_MAX } from '../limits.ts'
import type { Outages } from './outage.ts'

interface Removal {
  readonly repo: VersionedRepo
  readonly branch: BranchName
}

export class RemoveLater {
  readonly #waiting = new Map<string, Removal>()
  readonly #logger: Logger
  readonly #outages: Outages

  constructor(logger: Logger, outages: Outages) {
    this.#logger = logger
    this.#outages = outages
  }

  /** Opens the same repositories, and takes note of what they could not remove. A removal does not wait for a server. */
  noting(openRepo: (repository: RepositoryName) => VersionedRepo): typeof openRepo {
    return (repository) => {
      const repo = openRepo(repository)
      return {
        ...repo,
        deleteBranch: async (branch, options) => {
          const served = this.#outages.whileServed()
          const followed = followSignals(options?.signal, served.signal)
          try {
            return await repo.deleteBranch(branch, { ...options, signal: followed.signal })
          } catch (error) {
            this.#note({ repo, branch }, error)
            throw error
          } finally {
            followed.release()
            served.release()
          }
        },
      }
    }
  }

  /** Never rejects. What fails again waits on. */
  async removeAll(signal: AbortSignal): Promise<void> {
    for (const [key, { repo, branch }] of [...this.#waiting]) {
      if (signal.aborted) return
      try {
        await repo.deleteBranch(branch, { signal: AbortSignal.timeout(PUBLICATION_CLEANUP_MS) })
        this.#logger.info('a staging branch that lakeFS could not remove before is removed', { branch })
      } catch (error) {
        if (isForLater(error)) return
        this.#logger.warn('a staging branch could not be removed', { branch, error })
      }
      this.#waiting.delete(key)
    }
  }

  #note(removal: Removal, error: unknown): void {
    if (!isForLater(error) || this.#waiting.size >= REMOVALS_LATER_MAX) return
    this.#waiting.set(`${removal.repo.repository} ${removal.branch}`, removal)
  }
}

/** Also one that was interrupted, which is no error of ours. */
function isForLater(error: unknown): boolean {
  const kind = errorKindOf(error)
  return kind === 'unavailable' || kind === 'uncertain' || kind === 'defect'
}
