/**
 * Appends events to the log of one execution, one batch at a time. Events published while a batch is being written wait and go
 * into the next batch together. Other processes may write to the same log: the first one gets the place.
 */

import { RefusedError, UncertainError } from '../../base/errors.ts'
import { fromBytes } from '../json.ts'
import { commitGuarded, settleConflicts, type WritePace } from '../namespaces/guarded-write.ts'
import type { BoundScope } from '../namespaces/scopes.ts'
import { planAppend, readLogEnd, type AppendPlan, type AppendRequest, type LogTail } from './append-plan.ts'
import { decodeEvent, type EventPlace } from './event.ts'

/** What was written: the id of the stored event, its own or that of the first one with the same idempotency key. */
export interface Appended {
  readonly id: string
  /** Of all entries that were put with it; unknown where the response was lost. */
  readonly revision: number | undefined
}

interface Waiting {
  readonly request: AppendRequest
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

export class EventWriter {
  readonly #bound: BoundScope
  readonly #pace: WritePace
  #waiting: Waiting[] = []
  #tail: LogTail | undefined
  #written: { readonly ms: number; readonly text: string } | undefined
  /** While it runs. Settles every waiting promise; never rejects. */
  #loop: Promise<void> | undefined

  constructor(bound: BoundScope, pace: WritePace) {
    this.#bound = bound
    this.#pace = pace
  }

  /** Throws `core/stale` where a condition of the request itself does not hold; then nothing of it was written. */
  append(request: AppendRequest): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      if (this.#loop === undefined) this.#loop = this.#run()
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const doing = `record events of execution ${this.#bound.scope.execution}`
      try {
        await settleConflicts(doing, () => this.#writeOnce(), this.#pace)
      } catch (error) {
        this.#tail = undefined
        // Events in a batch were settled by `#commit`; which of the others were being written is unknown.
        for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
      }
    }
    this.#loop = undefined
  }

  async #writeOnce(): Promise<'conflict' | undefined> {
    await this.#settleRepeated()
    if (this.#waiting.length === 0) return undefined
    const tail = (this.#tail ??= await this.#readTail())
    const { scope } = this.#bound
    const now = this.#now()
    const plan = planAppend(
      scope,
      tail,
      this.#waiting.map(({ request }) => request),
      now,
    )
    for (const { request, error } of plan.refused) this.#take(request)?.reject(error)
    // The record they were refused by may be out of date: read it again for the next ones.
    if (plan.refused.length > 0) this.#tail = undefined
    if (plan.accepted.length === 0) return undefined
    return this.#commit(plan, tail)
  }

  /** In ISO 8601. Writing a date out takes long, and many events are of the same millisecond. */
  #now(): string {
    const ms = this.#pace.clock.now().getTime()
    if (this.#written?.ms !== ms) this.#written = { ms, text: new Date(ms).toISOString() }
    return this.#written.text
  }

  async #commit(plan: AppendPlan, tail: LogTail): Promise<'conflict' | undefined> {
    const [first] = plan.accepted
    if (first === undefined) return undefined
    const sentAtMs = this.#pace.clock.monotonicMs()
    const hasHappened = () => this.#hasHappened(first.place, tail, sentAtMs)
    const write = { batch: plan.batch, hasHappened }
    let result
    try {
      result = await commitGuarded(this.#bound.scope.store, write, this.#pace)
    } catch (error) {
      this.#tail = undefined
      const told = error instanceof UncertainError ? tellUncertain(this.#bound.scope.execution, error) : error
      for (const { request } of plan.accepted) this.#take(request)?.reject(told)
      return undefined
    }
    if (!result.committed) {
      this.#tail = undefined
      this.#bound.live.forget()
      for (const request of findStale(plan, result.unmet)) this.#take(request)?.reject(stale(request))
      return 'conflict'
    }
    const { revision } = result
    this.#advance(plan, tail, revision)
    for (const { request } of plan.accepted) this.#take(request)?.resolve({ id: request.id, revision })
    return undefined
  }

  #advance({ last, record }: AppendPlan, { seen }: LogTail, revision: number | undefined): void {
    if (record !== undefined) {
      // The execution has ended, or runs again.
      this.#tail = undefined
      if (revision === undefined) this.#bound.live.forget()
      else this.#bound.live.note({ record, revision })
    } else if (last !== undefined) {
      const { sequence, timestamp } = last
      const endRevision = seen.record.eventTtlMs === undefined ? undefined : revision
      // The revision of the log's end is unknown: it must be read again.
      const isUnknown = seen.record.eventTtlMs !== undefined && revision === undefined
      this.#tail = isUnknown ? undefined : { seen, sequence, timestamp, endRevision }
    }
  }

  /** Settles requests whose idempotency key was used before. */
  async #settleRepeated(): Promise<void> {
    const { scope } = this.#bound
    const named = this.#waiting.filter(({ request }) => request.idempotency !== undefined)
    for (const { request } of named) {
      if (request.idempotency === undefined) continue
      const entry = await scope.store.get(scope.keys.idempotent(request.idempotency.digest))
      if (entry === undefined) continue
      const { id, fingerprint } = JSON.parse(fromBytes(entry.value)) as { id: string; fingerprint: string }
      const waiting = this.#take(request)
      if (fingerprint === request.idempotency.fingerprint) waiting?.resolve({ id, revision: undefined })
      else waiting?.reject(keyUsedTwice(request))
    }
  }

