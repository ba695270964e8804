/** Removes checkpoints that are beyond their limits, and bodies without records: a bounded number in each round. */

import { isAborted } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { endedPrefix, readEndedKey, type ExecutionScope, type TenantId } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import { CHECKPOINTS_EXPIRED_PER_ROUND } from '../limits.ts'
import type { Execution } from '../protocol/execution.ts'

export interface MaintenanceParts {
  readonly checkpoints: Checkpoints
  readonly store: Store
  readonly tenant: TenantId | undefined
  readonly clock: Clock
  readonly logger: Logger
  /** The open ones that this instance runs; none while another one does. */
  readonly held: () => Iterable<Execution>
  readonly isOwner: () => boolean
  readonly scopeOf: (workflowId: WorkflowId) => ExecutionScope
  readonly intervalMs: number
}

/** Ends with the signal. */
export async function maintainCheckpoints(parts: MaintenanceParts, signal: AbortSignal): Promise<void> {
  const round = new Round(parts)
  while (!isAborted(signal)) {
    await parts.clock.sleep(parts.intervalMs, signal).catch(() => undefined)
    if (isAborted(signal) || !parts.isOwner()) continue
    try {
      await round.run(signal)
    } catch (error) {
      parts.logger.warn('old checkpoints could not be removed', { error })
    }
  }
}

/** Each one goes on where the last one stopped. */
class Round {
  readonly #parts: MaintenanceParts
  #lastOpen = ''
  #lastEnded: string | undefined

  constructor(parts: MaintenanceParts) {
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    const { checkpoints, scopeOf } = this.#parts
    for (const workflowId of this.#nextOpen())
      if (!isAborted(signal)) await checkpoints.expire(scopeOf(workflowId), { isFinished: false })
    for (const scope of await this.#nextEnded())
      if (!isAborted(signal)) await checkpoints.expire(scope, { isFinished: true })
    if (!isAborted(signal)) await checkpoints.collect({ executionsMax: CHECKPOINTS_EXPIRED_PER_ROUND })
  }

  #nextOpen(): readonly WorkflowId[] {
    const all = [...this.#parts.held()].map(({ workflowId }) => workflowId).sort()
    const next = all
      .filter((workflowId) => workflowId > this.#lastOpen)
      .slice(0, CHECKPOINTS_EXPIRED_PER_ROUND)
    this.#lastOpen = next.length < CHECKPOINTS_EXPIRED_PER_ROUND ? '' : (next.at(-1) ?? '')
    return next
  }

  /** Of this tenant, those that ended first. */
  async #nextEnded(): Promise<readonly ExecutionScope[]> {
    const { store, tenant } = this.#parts
    const { entries } = await store.range({
      prefix: endedPrefix('checkpoints'),
      limit: CHECKPOINTS_EXPIRED_PER_ROUND,
      after: this.#lastEnded,
    })
    this.#lastEnded = entries.length < CHECKPOINTS_EXPIRED_PER_ROUND ? undefined : entries.at(-1)?.key
    return entries.map(({ key }) => readEndedKey(key).scope).filter((scope) => scope.tenant === tenant)
  }
}
