/**
 * The changes of one range of keys, over a watch of etcd. etcd pushes changes, which are buffered here until they are read.
 * The stream of a watcher that is too slow is cancelled; its next read opens one at the place it had reached.
 */

import type { Etcd3, IWatchResponse } from 'etcd3'
import { STORE_ANSWER_TIMEOUT_MS, STORE_CHANGES_KEPT, STORE_WATCH_POLL_MS } from '../limits.ts'
import type { StoreChange } from '../../core/ports.ts'
import type { ChangeFeed, ChangeRead } from '../backend.ts'
import { notDone, reading } from '../failures.ts'
import { WakeUps } from '../wake-ups.ts'

export interface EtcdFeedOptions {
  readonly client: Etcd3
  readonly key: Buffer
  readonly end: Buffer
  readonly prefixBytes: number
  /** Sends any request, for the header of its response. */
  readonly ask: (
    signal: AbortSignal,
  ) => Promise<{ readonly header: { readonly cluster_id: string; readonly revision: string } }>
}

/** One stream of changes. */
interface Following {
  readonly cancel: () => void
  /** Changes up to this revision were returned by `read`. */
  handedOut: number
  /** Changes up to this revision have arrived. */
  reached: number
  pending: StoreChange[]
  isReady: boolean
  isLost: boolean
  failure: Error | undefined
}

const WORK = reading('etcd', 'watch')
const DELETE = 'DELETE'

export class EtcdFeed implements ChangeFeed {
  readonly #options: EtcdFeedOptions
  readonly #wakeUps = new WakeUps()
  #following: Following | undefined

  constructor(options: EtcdFeedOptions) {
    this.#options = options
  }

  async end(signal: AbortSignal): Promise<string> {
    const { header } = await this.#options.ask(signal)
    return `${header.cluster_id}/${header.revision}`
  }

  async read(cursor: string, signal: AbortSignal): Promise<ChangeRead | 'lost'> {
    const [cluster = '', text = ''] = cursor.split('/')
    const after = Number(text)
    if (!/^\d+$/.test(text)) return 'lost'
    const following = await this.#follow(cluster, after, signal)
    if (following === 'lost') return 'lost'
    if (following.isLost) {
      this.#stop()
      return 'lost'
    }
    const changes = following.pending
    following.pending = []
    following.handedOut = following.reached
    if (following.failure !== undefined) this.#stop()
    return {
      changes,
      cursor: `${cluster}/${String(following.reached)}`,
      more: following.failure !== undefined,
    }
  }

  async wait(_cursor: string, signal: AbortSignal): Promise<void> {
    const following = this.#following
    if (following === undefined || following.pending.length > 0 || following.failure !== undefined) return
    await this.#wakeUps.wait(STORE_WATCH_POLL_MS, signal)
  }

  close(): Promise<void> {
    this.#stop()
    return Promise.resolve()
  }

  #stop(): void {
    this.#following?.cancel()
    this.#following = undefined
  }

  /** The stream that continues at this revision; opens one if needed. */
  async #follow(cluster: string, after: number, signal: AbortSignal): Promise<Following | 'lost'> {
    const present = this.#following
    if (present !== undefined && present.handedOut === after) return present
    this.#stop()
    // For a future revision, or one of another cluster, etcd would wait silently.
    const { header } = await this.#options.ask(signal)
    if (header.cluster_id !== cluster || Number(header.revision) < after) return 'lost'
    const following = await this.#open(after)
    this.#following = following
    const end = performance.now() + STORE_ANSWER_TIMEOUT_MS
    while (!following.isReady && !following.isLost && following.failure === undefined) {
      if (performance.now() > end || signal.aborted) {
        this.#stop()
        throw notDone(WORK, new Error('the watch was not opened in time'))
      }
      await this.#wakeUps.wait(STORE_WATCH_POLL_MS, signal)
    }
    if (following.failure !== undefined && !following.isReady) {
      this.#stop()
      throw notDone(WORK, following.failure)
    }
    return following
  }

  async #open(after: number): Promise<Following> {
    const { client, key, end } = this.#options
    const stream = await client.watchClient.watch().catch((error: unknown) => {
      throw notDone(WORK, error)
    })
    const following: Following = {
      cancel: () => {
        // Ended first: a writable stream that breaks makes the client close its other connections.
        stream.end()
        stream.cancel()
      },
      handedOut: after,
      reached: after,
      pending: [],
      isReady: false,
      isLost: false,
      failure: undefined,
    }
    const fail = (error: Error): void => {
      following.failure ??= error
      this.#wakeUps.wake()
    }
    stream.on('data', (answer) => this.#take(following, answer))
    stream.on('error', fail)
    stream.on('end', () => fail(new Error('the server ended the watch')))
    stream.write({
      create_request: { key, range_end: end, start_revision: after + 1, progress_notify: true },
    })
    return following
  }

  #take(following: Following, answer: IWatchResponse): void {
    if (answer.canceled) {
      if (Number(answer.compact_revision) > 0) following.isLost = true
      else following.failure ??= new Error(`the server cancelled the watch: ${answer.cancel_reason}`)
    } else if (answer.created) following.isReady = true
    else {
      for (const { type, kv } of answer.events) {
        const key = kv.key.subarray(this.#options.prefixBytes).toString()
        following.pending.push({ key, kind: type.toUpperCase() === DELETE ? 'delete' : 'put' })
      }
      following.reached = Math.max(following.reached, Number(answer.header.revision))
      if (following.pending.length > STORE_CHANGES_KEPT) {
        following.cancel()
        following.failure ??= new Error('the watcher is too slow')
      }
    }
    this.#wakeUps.wake()
  }
}
