/**
 * One of many instances does a job: the one that holds the lease, an entry of the store that it renews. What is done under it
 * must be idempotent: a holder may stall and not notice that its lease has expired.
 *
 * - LE-1 No wall clock decides, neither of the store nor of an instance: it may be set. An instance takes the lease of another
 *   when it has itself seen the entry unchanged for the whole time of the lease, by its monotonic clock.
 * - LE-2 A holder counts from before it asked, another from after it has read. So the lease is over for its holder before
 *   anybody else can have it.
 */

import type { Clock } from '../../base/clock.ts'
import { errorKindOf } from '../../base/errors.ts'
import { LEADER_ENTRY_KEPT_MS, LEADER_LEASE_MS, LEADER_LOOKS } from '../limits.ts'
import { fromBytes, toBytes } from '../json.ts'
import { leaseKey } from '../keys.ts'
import type { Store, StoreEntry } from '../ports.ts'

export interface LeadershipOptions {
  readonly store: Store
  readonly name: string
  readonly owner: string
  readonly clock: Clock
  readonly leaseMs?: number
  /** Whether another owner has certainly ended. Its lease is then taken at once; without this, when it has expired. */
  readonly hasEnded?: (owner: string) => Promise<boolean>
}

export class Leadership {
  readonly #store: Store
  readonly #key: string
  readonly #owner: string
  readonly #clock: Clock
  readonly #leaseMs: number
  readonly #hasEnded: (owner: string) => Promise<boolean>
  #hasHeld = false
  /** When this instance last asked for the lease and got it. */
  #heldAtMs: number | undefined
  /** The entry of another as it was read last, and since when it has been so. */
  #seen: { readonly revision: number; readonly sinceMs: number } | undefined
  /** After a renewal whose outcome is unknown: when to ask again. */
  #askAgainAtMs = -Infinity

  constructor(options: LeadershipOptions) {
    this.#store = options.store
    this.#key = leaseKey(options.name)
    this.#owner = options.owner
    this.#clock = options.clock
    this.#leaseMs = options.leaseMs ?? LEADER_LEASE_MS
    this.#hasEnded = options.hasEnded ?? (() => Promise.resolve(false))
  }

  /**
   * Takes the lease, or renews it when a third of it is over. `false`: another instance holds it. `taken`: another may have
   * held it since the last call. A renewal that fails is tried again while the lease lasts: until then nobody else can have it.
   */
  async hold(): Promise<'held' | 'taken' | false> {
    if ((this.renewInMs() ?? 0) > 0) return 'held'
    const askedAtMs = this.#clock.monotonicMs()
    // One that is over may have been another's meanwhile.
    if (!this.isHeld()) this.#heldAtMs = undefined
    const wasHeld = this.#heldAtMs !== undefined
    try {
      const held = await this.#take()
      this.#heldAtMs = held === false ? undefined : askedAtMs
      this.#hasHeld ||= held !== false
      return held === 'held' && !wasHeld ? 'taken' : held
    } catch (error) {
      if (this.isHeld()) {
        this.#askAgainAtMs = this.#clock.monotonicMs() + this.#leaseMs * ASK_AGAIN_SHARE
        return 'held'
      }
      this.#heldAtMs = undefined
      // Perhaps it is ours: then the next call renews it. Until then nobody works, which is safe.
      if (errorKindOf(error) === 'uncertain') return false
      throw error
    }
  }

  /**
   * As `hold`, for one who asks only once: waits until another instance has renewed its lease, or has not for the whole time of
   * the lease, and is taken to be gone.
   */
  async holdWhenFree(signal?: AbortSignal): Promise<'held' | 'taken' | false> {
    let first: number | undefined
    for (let looks = 0; ; looks += 1) {
      const held = await this.hold()
      first ??= this.#seen?.revision
      const isRenewed = this.#seen?.revision !== first
      if (held !== false || isRenewed || looks > LEADER_LOOKS) return held
      await this.#clock.sleep(this.#leaseMs / LEADER_LOOKS, signal)
    }
  }

  /** Whether nobody else can have the lease now, whatever the store would answer. */
  isHeld(): boolean {
    if (this.#heldAtMs === undefined) return false
    return this.#clock.monotonicMs() - this.#heldAtMs < this.#leaseMs * SURE_SHARE
  }

  /** When `hold` has to renew the lease; `undefined` where this instance does not hold it. */
  renewInMs(): number | undefined {
    if (this.#heldAtMs === undefined) return undefined
    const dueAtMs = Math.max(this.#heldAtMs + this.#leaseMs / 3, this.#askAgainAtMs)
    return dueAtMs - this.#clock.monotonicMs()
  }

  async #take(): Promise<'held' | 'taken' | false> {
    const entry = await this.#store.get(this.#key)
    const other = entry === undefined ? undefined : fromBytes(entry.value)
    const isOthers = entry !== undefined && other !== undefined && other !== this.#owner
    if (!isOthers) this.#seen = undefined
    else if (!this.#isOver(entry) && !(await this.#mayReplace(other))) return false
    const outcome = await this.#store.commit({
      conditions: [
        entry === undefined
          ? { key: this.#key, is: 'absent' }
          : { key: this.#key, is: 'at', revision: entry.revision },
      ],
      operations: [
        {
          do: 'put',
          key: this.#key,
          value: toBytes(this.#owner),
          ttlMs: LEADER_ENTRY_KEPT_MS + this.#leaseMs,
        },
      ],
    })
    return outcome.committed && (entry === undefined || isOthers ? 'taken' : 'held')
  }

  /** Whether the lease of another is over: its entry has been the same for so long. */
  #isOver({ revision }: StoreEntry): boolean {
    const nowMs = this.#clock.monotonicMs()
    if (this.#seen?.revision !== revision) this.#seen = { revision, sinceMs: nowMs }
    return nowMs - this.#seen.sinceMs >= this.#leaseMs
  }

  /** Only the first time: two instances that wrongly think each other dead must not take turns for ever. */
  async #mayReplace(owner: string): Promise<boolean> {
    return !this.#hasHeld && (await this.#hasEnded(owner))
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

/** The rest is for clocks that do not run equally fast. */
const SURE_SHARE = 0.9
/** Of the lease, until it is asked for again. */
const ASK_AGAIN_SHARE = 0.1
