/** The leases of a simulated world: what must not happen beside a renewal, and after a lease was lost. */

import { isPeragoError } from '../../base/errors.ts'
import type { Lease } from '../../worker/leases/lease.ts'
import { LEASE_LOST_ANSWER_WAIT_MS } from '../../worker/limits.ts'
import type { RepoFault } from '../scripted-world.ts'
import type { Scheduler } from './scheduler.ts'

/** Leases are renewed beside the attempt, over a connection of their own. */
export const LEASE = 'lease-of-'

interface Renewal {
  isInFlight: boolean
  /** Until when one whose answer was lost may still arrive, on the clock of the lease. */
  settledAtMs: number
}

export class LeaseWatch {
  /** A result was sent while a renewal could still undo it. */
  isResultBesideRenewal = false
  /** An attempt was told that its task is not its own any more, and it was. */
  isTakenFromCurrent = false
  readonly #leases = new Map<string, Lease>()
  readonly #renewals = new Map<string, Renewal>()
  readonly #releasing = new Set<string>()
  readonly #scheduler: Scheduler

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  /** `onLost` says whether the attempt was current all the same. */
  follow(client: string, lease: Lease, onLost: () => boolean): Lease {
    this.#leases.set(client, lease)
    const { lost } = lease
    lost.addEventListener(
      'abort',
      () => {
        const reason: unknown = lost.reason
        const isCurrent = onLost()
        if (isCurrent && isPeragoError(reason) && reason.code === 'fences/stale-attempt')
          this.isTakenFromCurrent = true
      },
      { once: true },
    )
    return {
      lost,
      get renewedAtMs() {
        return lease.renewedAtMs
      },
      release: async () => {
        this.#releasing.add(client)
        await lease.release()
        this.#releasing.delete(client)
      },
    }
  }

  /** Whether an attempt waits for its lease to end. */
  isReleasing(client: string): boolean {
    return this.#releasing.has(client)
  }

  isLost(client: string): boolean {
    return this.#leases.get(client)?.lost.aborted === true
  }

  noteRenewal(client: string): void {
    this.#renewals.set(client, { isInFlight: true, settledAtMs: -Infinity })
  }

  noteAnswer(client: string, fault: RepoFault, nowMs: number): void {
    const isLost = fault === 'late' || fault === 'lose-answer' || fault === 'lose-request'
    const settledAtMs = isLost ? nowMs + LEASE_LOST_ANSWER_WAIT_MS : -Infinity
    this.#renewals.set(client, { isInFlight: false, settledAtMs })
  }

  /** As it is sent. */
  notePost(client: string): void {
    const renewal = this.#renewals.get(client)
    if (renewal === undefined) return
    const { isInFlight, settledAtMs } = renewal
    if (isInFlight || this.#scheduler.nowMs(LEASE + client) < settledAtMs) this.isResultBesideRenewal = true
  }
}
