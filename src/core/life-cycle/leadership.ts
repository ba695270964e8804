/**
 * One of many instances does a job: the one that holds the lease, an entry of the store that expires unless it is renewed.
 * What is done under it must be idempotent: a holder may stall and not notice that its lease has expired.
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
  readonly leaseMs?: number
}

export class Leadership {
  readonly #store: Store
  readonly #key: string
  readonly #owner: string
  readonly #clock: Clock
  readonly #leaseMs: number
  /** When this instance last asked for the lease and got it. */
  #heldAtMs: number | undefined

  constructor(options: LeadershipOptions) {
    this.#store = options.store
    this.#key = leaseKey(options.name)
    this.#owner = options.owner
    this.#clock = options.clock
    this.#leaseMs = options.leaseMs ?? LEADER_LEASE_MS
  }

  /**
   * Takes the lease, or renews it when a third of it is over. `false`: another instance holds it. `taken`: another may have
   * held it since the last call.
   */
  async hold(): Promise<'held' | 'taken' | false> {
    if ((this.renewInMs() ?? 0) > 0) return 'held'
    const nowMs = this.#clock.monotonicMs()
    const wasHeld = this.#heldAtMs !== undefined
    this.#heldAtMs = undefined
    const held = await this.#take()
    if (held === false) return false
    this.#heldAtMs = nowMs
    return wasHeld ? held : 'taken'
  }

  /** When `hold` has to renew the lease; `undefined` where this instance does not hold it. */
  renewInMs(): number | undefined {
    if (this.#heldAtMs === undefined) return undefined
    return this.#heldAtMs + this.#leaseMs / 3 - this.#clock.monotonicMs()
  }

  async #take(): Promise<'held' | 'taken' | false> {
    const entry = await this.#store.get(this.#key)
    if (entry !== undefined && fromBytes(entry.value) !== this.#owner) return false
    try {
      const outcome = await this.#store.commit({
        conditions: [
          entry === undefined
            ? { key: this.#key, is: 'absent' }
            : { key: this.#key, is: 'at', revision: entry.revision },
        ],
        operations: [{ do: 'put', key: this.#key, value: toBytes(this.#owner), ttlMs: this.#leaseMs }],
      })
      return outcome.committed && (entry === undefined ? 'taken' : 'held')
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
