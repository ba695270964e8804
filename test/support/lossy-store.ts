// A store whose calls fail as a store behind a network does: refused, lost before or after it took effect, or late.
import { UnavailableError, UncertainError } from '../../src/base/errors.ts'
import type { Store, StoreBatch } from '../../src/core/ports.ts'

/**
 * - `refuse`: not done.
 * - `lose-request`: not done, and the caller cannot know.
 * - `lose-answer`: done, and the caller cannot know.
 * - `late`: not done yet, the caller cannot know, and it arrives behind a later call.
 */
export type StoreFault = 'none' | 'refuse' | 'lose-request' | 'lose-answer' | 'late'

export const STORE_FAULTS: readonly StoreFault[] = ['none', 'refuse', 'lose-request', 'lose-answer', 'late']

/** What each batch that is committed meets in turn; `none` when nothing is left. */
export function openLossyStore(store: Store, faults: Iterator<StoreFault>): Store {
  const late: { batch: StoreBatch; afterCalls: number }[] = []
  const arrive = async (): Promise<void> => {
    for (const waiting of [...late]) {
      waiting.afterCalls -= 1
      if (waiting.afterCalls > 0) continue
      late.splice(late.indexOf(waiting), 1)
      await store.commit(waiting.batch)
    }
  }
  const lost = (): UncertainError =>
    new UncertainError('test/lost', 'commit: the answer was lost', { read: 'the store' })
  return {
    ...store,
    name: `lossy ${store.name}`,
    commit: async (batch, options) => {
      await arrive()
      const { value = 'none' } = faults.next() as { value?: StoreFault }
      switch (value) {
        case 'none':
          return store.commit(batch, options)
        case 'refuse':
          throw new UnavailableError('test/refused', 'commit: nobody answers')
        case 'lose-request':
          throw lost()
        case 'lose-answer':
          await store.commit(batch, options)
          throw lost()
        case 'late':
          late.push({ batch, afterCalls: 2 })
          throw lost()
      }
    },
  }
}
