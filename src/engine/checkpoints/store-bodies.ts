/**
 * Bodies of checkpoints in a store, in parts, since a value may not be larger than a mebibyte. Beside the records, so that
 * the core removes both when it sweeps the execution. A body of which a part is missing comes back shorter.
 */

import { systemClock } from '../../base/clock.ts'
import { forEachBounded } from '../../base/for-each-bounded.ts'
import { systemRandom } from '../../base/random.ts'
import type { ExecutionKeys } from '../../core/keys.ts'
import { commitGuarded, type WritePace } from '../../core/namespaces/guarded-write.ts'
import { scopeOf } from '../../core/namespaces/scopes.ts'
import type { Store } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import { CHECKPOINT_PART_BYTES, CHECKPOINT_PARTS_IN_FLIGHT } from '../limits.ts'
import type { CheckpointBodies } from './ports.ts'

export function openStoreBodies(
  store: Store,
  pace: WritePace = { clock: systemClock, random: systemRandom },
): CheckpointBodies {
  return {
    name: store.name,
    async write({ scope, checkpointId }, bytes) {
      const keys = scopeOf(store, scope).keys
      const count = Math.max(1, Math.ceil(bytes.byteLength / CHECKPOINT_PART_BYTES))
      const parts = Array.from({ length: count }, (_, part) => part)
      await forEachBounded(parts, { limit: CHECKPOINT_PARTS_IN_FLIGHT }, async (part) => {
        const key = keys.checkpointPart(checkpointId, part)
        const value = bytes.subarray(part * CHECKPOINT_PART_BYTES, (part + 1) * CHECKPOINT_PART_BYTES)
        const batch = { operations: [{ do: 'put' as const, key, value }] }
        // Whether it has happened or not, it may be put again.
        await commitGuarded(store, { batch, hasHappened: () => Promise.resolve('open') }, pace)
      })
    },
    async read({ scope, checkpointId }) {
      const parts: Uint8Array[] = []
      const prefix = scopeOf(store, scope).keys.checkpointParts(checkpointId)
      for await (const page of readPages(store, { prefix })) parts.push(...page.map(({ value }) => value))
      return parts.length === 0 ? undefined : Buffer.concat(parts)
    },
    async remove({ scope, checkpointId }) {
      await store.clear(scopeOf(store, scope).keys.checkpointParts(checkpointId))
    },
    list: (scope) => listIds(store, scopeOf(store, scope).keys),
  }
}

/** Reads one entry of each body: the next one begins after all parts of this one. */
async function listIds(store: Store, keys: ExecutionKeys): Promise<readonly string[]> {
  const prefix = keys.checkpointBodies
  const ids: string[] = []
  let after: string | undefined
  for (;;) {
    const { entries } = await store.range({ prefix, limit: 1, after })
    const [id] = entries[0]?.key.slice(prefix.length).split(':') ?? []
    if (id === undefined) return ids
    ids.push(id)
    after = keys.checkpointPart(id, Number.MAX_SAFE_INTEGER)
  }
}
