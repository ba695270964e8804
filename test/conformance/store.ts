/**
 * The one suite every `Store` must pass.
 *
 * Goal: what passes here on one kind of store may be relied on with any other.
 * Method: each case gets a new, empty store, and where it asks for it a second handle on the same data.
 */

import { afterEach, beforeEach, describe, test, type TestContext } from 'vitest'
import { CONCURRENCY_CASES } from './store-cases/concurrency.ts'
import { ENTRY_CASES } from './store-cases/entries.ts'
import { EXPIRY_CASES } from './store-cases/expiry.ts'
import type { StoreScene } from './store-cases/scene.ts'
import { WATCH_CASES } from './store-cases/watching.ts'

const CASES = { ...ENTRY_CASES, ...CONCURRENCY_CASES, ...EXPIRY_CASES, ...WATCH_CASES }

/** Real servers on a busy machine; every case is done in a fraction of it. */
const CASE_MS = 60_000

/**
 * ```ts
 * storeConformance('memory', { open: () => openScene() })
 * ```
 */
export function storeConformance(
  name: string,
  options: {
    /** Given the test, so that an absent server skips it. */
    readonly open: (context: TestContext) => Promise<StoreScene>
  },
): void {
  describe(`store: ${name}`, () => {
    let scene: StoreScene | undefined
    beforeEach(async (context) => {
      scene = await options.open(context)
    })
    afterEach(async () => {
      await scene?.close()
      scene = undefined
    })

    for (const [title, run] of Object.entries(CASES)) {
      test(title, { timeout: CASE_MS }, async () => {
        await run(scene as StoreScene)
      })
    }
  })
}
