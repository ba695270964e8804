/**
 * Batches that come while others are on their way to a server wait, and are sent together: one round trip, one sync. With few writers
 * none waits.
 *
 * - WG-1 No two batches of a group name a key that one of them writes: each finds what it would find alone.
 * - WG-2 A batch that was given up before it was sent is never sent.
 */

import { UncertainError } from '../base/errors.ts'
import { STORE_BATCH_MAX_BYTES } from '../core/limits.ts'
import type { CommitOutcome } from '../core/ports.ts'
import type { CheckedBatch } from './backend.ts'
import { answerLost, notDone, type Work } from './failures.ts'
import { STORE_GROUP_LOOKED_AT, STORE_GROUP_MAX_KEYS } from './limits.ts'

export interface WriteGroupsOptions {
  /** Groups that are on their way at one time. */
  readonly groupsAtOnce: number
  /** How long a batch waits for others at most. */
  readonly waitMs: number
  /** Sends some batches, and tells the outcome of each. */
  readonly send: (batches: readonly CheckedBatch[]) => Promise<readonly CommitOutcome[]>
  /** For messages. */
  readonly workOf: (batch: CheckedBatch) => Work
  /** Whether the server has refused all of them, maybe for what is in one of them. */
  readonly isFaultOfOne: (failure: unknown) => boolean
}

interface Waiting {
  readonly batch: CheckedBatch
  readonly resolve: (outcome: CommitOutcome) => void
  readonly reject: (error: unknown) => void
  readonly sinceMs: number
}

export class WriteGroups {
  readonly #options: WriteGroupsOptions
  readonly #waiting = new Set<Waiting>()
  #groups = 0
  /** Set while some wait. */
  #timer: NodeJS.Timeout | undefined
  /** Set while those that were told of a group have their turn to write again. */
  #turn: Promise<void> | undefined

  constructor(options: WriteGroupsOptions) {
    this.#options = options
  }

  async write(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome> {
    let onAbort = (): void => undefined
    try {
      return await new Promise((resolve, reject) => {
        const waiting: Waiting = { batch, resolve, reject, sinceMs: performance.now() }
        onAbort = () => this.#giveUp(waiting, new Error('it was aborted', { cause: signal?.reason }))
        signal?.addEventListener('abort', onAbort, { once: true })
        this.#waiting.add(waiting)
        if (this.#turn === undefined) this.#sendSome()
        if (this.#waiting.size > 0) this.#timer ??= this.#boundWaits(this.#options.waitMs)
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Those that wait are not sent; those that were sent go on. */
  close(): void {
    this.#stopTimer()
    for (const waiting of this.#waiting) this.#giveUp(waiting, new Error('the store was closed'))
  }

  /** One timer for all: the first of those that wait has waited the longest. */
  #boundWaits(delayMs: number): NodeJS.Timeout {
    const { waitMs } = this.#options
    return setTimeout(() => {
      this.#timer = undefined
      const now = performance.now()
      for (const waiting of this.#waiting) {
        const leftMs = waiting.sinceMs + waitMs - now
        if (leftMs > 0) {
          this.#timer = this.#boundWaits(leftMs)
          return
        }
        this.#giveUp(waiting, new Error(`it waited for ${waitMs} ms`))
      }
    }, delayMs)
  }

  #giveUp(waiting: Waiting, reason: Error): void {
    const work = this.#options.workOf(waiting.batch)
    waiting.reject(this.#waiting.delete(waiting) ? notDone(work, reason) : answerLost(work, reason))
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #sendSome(): void {
    while (this.#groups < this.#options.groupsAtOnce && this.#waiting.size > 0) {
      // Failures are told to each batch.
      this.#send(this.#take()).catch(() => undefined)
    }
  }

  async #send(group: readonly Waiting[]): Promise<void> {
    this.#groups += 1
    await this.#settle(group)
    this.#groups -= 1
    if (this.#waiting.size === 0) this.#stopTimer()
    if (group.length > 1 || this.#waiting.size > 0) {
      // Those that were told may write again at once: together, too.
      this.#turn ??= new Promise((resolve) => setImmediate(resolve))
      await this.#turn
      this.#turn = undefined
    }
    this.#sendSome()
  }

  async #settle(group: readonly Waiting[]): Promise<void> {
    const { send, isFaultOfOne } = this.#options
    try {
      const outcomes = await send(group.map(({ batch }) => batch))
      for (const [at, { resolve, reject, batch }] of group.entries()) {
        const outcome = outcomes[at]
        if (outcome !== undefined) resolve(outcome)
        else reject(answerLost(this.#options.workOf(batch), new Error('the response does not tell of it')))
      }
    } catch (failure) {
      const isRefused = !(failure instanceof UncertainError) && isFaultOfOne(failure)
      if (group.length > 1 && isRefused) for (const one of group) await this.#settle([one])
      else for (const { reject, batch } of group) reject(this.#failureOf(batch, failure))
    }
  }

  /** With the keys of this batch, not of all. */
  #failureOf(batch: CheckedBatch, failure: unknown): unknown {
    if (!(failure instanceof UncertainError)) return failure
    return answerLost(this.#options.workOf(batch), failure.cause)
  }

  /** The first that waits, and those behind it that go with it. */
  #take(): readonly Waiting[] {
    const group = new Group()
    let looked = 0
    for (const waiting of this.#waiting) {
      if (group.isFull(waiting.batch) || (looked += 1) > STORE_GROUP_LOOKED_AT) break
      if (!group.isApart(waiting.batch)) continue
      group.add(waiting)
      this.#waiting.delete(waiting)
    }
    return group.taken
  }
}

class Group {
  readonly taken: Waiting[] = []
  readonly #named = new Set<string>()
  readonly #written = new Set<string>()
  #keys = 0
  #bytes = 0

  /** Whether there is no place for it. The first always has one. */
  isFull(batch: CheckedBatch): boolean {
    if (this.taken.length === 0) return false
    return (
      this.#keys + countKeys(batch) > STORE_GROUP_MAX_KEYS ||
      this.#bytes + countBytes(batch) > STORE_BATCH_MAX_BYTES
    )
  }

  isApart({ conditions, operations }: CheckedBatch): boolean {
    return (
      !conditions.some(({ key }) => this.#written.has(key)) &&
      !operations.some(({ key }) => this.#named.has(key) || this.#written.has(key))
    )
  }

  add(waiting: Waiting): void {
    const { batch } = waiting
    this.taken.push(waiting)
    this.#keys += countKeys(batch)
    this.#bytes += countBytes(batch)
    for (const { key } of batch.conditions) this.#named.add(key)
    for (const { key } of batch.operations) this.#written.add(key)
  }
}

function countKeys({ conditions, operations }: CheckedBatch): number {
  return conditions.length + operations.length
}

function countBytes({ operations }: CheckedBatch): number {
  let bytes = 0
  for (const operation of operations) if (operation.do === 'put') bytes += operation.value.byteLength
  return bytes
}
