/** The store of the engine under test: its writes fail as those of a store behind a network do, and its engine can be killed. */

import { RefusedError, UnavailableError, UncertainError } from '../../base/errors.ts'
import { engineDefinitionPrefix, leaseKey } from '../../core/keys.ts'
import type { Store, StoreBatch, StoreOperation } from '../../core/ports.ts'

/**
 * - `refuse`: not written, and the engine is told so.
 * - `lose-request`: not written, and the engine cannot know. `lose-answer`: written, and it cannot know.
 * - `kill-before`, `kill-after`: the process of the engine ends right before or after the write.
 */
export type StoreFault = 'none' | 'refuse' | 'lose-request' | 'lose-answer' | 'kill-before' | 'kill-after'

/** Which writes fail; they are counted from 1. */
export type StoreFaults = (write: number) => StoreFault

/** What one engine, from its start to its end, is given of the store. */
export interface StoreAccess {
  readonly store: Store
  readonly isDead: () => boolean
  kill(): void
}

/** Counts the writes of all engines of one test. */
export class WriteCounter {
  count = 0
}

export function openStoreAccess(store: Store, faults: StoreFaults, counter: WriteCounter): StoreAccess {
  const life = new Life()
  const commit = async (batch: StoreBatch): ReturnType<Store['commit']> => {
    if (batch.operations.every(isBeside)) return store.commit(batch)
    counter.count += 1
    const fault = faults(counter.count)
    if (fault === 'refuse') throw new UnavailableError('testing/store-away', 'write: the store is away')
    if (fault === 'lose-request') throw lost(counter.count)
    if (fault === 'kill-before') life.end()
    life.requireAlive()
    const outcome = await store.commit(batch)
    if (fault === 'kill-after') life.end()
    if (fault === 'lose-answer') throw lost(counter.count)
    return outcome
  }
  return {
    // Without `peek`, which would show a dead engine what others have written.
    store: {
      name: store.name,
      get: (key) => life.run(() => store.get(key)),
      range: (request) => life.run(() => store.range(request)),
      clear: (prefix) => life.run(() => store.clear(prefix)),
      watch: (request) => store.watch(request),
      commit: (batch) => life.run(() => commit(batch)),
      close: () => Promise.resolve(),
    },
    isDead: () => life.isOver,
    kill: () => life.end(),
  }
}

/** Of the process of an engine. */
class Life {
  isOver = false

  end(): void {
    this.isOver = true
  }

  requireAlive(): void {
    if (this.isOver) throw killed()
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.requireAlive()
    const value = await work()
    // A process that has ended meanwhile does not see the response.
    this.requireAlive()
    return value
  }
}

/** The engine writes these by the clock alone, beside the executions. */
const BESIDE = [
  leaseKey('engine'),
  engineDefinitionPrefix('history', undefined),
  engineDefinitionPrefix('breakers', undefined),
]

function isBeside({ key }: StoreOperation): boolean {
  return BESIDE.some((prefix) => key.startsWith(prefix))
}

/** Of a kind that nobody tries again: the process that would is gone. */
function killed(): RefusedError {
  return new RefusedError('testing/engine-killed', 'use the store: the test has killed this engine')
}

function lost(write: number): UncertainError {
  return new UncertainError('testing/answer-lost', `write ${write}: the response was lost`, {
    read: 'the store',
  })
}
