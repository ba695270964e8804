/**
 * Whether a log is read as it was written. Its places follow each other without a gap, so one that is missing was lost, unless
 *
 * - the events of the execution expire, or
 * - the log was cleared up to there while the execution ran, or
 * - the log is being removed, because the execution has ended.
 */

import { DefectError } from '../../base/errors.ts'
import type { EventsPlace } from '../namespaces/execution-record.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import type { CheckedFilter } from './event-filter.ts'

interface LogHole {
  readonly from: number
  readonly to: number
}

/** Where the events of an execution are complete: in the store, or in the archive. */
const COMPLETE_IN: Readonly<Record<'store' | 'archive', readonly EventsPlace[]>> = {
  store: ['hot'],
  archive: ['archived', 'cold'],
}

export class LogCheck {
  readonly #bound: BoundScope
  readonly #where: 'store' | 'archive'
  readonly #isAscending: boolean
  /** The place before the next one, in the order that is read; `undefined` where it is not known. */
  #last: number | undefined

  constructor(
    bound: BoundScope,
    { order, after }: Pick<CheckedFilter, 'order' | 'after'>,
    where: 'store' | 'archive',
  ) {
    this.#bound = bound
    this.#where = where
    this.#isAscending = order === 'ascending'
    this.#last = this.#isAscending ? (after ?? 0) : undefined
  }

  /** The place of the next event. Throws `core/log-hole` where others should be before it; a promise only where that may be so. */
  see(sequence: number): Promise<void> | undefined {
    const last = this.#last
    this.#last = sequence
    if (last === undefined || Math.abs(sequence - last) === 1) return undefined
    return this.#judge({ from: Math.min(last, sequence) + 1, to: Math.max(last, sequence) - 1 })
  }

  /** There are no more events in this direction. */
  async end(): Promise<void> {
    const last = this.#last
    // Every log begins with the event that started the execution.
    if (this.#isAscending ? last === 0 : last !== undefined && last > 1) {
      await this.#judge({ from: 1, to: this.#isAscending ? 1 : (last ?? 1) - 1 })
    }
  }

  async #judge({ from, to }: LogHole): Promise<void> {
    if (to < from) return
    const { live, scope } = this.#bound
    // Read after the log: a log that is cleared meanwhile has this in its record first.
    const record = (await live.find())?.record
    if (record === undefined || record.eventTtlMs !== undefined || to <= record.clearedUpTo) return
    if (!COMPLETE_IN[this.#where].includes(record.events)) return
    throw logHole(scope.execution, { from: Math.max(from, record.clearedUpTo + 1), to }, this.#where)
  }
}

export function logHole(execution: string, { from, to }: LogHole, where: string): DefectError {
  const missing = from === to ? `event ${from} is` : `events ${from} to ${to} are`
  return new DefectError(
    'core/log-hole',
    `read the log of execution ${execution}: ${missing} missing in the ${where}`,
    {
      details: { execution, from, to },
      next: 'See with perago store verify what is missing, and restore it from a copy.',
    },
  )
}