  async #readTail(): Promise<LogTail> {
    const { scope, live } = this.#bound
    // The record before the log: clearing the log changes the record, which the batch has a condition on.
    const seen = await live.read()
    const page = await scope.store.range({ prefix: scope.keys.log, order: 'descending', limit: 1 })
    const [entry] = page.entries
    // Where entries expire, the last may be gone before an earlier one; the end of the log is stored separately.
    const end = seen.record.eventTtlMs === undefined ? undefined : await scope.store.get(scope.keys.logEnd)
    if (end !== undefined) return { seen, ...readLogEnd(end.value), endRevision: end.revision }
    if (entry === undefined)
      return { seen, sequence: seen.record.clearedUpTo, timestamp: seen.record.startedAt }
    const { sequence, timestamp } = decodeEvent(entry.value)
    return { seen, sequence, timestamp }
  }

  async #hasHappened(place: EventPlace, tail: LogTail, sentAtMs: number): Promise<'yes' | 'no' | 'open'> {
    const { scope, live } = this.#bound
    const entry = await scope.store.get(scope.keys.entry(place.sequence))
    if (entry !== undefined) return decodeEvent(entry.value).id === place.id ? 'yes' : 'no'
    const { eventTtlMs = Infinity } = tail.seen.record
    if (this.#pace.clock.monotonicMs() - sentAtMs >= eventTtlMs) throw mayHaveExpired(place)
    const seen = await live.find()
    if (seen !== undefined && seen.revision === tail.seen.revision) return 'open'
    // After a change of the record the condition cannot hold any more. But if the log was cleared meanwhile, an event that
    // was written would not be found either.
    if (seen?.record.events === 'hot' && seen.record.clearedUpTo < place.sequence) return 'no'
    throw new UncertainError(
      'core/append-uncertain',
      `look for event ${place.id}: its log was cleared meanwhile`,
      { read: 'the archive, for an event with this id' },
    )
  }

  #take(request: AppendRequest): Waiting | undefined {
    const index = this.#waiting.findIndex((waiting) => waiting.request === request)
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]
  }
}

function findStale({ accepted }: AppendPlan, unmet: readonly string[] = []): readonly AppendRequest[] {
  return accepted
    .map(({ request }) => request)
    .filter(({ conditions = [] }) => conditions.some(({ key }) => unmet.includes(key)))
}

function stale({ event }: AppendRequest): RefusedError {
  return new RefusedError('core/stale', `record "${event.type}": what it is based on has changed meanwhile`, {
    next: 'Read again, and decide anew.',
  })
}

function mayHaveExpired({ id }: EventPlace): UncertainError {
  return new UncertainError('core/append-uncertain', `look for event ${id}: it may have expired meanwhile`, {
    read: 'nothing: whatever was recorded is gone by now',
  })
}

function tellUncertain(execution: string, cause: UncertainError): UncertainError {
  return new UncertainError(
    'core/append-uncertain',
    `record events of execution ${execution}: the answer was lost`,
    {
      cause,
      read: 'the log of the execution, for an event of this type and payload',
      next: 'Query the log, or publish again with the same idempotency key.',
    },
  )
}

function keyUsedTwice({ event }: AppendRequest): RefusedError {
  return new RefusedError(
    'core/idempotency-conflict',
    `record "${event.type}": its idempotency key was used for another event`,
    { next: 'Use a different key for each event.' },
  )
}
