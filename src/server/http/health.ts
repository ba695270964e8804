/** Health checks: many at the same time are one look at the store, and a store that does not answer holds none of them for long. */

import type { Clock } from '../../base/clock.ts'
import type { Host } from '../../runtime/host.ts'
import { HTTP_HEALTH_TIMEOUT_MS } from '../limits.ts'

export function openExamination(host: Pick<Host, 'examine'>, clock: Clock): () => Promise<readonly string[]> {
  let running: Promise<readonly string[]> | undefined
  const examine = async (): Promise<readonly string[]> => {
    const stop = new AbortController()
    const late = clock
      .sleep(HTTP_HEALTH_TIMEOUT_MS, stop.signal)
      .then(() => [`the store has not answered within ${HTTP_HEALTH_TIMEOUT_MS / 1_000} seconds`])
    const looked = (async () => host.examine())()
    try {
      return await Promise.race([looked, late])
    } finally {
      stop.abort()
      running = undefined
    }
  }
  return () => (running ??= examine())
}
