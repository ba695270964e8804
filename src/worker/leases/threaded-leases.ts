/**
 * Leases renewed from a separate thread, which no body can block: it has its own connections and timers. A lost lease is
 * noticed when the worker's own thread runs again; until then it cannot publish either.
 *
 * - LEASE-5 When the thread ends, every lease it held is lost.
 */

import { Worker } from 'node:worker_threads'
import type { Clock } from '../../base/clock.ts'
import { RefusedError } from '../../base/errors.ts'
import { LEASE_THREAD_CLOSE_MS } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import { entryUrl } from '../../base/module-entry.ts'
import { once } from '../../base/once.ts'
import { snapshotOf } from '../../fences/attempt-snapshot.ts'
import { HostedError } from '../bodies/hosted-error.ts'
import type { HostedFailure, RelayedLine } from '../bodies/protocol.ts'
import type { Lease, LeaseCalls, LeaseKeeper, LeaseRequest } from './lease.ts'

/** The queue client of the thread. */
export type LeaseQueue = LeaseCalls & { close(): Promise<void> }

/** A module that exports `openLeaseQueue(options)`, because functions cannot be passed to a thread. */
export interface LeaseQueueModule {
  readonly url: string
  /** Plain data. */
  readonly options: unknown
}

export type ToLeaseThread =
  | ({ readonly type: 'hold'; readonly id: number } & Omit<LeaseRequest, 'onRenewed'>)
  | { readonly type: 'release'; readonly id: number }
  | { readonly type: 'close' }

export type FromLeaseThread =
  /** `sentAtNs`: of `process.hrtime`, which all threads share. */
  | { readonly type: 'renewed'; readonly id: number; readonly sentAtNs: bigint }
  | { readonly type: 'released'; readonly id: number }
  | { readonly type: 'lost'; readonly id: number; readonly failure: HostedFailure }
  | ({ readonly type: 'log' } & RelayedLine)

export interface ThreadedLeasesOptions {
  readonly queue: LeaseQueueModule
  readonly clock: Clock
  readonly logger: Logger
}

interface Held {
  readonly lost: AbortController
  readonly request: LeaseRequest
  renewedAtMs: number
  /** Called when the thread confirms that no renewal is in flight. */
  onReleased: () => void
}

/**
 * ```ts
 * const leases = new ThreadedLeases({ queue: { url: import.meta.resolve('./queue.js'), options }, clock, logger })
 * ```
 */
export class ThreadedLeases implements LeaseKeeper {
  readonly #options: ThreadedLeasesOptions
  readonly #held = new Map<number, Held>()
  #thread: Worker | undefined
  #lastId = 0
  readonly close = once(() => this.#close())

  constructor(options: ThreadedLeasesOptions) {
    this.#options = options
  }

  hold(request: LeaseRequest): Lease {
    const { clock } = this.#options
    const id = ++this.#lastId
    let onReleased: () => void = () => undefined
    const released = new Promise<void>((resolve) => (onReleased = resolve))
    const held: Held = { lost: new AbortController(), request, renewedAtMs: clock.monotonicMs(), onReleased }
    this.#held.set(id, held)
    const { responseTimeoutSeconds, policy } = request
    this.#send({ type: 'hold', id, attempt: snapshotOf(request.attempt), responseTimeoutSeconds, policy })
    return {
      lost: held.lost.signal,
      get renewedAtMs() {
        return held.renewedAtMs
      },
      release: once(() => {
        // After the thread has ended, nothing is renewed.
        if (this.#held.has(id)) this.#send({ type: 'release', id })
        return released
      }),
    }
  }

  async #close(): Promise<void> {
    const thread = this.#thread
    if (thread === undefined) return
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    this.#send({ type: 'close' })
    const timer = setTimeout(() => {
      thread.terminate().catch(() => undefined)
    }, LEASE_THREAD_CLOSE_MS)
    await ended
    clearTimeout(timer)
  }

  #send(message: ToLeaseThread): void {
    this.#thread ??= this.#start()
    this.#thread.postMessage(message)
  }

  #start(): Worker {
    const { queue, logger } = this.#options
    const thread = new Worker(entryUrl(import.meta.url, './lease-thread.ts'), { workerData: queue })
    let failure: unknown
    thread.on('message', (message: FromLeaseThread) => this.#onMessage(message))
    thread.on('error', (error) => {
      failure = error
      logger.error('the thread that renews the leases failed', { error })
    })
    thread.once('exit', (code) => {
      // A new one is started for the next lease.
      if (this.#thread === thread) this.#thread = undefined
      for (const held of this.#held.values()) {
        held.lost.abort(threadEnded(held.request, code, failure))
        held.onReleased()
      }
      this.#held.clear()
    })
    return thread
  }

  #onMessage(message: FromLeaseThread): void {
    const { clock, logger } = this.#options
    if (message.type === 'log') {
      logger[message.level](message.message, message.fields)
      return
    }
    const held = this.#held.get(message.id)
    if (held === undefined) return
    switch (message.type) {
      case 'renewed':
        held.renewedAtMs = clock.monotonicMs() - msSince(message.sentAtNs)
        held.request.onRenewed?.(msSince(message.sentAtNs))
        break
      case 'lost':
        held.lost.abort(new HostedError(message.failure))
        break
      case 'released':
        this.#held.delete(message.id)
        held.onReleased()
        break
    }
  }
}

/** Since a time of `process.hrtime`. */
function msSince(ns: bigint): number {
  return Number(process.hrtime.bigint() - ns) / 1e6
}

function threadEnded({ attempt }: LeaseRequest, code: number, cause: unknown): RefusedError {
  return new RefusedError(
    'worker/lease-thread-ended',
    `renew the lease of task ${attempt.taskId}: the thread that renews it ended with code ${code}`,
    {
      details: { taskId: attempt.taskId, workflowId: attempt.workflowId },
      next: 'Read the log of the worker; the task is handed out again when its response timeout is noticed.',
      cause,
    },
  )
}
