/** What of a worker's status is a bad sign. */

import type { Schemas } from '../../api.ts'

type Worker = Schemas['Worker']

/** Whether what it wrote is still so. */
export function isThere(state: Worker['state']): boolean {
  return state === 'running' || state === 'stopping'
}

/** Whether a lease was over when the worker wrote. Both times are of the worker's clock. */
export function isLate(
  { renewed_at, lease_ms }: Pick<Worker['attempts'][number], 'renewed_at' | 'lease_ms'>,
  { written_at }: Pick<Worker, 'written_at'>,
): boolean {
  return Date.parse(written_at) - Date.parse(renewed_at) > lease_ms
}
