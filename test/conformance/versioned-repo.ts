/**
 * The one suite every `VersionedRepo` must pass, real servers included.
 *
 * Goal: what passes here against one implementation may be relied on with any other.
 * Method: each case gets a repository of its own, made for it and thrown away after it.
 */

import { afterEach, beforeEach, describe, test } from 'vitest'
import { BRANCH_CASES } from './versioned-repo-cases/branches.ts'
import { COMMIT_CASES } from './versioned-repo-cases/commits.ts'
import { CONCURRENCY_CASES } from './versioned-repo-cases/concurrency.ts'
import { DIFF_CASES } from './versioned-repo-cases/diffs.ts'
import { MERGE_CASES } from './versioned-repo-cases/merges.ts'
import { OBJECT_CASES } from './versioned-repo-cases/objects.ts'
import { RECORD_CASES } from './versioned-repo-cases/records.ts'
import type { OpenRepo } from './versioned-repo-cases/world.ts'

const CASES = {
  ...BRANCH_CASES,
  ...OBJECT_CASES,
  ...DIFF_CASES,
  ...COMMIT_CASES,
  ...MERGE_CASES,
  ...RECORD_CASES,
  ...CONCURRENCY_CASES,
}

/** Real servers on a busy machine; every case is done in a fraction of it. */
const CASE_MS = 120_000

/**
 * ```ts
 * versionedRepoConformance('embedded lakeFS', { open: () => openEmbedded() })
 * ```
 */
export function versionedRepoConformance(
  name: string,
  options: {
    /** A new, empty repository: one commit, a branch `main` on it. */
    readonly open: () => Promise<OpenRepo>
    /** Case → the reason, shown in the report. */
    readonly skip?: Partial<Record<keyof typeof CASES, string>>
  },
): void {
  describe(`versioned repository: ${name}`, () => {
    let world: OpenRepo
    beforeEach(async () => {
      world = await options.open()
    })
    afterEach(() => world.close())

    for (const [title, run] of Object.entries(CASES)) {
      const reason = options.skip?.[title as keyof typeof CASES]
      // Without the promise's id at its head: what this implementation cannot have does not leave a promise unproven.
      test(reason === undefined ? title : `cannot have ${title}`, { timeout: CASE_MS }, async (context) => {
        if (reason !== undefined) context.skip(reason)
        await run(world)
      })
    }
  })
}
