/**
 * The store in etcd, shared between instances. A batch is one transaction of etcd, its revision is that of etcd, and entries
 * with a time to live have a lease.
 */

import type { Etcd3, ICompare, IKeyValue, IRequestOp } from 'etcd3'
import { BoundedMap } from '../../base/bounded-map.ts'
import { InvalidError } from '../../base/errors.ts'
import { STORE_PAGE_MAX_BYTES } from '../../core/limits.ts'
import { STORE_ANSWER_TIMEOUT_MS, STORE_CLEAR_ENTRIES } from '../limits.ts'
import type { CommitOutcome, RangePage, Store, StoreCondition, StoreEntry } from '../../core/ports.ts'
import type { Backend, ChangeFeed, CheckedBatch, Cleared, KeySpan, KeyStretch } from '../backend.ts'
import { findUnmet } from '../conditions.ts'
import { bounded, reading, workOfBatch, type Work } from '../failures.ts'
import { guardStore } from '../guard.ts'
import { bufferOf } from '../bytes.ts'
import { endOfPrefix } from '../key-order.ts'
import { connect, failureOf, type EtcdAddress } from './connect.ts'
import { EtcdFeed } from './etcd-feed.ts'

export interface EtcdStoreOptions extends EtcdAddress {
  /** Prefix of every key in etcd. */
  readonly prefix?: string
  /** Longest time for one call of the store. Default: 10 s. */
  readonly answerTimeoutMs?: number
}

/**
 * ```ts
 * const store = await openEtcdStore({ endpoints: ['http://127.0.0.1:2379'] })
 * ```
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const prefix = options.prefix ?? 'perago/'
  if (prefix === '') {
    throw new InvalidError('stores/bad-address', 'open a store: an empty prefix would use all of etcd', {
      next: 'Set a prefix, such as perago/.',
    })
  }
  const client = await connect(options)
  const backend = new EtcdBackend(client, prefix, options.answerTimeoutMs ?? STORE_ANSWER_TIMEOUT_MS)
  try {
    await backend.get('any', undefined)
    return guardStore(backend)
  } catch (error) {
    client.close()
    throw error
  }
}

const NAME = 'etcd'
/** Entries in the first request of a range; later ones depend on the sizes seen. */
const FIRST_STEP = 32
/** A lease is granted before the batch is written, so it gets extra time. */
const LEASE_AHEAD_S = 1
/** Entries with at least this time to live share leases, since a lease costs as much as a batch. */
const LEASE_SHARED_FROM_MS = 60_000
/** How much longer a shared entry may live, as a part of its time. */
const LEASE_SHARED_PART = 0.01
/** Most entries per lease: etcd removes all of them in one step. */
const LEASE_SHARED_BY_MAX = 1_000
const LEASES_SHARED_MAX = 100

interface SharedLease {
  readonly lease: Promise<string>
  readonly untilMs: number
  left: number
}

class EtcdBackend implements Backend {
  readonly name = NAME
  readonly #client: Etcd3
  readonly #prefix: string
  readonly #answerTimeoutMs: number
  /** The current shared lease for each time to live. */
  readonly #shared = new BoundedMap<number, SharedLease>({ max: LEASES_SHARED_MAX, evict: 'oldest' })

  constructor(client: Etcd3, prefix: string, answerTimeoutMs: number) {
    this.#client = client
    this.#prefix = prefix
    this.#answerTimeoutMs = answerTimeoutMs
  }

