/**
 * One of many instances does a job: whoever holds the lease, which is an entry of the store that expires unless it is renewed.
 * What is done under it must bear being done twice, for a holder may be stalled and not know that its time is over.
 */

import type { Clock } from '../../base/clock.ts'
import { errorKindOf } from '../../base/errors.ts'
import { LEADER_LEASE_MS } from '../limits.ts'
import { fromBytes, toBytes } from '../json.ts'
import { leaseKey } from '../keys.ts'
import type { Store } from '../ports.ts'

export interface LeadershipOptions {
  readonly store: Store
  readonly name: string
  readonly owner: string
  readonly clock: Clock
}

export class Leadership {
  readonly #store: Store
  readonly #key: string
  readonly #owner: string
  readonly #clock: Clock
  /** When it was asked for, the last time it was got. */
  #heldAtMs: number | undefined

  constructor(options: LeadershipOptions) {
    this.#store = options.store
    this.#key = leaseKey(options.name)
    this.#owner = options.owner
    this.#clock = options.clock
  }

  /** Takes the lease, or renews it when a third of it is over. Answers whether this instance holds it now. */
  async hold(): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#heldAtMs !== undefined && nowMs - this.#heldAtMs < LEADER_LEASE_MS / 3) return true
    const isHeld = await this.#take()
    this.#heldAtMs = isHeld ? nowMs : undefined
    return isHeld
  }

  async #take(): Promise<boolean> {
    const entry = await this.#store.get(this.#key)
    if (entry !== undefined && fromBytes(entry.value) !== this.#owner) return false
    try {
      const outcome = await this.#store.commit({
        conditions: [
          entry === undefined
            ? { key: this.#key, is: 'absent' }
            : { key: this.#key, is: 'at', revision: entry.revision },
        ],
        operations: [{ do: 'put', key: this.#key, value: toBytes(this.#owner), ttlMs: LEADER_LEASE_MS }],
      })
      return outcome.committed
    } catch (error) {
      // Perhaps it is ours: then the next call renews it. Until then nobody works, which is safe.
      if (errorKindOf(error) === 'uncertain') return false
      throw error
    }
  }

  /** Gives it back, so that another need not wait for it to expire. */
  async release(): Promise<void> {
    this.#heldAtMs = undefined
    const entry = await this.#store.get(this.#key)
    if (entry === undefined || fromBytes(entry.value) !== this.#owner) return
    await this.#store.commit({
      conditions: [{ key: this.#key, is: 'at', revision: entry.revision }],
      operations: [{ do: 'delete', key: this.#key }],
    })
  }
}
