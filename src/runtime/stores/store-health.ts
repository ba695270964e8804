/** Whether the store answers and can be written. Whoever asks reads; a write is tried now and then, and never twice at once. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { isPeragoError } from '../../base/errors.ts'
import { serverKey } from '../../core/keys.ts'
import type { Store, StoreCallOptions } from '../../core/ports.ts'
import { HEALTH_TIMEOUT_MS, HEALTH_WRITE_INTERVAL_MS, HEALTH_WRITE_TTL_MS } from '../limits.ts'

/** What keeps the store from being used, one sentence each. */
export type StoreExamination = () => Promise<readonly string[]>

const PROBE = serverKey('health', 'probe')

export function openExamination(store: Store, clock: Clock = systemClock): StoreExamination {
  let written: { readonly atMs: number; readonly problems: readonly string[] } | undefined
  let running: Promise<readonly string[]> | undefined
  const read = () => attempt(`the store (${store.name}) does not answer`, (call) => store.get(PROBE, call))
  const write = async (): Promise<readonly string[]> => {
    const atMs = clock.monotonicMs()
    const problems = await attempt(`the store (${store.name}) cannot be written`, (call) =>
      // It expires, so that no copy of the store has it.
      store.commit(
        { operations: [{ do: 'put', key: PROBE, value: Buffer.from('{}'), ttlMs: HEALTH_WRITE_TTL_MS }] },
        call,
      ),
    )
    written = { atMs, problems }
    return problems
  }
  const examine = async (): Promise<readonly string[]> => {
    const problems = await read()
    if (problems.length > 0) return problems
    const isRecent = written !== undefined && clock.monotonicMs() - written.atMs < HEALTH_WRITE_INTERVAL_MS
    return isRecent ? (written?.problems ?? []) : write()
  }
  return () => (running ??= examine().finally(() => (running = undefined)))
}

/** Short, because anybody may ask; the server's log says more. */
async function attempt(
  problem: string,
  work: (call: StoreCallOptions) => Promise<unknown>,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('too late')), { once: true })
  })
  try {
    await Promise.race([work({ signal }), late])
    return []
  } catch (error) {
    return [isPeragoError(error) ? `${problem}: ${error.code}` : problem]
  }
}
