/** A lakeFS-compatible server for one test: by default in memory, closed when its scope ends. */

import {
  startEmbeddedLakefs,
  type EmbeddedLakefs,
  type EmbeddedLakefsOptions,
} from '../embedded/lakefs/server.ts'

export type TestLakefs = EmbeddedLakefs & AsyncDisposable

/**
 * ```ts
 * await using lakefs = await openTestLakefs()
 * lakefs.faults.add({ operation: 'mergeIntoBranch', times: 1, fault: { kind: 'lose-after' } })
 * ```
 *
 * Without `await using`, call `close()` in a `finally`.
 */
export async function openTestLakefs(options: EmbeddedLakefsOptions = {}): Promise<TestLakefs> {
  const server = await startEmbeddedLakefs(options)
  return { ...server, [Symbol.asyncDispose]: () => server.close() }
}
