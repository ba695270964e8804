/** Requests that wait for the end of an execution: bounded in number and time. */

import { followSignals } from '../../base/abort-signals.ts'
import type { Clock } from '../../base/clock.ts'
import { UnavailableError } from '../../base/errors.ts'
import type { ExecutionReader } from '../../engine/host/execution-list.ts'
import type { WorkflowId } from '../../worker/ports.ts'
import { API_WAITERS_MAX } from '../limits.ts'

export class EndWaiters {
  readonly #parts: { readonly clock: Clock; readonly closing: AbortSignal; readonly max?: number }
  #count = 0

  constructor(parts: { readonly clock: Clock; readonly closing: AbortSignal; readonly max?: number }) {
    this.#parts = parts
  }

  /** Resolves when it has ended, or the time is over. Throws `api/too-many-waiters`. */
  async wait(
    reader: Pick<ExecutionReader, 'waitForEnd'>,
    id: WorkflowId,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock, closing, max = API_WAITERS_MAX } = this.#parts
    if (this.#count >= max) throw tooMany(max)
    this.#count += 1
    const stop = followSignals(closing, signal)
    clock.sleep(timeoutMs, stop.signal).then(
      () => stop.abort(),
      () => undefined,
    )
    try {
      await reader.waitForEnd(id, stop.signal)
    } finally {
      this.#count -= 1
      stop.abort()
      stop.release()
    }
  }
}

function tooMany(max: number): UnavailableError {
  return new UnavailableError(
    'api/too-many-waiters',
    `wait for an execution: ${max} requests already wait, which is the most`,
    { retryAfterMs: 5_000, next: 'Read the execution now and then instead.' },
  )
}
