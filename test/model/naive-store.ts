// The store in so few words that one can see that it is right: a row of entries, searched from end to end.
import type { Store, StoreCondition, StoreEntry } from '../../src/core/ports.ts'

type Held = StoreEntry

export interface NaiveStore {
  readonly store: Pick<Store, 'get' | 'range' | 'commit' | 'clear'>
  /** Whatever has a time to live has outlived it. */
  readonly outlive: () => Promise<void>
}

export function openNaiveStore(): NaiveStore {
  let held: readonly Held[] = []
  let last = 0
  const find = (key: string): Held | undefined => held.find((entry) => entry.key === key)
  const holds = (condition: StoreCondition): boolean => {
    const entry = find(condition.key)
    if (condition.is === 'at') return entry?.revision === condition.revision
    return (entry !== undefined) === (condition.is === 'present')
  }
  const byBytes = (a: StoreEntry, b: StoreEntry): number =>
    Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))
  return {
    store: {
      get: (key) => Promise.resolve(find(key)),
      range: ({ prefix, after, order, limit = 100 }) => {
        const sign = order === 'descending' ? -1 : 1
        const place = after === undefined ? undefined : Buffer.from(after)
        const found = [...held]
          .sort((a, b) => sign * byBytes(a, b))
          .filter(({ key }) => key.startsWith(prefix))
          .filter(({ key }) => place === undefined || sign * Buffer.compare(Buffer.from(key), place) > 0)
        const entries = found.slice(0, limit)
        return Promise.resolve({ entries, next: found.length > limit ? entries.at(-1)?.key : undefined })
      },
      commit: ({ conditions = [], operations }) => {
        const unmet = conditions.filter((condition) => !holds(condition))
        if (unmet.length > 0) {
          const failed = unmet.map(({ key }) => ({ key, revision: find(key)?.revision }))
          return Promise.resolve({ committed: false, unmet: failed })
        }
        const revision = (last += 1)
        for (const operation of operations) {
          const { key } = operation
          held = held.filter((entry) => entry.key !== key)
          if (operation.do === 'delete') continue
          held = [...held, { key, value: operation.value, revision, expires: operation.ttlMs !== undefined }]
        }
        return Promise.resolve({ committed: true, revision })
      },
      clear: (prefix) => {
        const kept = held.filter(({ key }) => !key.startsWith(prefix))
        const count = held.length - kept.length
        held = kept
        return Promise.resolve(count)
      },
    },
    outlive: () => {
      held = held.filter(({ expires }) => !expires)
      return Promise.resolve()
    },
  }
}
