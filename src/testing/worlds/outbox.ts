/** Outboxes on disks that outlive their processes. */

import { snapshotOf, type AttemptSnapshot } from '../../fences/attempt-snapshot.ts'
import type { TaskResult } from '../../worker/ports.ts'
import type { Outbox, OutboxItem } from '../../worker/results/outbox.ts'

interface Entry {
  readonly attempt: AttemptSnapshot
  readonly result: TaskResult
}

export class MemoryOutboxes {
  readonly #disks = new Map<string, Set<Entry>>()
  /** What the next process sends if this one ends before it has a result. */
  readonly #fallbacks = new Map<string, Entry>()
  /** Results that the queue did not take, set aside for an operator. */
  readonly refused: Entry[] = []

  isWaiting(disk: string): boolean {
    return (this.#disks.get(disk)?.size ?? 0) > 0
  }

  describe(): string {
    return [...this.#disks].map(([name, entries]) => `${name}${entries.size}`).join()
  }

  /** The process of this disk has ended. Whether it leaves a fallback that counts. */
  promoteFallback(disk: string): boolean {
    const fallback = this.#fallbacks.get(disk)
    this.#fallbacks.delete(disk)
    const entries = this.#disks.get(disk)
    if (fallback === undefined || entries === undefined || entries.size > 0) return false
    entries.add(fallback)
    return true
  }

  /** The machine of this disk is gone. */
  lose(disk: string): void {
    this.#disks.get(disk)?.clear()
  }

  /** `write` is awaited before each write, so that a crash may come before it; `onSettle` is told what is removed as decided. */
  open(
    disk: string,
    {
      write,
      onSettle,
    }: {
      readonly write: (what: string) => Promise<void>
      readonly onSettle: (entry: Entry) => void
    },
  ): Outbox {
    const entries = this.#disks.get(disk) ?? new Set<Entry>()
    this.#disks.set(disk, entries)
    const itemOf = (entry: Entry): OutboxItem => ({
      ...entry,
      writtenAt: '2026-01-01T00:00:00Z',
      settle: () => {
        entries.delete(entry)
        onSettle(entry)
        return Promise.resolve()
      },
      refuse: () => {
        entries.delete(entry)
        this.refused.push(entry)
        return Promise.resolve()
      },
      release: () => undefined,
    })
    return {
      putFallback: (attempt, result) => {
        this.#fallbacks.set(disk, { attempt: snapshotOf(attempt), result })
        const remove = (): Promise<void> => {
          this.#fallbacks.delete(disk)
          return Promise.resolve()
        }
        return Promise.resolve({ remove })
      },
      put: async (attempt, result) => {
        await write('write the result to disk')
        const entry = { attempt, result }
        entries.add(entry)
        return itemOf(entry)
      },
      pending: () => Promise.resolve([...entries].map(itemOf)),
    }
  }
}