  async get(key: string, signal: AbortSignal | undefined): Promise<StoreEntry | undefined> {
    const { kvs } = await this.#ask(reading(NAME, 'read a key'), signal, (call) =>
      this.#client.kv.range({ key: this.#keyOf(key) }, call),
    )
    return kvs[0] === undefined ? undefined : this.#show(kvs[0])
  }

  async range({ from, to, order, limit }: KeySpan, signal: AbortSignal | undefined): Promise<RangePage> {
    const entries: StoreEntry[] = []
    let [low, high] = [this.#keyOf(from), this.#endOf(to)]
    // All requests of a page read the same revision.
    let revision: string | undefined
    for (let bytes = 0, step = FIRST_STEP; ;) {
      const answer = await this.#ask(reading(NAME, 'read a range'), signal, (call) =>
        this.#client.kv.range(
          {
            key: low,
            range_end: high,
            limit: Math.min(step, limit - entries.length + 1),
            ...(order === 'descending' ? { sort_order: 'Descend', sort_target: 'Key' } : {}),
            ...(revision === undefined ? {} : { revision }),
          },
          call,
        ),
      )
      revision ??= answer.header.revision
      for (const kv of answer.kvs) {
        if (entries.length === limit || bytes >= STORE_PAGE_MAX_BYTES)
          return { entries, next: entries.at(-1)?.key }
        entries.push(this.#show(kv))
        bytes += kv.value.length
      }
      const last = answer.kvs.at(-1)
      if (!answer.more || last === undefined) return { entries, next: undefined }
      if (order === 'ascending') low = Buffer.concat([last.key, Buffer.from([0])])
      else high = last.key
      step = Math.max(1, Math.floor((STORE_PAGE_MAX_BYTES - bytes) / (bytes / entries.length)) + 1)
    }
  }

  async commit(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome> {
    const work = workOfBatch(NAME, batch)
    const { conditions, operations } = batch
    const leases = await this.#grantLeases(batch, signal)
    const writing = this.#ask(work, signal, (call) =>
      this.#client.kv.txn(
        {
          compare: conditions.map((condition) => this.#compareOf(condition)),
          success: operations.map((operation): IRequestOp => {
            const key = this.#keyOf(operation.key)
            if (operation.do === 'delete') return { request_delete_range: { key } }
            const lease = operation.ttlMs === undefined ? undefined : leases.get(operation.ttlMs)
            const value = bufferOf(operation.value)
            return { request_put: { key, value, ...(lease === undefined ? {} : { lease }) } }
          }),
          failure: conditions.map(({ key }) => ({
            request_range: { key: this.#keyOf(key), keys_only: true },
          })),
        },
        call,
      ),
    )
    const answer = await writing.catch((error: unknown) => {
      // The server may not know a shared lease any more: use new ones.
      for (const ttlMs of leases.keys()) this.#shared.delete(ttlMs)
      throw error
    })
    if (answer.succeeded) return { committed: true, revision: Number(answer.header.revision) }
    await this.#revokeLeases(leases)
    const found = answer.responses.map(({ response_range: { kvs } }) => kvs[0]?.mod_revision)
    const revisions = new Map(conditions.map(({ key }, at) => [key, found[at]]))
    return {
      committed: false,
      unmet: findUnmet(conditions, (key) => {
        const revision = revisions.get(key)
        return revision === undefined ? undefined : Number(revision)
      }),
    }
  }

  async clearSome({ from, to }: KeyStretch, signal: AbortSignal | undefined): Promise<Cleared> {
    const [key, end] = [this.#keyOf(from), this.#endOf(to)]
    const found = await this.#ask(reading(NAME, 'delete by prefix'), signal, (call) =>
      this.#client.kv.range({ key, range_end: end, limit: STORE_CLEAR_ENTRIES + 1, keys_only: true }, call),
    )
    if (found.kvs.length === 0) return { count: 0, more: false }
    const beyond = found.kvs[STORE_CLEAR_ENTRIES]?.key
    const work = { store: NAME, doing: 'delete by prefix', changes: [from] }
    const { deleted } = await this.#ask(work, signal, (call) =>
      this.#client.kv.deleteRange({ key, range_end: beyond ?? end }, call),
    )
    return { count: Number(deleted), more: beyond !== undefined }
  }

  openFeed({ from, to }: KeyStretch): ChangeFeed {
    return new EtcdFeed({
      client: this.#client,
      key: this.#keyOf(from),
      end: this.#endOf(to),
      prefixBytes: Buffer.byteLength(this.#prefix),
      ask: (signal) =>
        this.#ask(reading(NAME, 'watch'), signal, (call) =>
          this.#client.kv.range({ key: this.#keyOf('any'), keys_only: true }, call),
        ),
    })
  }

  close(): Promise<void> {
    this.#client.close()
    return Promise.resolve()
  }

  /** One lease per time to live of a batch. */
  async #grantLeases(
    { operations }: CheckedBatch,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<number, string>> {
    const leases = new Map<number, string>()
    for (const operation of operations) {
      if (operation.do !== 'put' || operation.ttlMs === undefined || leases.has(operation.ttlMs)) continue
      const { ttlMs } = operation
      leases.set(
        ttlMs,
        await (ttlMs < LEASE_SHARED_FROM_MS ? this.#grant(ttlMs, signal) : this.#share(ttlMs)),
      )
    }
    return leases
  }

  /** An unused lease expires. */
  async #grant(ttlMs: number, signal: AbortSignal | undefined): Promise<string> {
    const TTL = Math.ceil(ttlMs / 1000) + LEASE_AHEAD_S
    const { ID } = await this.#ask(reading(NAME, 'write a batch'), signal, (call) =>
      this.#client.leaseClient.leaseGrant({ TTL }, call),
    )
    return ID
  }

  async #share(ttlMs: number): Promise<string> {
    const nowMs = performance.now()
    const known = this.#shared.get(ttlMs)
    if (known !== undefined && nowMs < known.untilMs && known.left > 0) {
      known.left -= 1
      return known.lease
    }
    const spareMs = ttlMs * LEASE_SHARED_PART
    // Without a signal: other callers wait for this lease too.
    const lease = this.#grant(ttlMs + spareMs, undefined)
    this.#shared.set(ttlMs, { lease, untilMs: nowMs + spareMs, left: LEASE_SHARED_BY_MAX - 1 })
    try {
      return await lease
    } catch (error) {
      this.#shared.delete(ttlMs)
      throw error
    }
  }

  async #revokeLeases(leases: ReadonlyMap<number, string>): Promise<void> {
    for (const [ttlMs, ID] of leases) {
      if (ttlMs >= LEASE_SHARED_FROM_MS) continue
      try {
        await this.#ask(reading(NAME, 'write a batch'), undefined, (call) =>
          this.#client.leaseClient.leaseRevoke({ ID }, call),
        )
      } catch {
        // It expires.
      }
    }
  }

  #compareOf(condition: StoreCondition): ICompare {
    const key = this.#keyOf(condition.key)
    if (condition.is === 'at') {
      return {
        key,
        target: 'Mod',
        result: 'Equal',
        mod_revision: condition.revision > 0 ? condition.revision : -1,
      }
    }
    return { key, target: 'Version', result: condition.is === 'absent' ? 'Equal' : 'Greater', version: 0 }
  }

  async #ask<T>(
    work: Work,
    signal: AbortSignal | undefined,
    run: (call: { readonly deadline: number }) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = this.#answerTimeoutMs
    try {
      return await bounded(run({ deadline: Date.now() + timeoutMs }), { timeoutMs, signal })
    } catch (error) {
      throw failureOf(work, error)
    }
  }

  #keyOf(key: string): Buffer {
    return Buffer.from(this.#prefix + key)
  }

  #endOf(to: string | undefined): Buffer {
    const end = to === undefined ? endOfPrefix(this.#prefix) : this.#prefix + to
    return Buffer.from(end ?? '\0')
  }

  #show({ key, value, mod_revision: revision, lease }: IKeyValue): StoreEntry {
    return {
      key: key.toString().slice(this.#prefix.length),
      value: Uint8Array.from(value),
      revision: Number(revision),
      expires: lease !== '0',
    }
  }
}
