/** An outbox for results that need not outlive the process: if it ends, their leases run out and the units run again. */

import type { Logger } from '../../base/logger.ts'
import { snapshotOf } from '../../fences/attempt-snapshot.ts'
import type { OutboxEntry } from '../results/outbox-entries.ts'
import type { Outbox, OutboxItem } from '../results/outbox.ts'

export function openMemoryOutbox({
  now,
  logger,
}: {
  readonly now: () => Date
  readonly logger: Logger
}): Outbox {
  const waiting = new Set<OutboxEntry>()
  const claimed = new Set<OutboxEntry>()
  const remove = (entry: OutboxEntry): Promise<void> => {
    waiting.delete(entry)
    claimed.delete(entry)
    return Promise.resolve()
  }
  const itemOf = (entry: OutboxEntry): OutboxItem => {
    claimed.add(entry)
    return {
      ...entry,
      settle: () => remove(entry),
      refuse: (reason) => {
        logger.error('a result is dropped', { reason, taskId: entry.attempt.taskId })
        return remove(entry)
      },
      release: () => {
        claimed.delete(entry)
      },
    }
  }
  return {
    putFallback: () => Promise.resolve({ remove: () => Promise.resolve() }),
    put: (attempt, result) => {
      const entry = { attempt: snapshotOf(attempt), result, writtenAt: now().toISOString() }
      waiting.add(entry)
      return Promise.resolve(itemOf(entry))
    },
    pending: () => Promise.resolve([...waiting].filter((entry) => !claimed.has(entry)).map(itemOf)),
  }
}
