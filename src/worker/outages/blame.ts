/** Whether a failed attempt fails its task, or an outage had it fail and the task is handed back. */

import type { Clock } from '../../base/clock.ts'
import { NODE_HAND_BACK_POLLS_MAX, OUTAGE_GIVE_UP_MS } from '../limits.ts'
import type { TaskRecord } from '../ports.ts'
import { OutageError, OutageTooLongError, type Outage, type OutageWatch } from './outage.ts'

export interface BlameOptions {
  readonly outages?: Pick<OutageWatch, 'explain'> | undefined
  /** How long after it was first taken a task is handed back for servers that are away. */
  readonly outageGiveUpMs?: number | undefined
}

/** The error that the queue is told of in place of `error`, whose attempt began at `sinceMs`. */
export async function blameOutage(
  error: unknown,
  of: { readonly record: TaskRecord; readonly sinceMs: number; readonly clock: Clock } & BlameOptions,
): Promise<unknown> {
  const known = error instanceof OutageError ? error.outage : undefined
  const outage = known ?? (await of.outages?.explain(error, of.sinceMs))
  if (outage === undefined) return error
  if (!mayHandBack(outage, of)) return new OutageTooLongError(outage, error)
  return known === undefined ? new OutageError(outage, error) : error
}

/** Each hand-out counts a poll, and the time of the first one stays. */
function mayHandBack(
  { what }: Outage,
  { record, clock, outageGiveUpMs = OUTAGE_GIVE_UP_MS }: Parameters<typeof blameOutage>[1],
): boolean {
  if (what === 'node') return record.pollCount <= NODE_HAND_BACK_POLLS_MAX
  return clock.now().getTime() - record.startTimeMs <= outageGiveUpMs
}
