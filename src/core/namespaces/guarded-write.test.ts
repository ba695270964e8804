import { expect, test } from 'vitest'
import { StillClock } from '../../../test/support/core-world.ts'
import { UnavailableError, UncertainError } from '../../base/errors.ts'
import { seededRandom } from '../../base/random.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import type { Store } from '../ports.ts'
import { commitGuarded } from './guarded-write.ts'

test('E-114 a write whose answer was lost stays uncertain, although every later try is refused', async () => {
  let calls = 0
  const store: Store = {
    ...openMemoryStore(),
    commit: () => {
      calls += 1
      if (calls === 1)
        throw new UncertainError('test/lost', 'commit: the answer was lost', { read: 'the store' })
      throw new UnavailableError('test/away', 'commit: nobody answers')
    },
  }
  const write = { batch: { operations: [] }, hasHappened: () => Promise.resolve('open' as const) }
  const pace = { clock: new StillClock(), random: seededRandom(1) }
  await expect(commitGuarded(store, write, pace)).rejects.toMatchObject({ kind: 'uncertain' })
  expect(calls).toBeGreaterThan(1)
})
