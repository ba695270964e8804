/** Decides executions again when events or variables that they wait for were written by somebody else. */

import type { Clock } from '../../base/clock.ts'
import { isAborted } from '../../base/abort-signals.ts'
import type { Logger } from '../../base/logger.ts'
import type { Store } from '../../core/ports.ts'
import type { WorkflowId } from '../../fences/attempt-snapshot.ts'
import { ENGINE_POLL_MS, HOST_ASKED_KEYS_PER_SECOND } from '../limits.ts'
import type { Facts } from './facts.ts'

export interface WakeUpParts {
  readonly store: Store
  readonly facts: Facts
  readonly clock: Clock
  readonly logger: Logger
  readonly wake: (workflowId: WorkflowId) => void
  /** What the keys of events and of variables begin with. */
  readonly prefixes: readonly string[]
}

/** Ends with the signal. */
export async function runWakeUps(parts: WakeUpParts, signal: AbortSignal): Promise<void> {
  await Promise.all([poll(parts, signal), ...parts.prefixes.map((prefix) => follow(parts, prefix, signal))])
}

/** Whatever the watch misses, and stores that have none. */
async function poll({ facts, clock, logger, wake }: WakeUpParts, signal: AbortSignal): Promise<void> {
  while (!isAborted(signal)) {
    const pauseMs = Math.max(ENGINE_POLL_MS, (facts.count / HOST_ASKED_KEYS_PER_SECOND) * 1000)
    await clock.sleep(pauseMs, signal).catch(() => undefined)
    try {
      for (const workflowId of await facts.findChanged(signal)) wake(workflowId)
    } catch (error) {
      logger.warn('events and variables could not be read', { error })
    }
  }
}

async function follow(
  { store, facts, clock, logger, wake }: WakeUpParts,
  prefix: string,
  signal: AbortSignal,
): Promise<void> {
  while (!isAborted(signal)) {
    try {
      for await (const notice of store.watch({ prefix, signal })) {
        const ids =
          notice.kind === 'changes'
            ? notice.changes.flatMap(({ key }) => [...facts.askersOf(key)])
            : facts.all()
        for (const workflowId of new Set(ids)) wake(workflowId)
      }
    } catch (error) {
      logger.warn('events and variables could not be watched', { error })
    }
    await clock.sleep(WATCH_AGAIN_MS, signal).catch(() => undefined)
  }
}

const WATCH_AGAIN_MS = 1_000
