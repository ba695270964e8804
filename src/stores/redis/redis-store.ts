/** The store in Redis, shared between instances. Its scripts are in `scripts.ts`. */

import type { Cluster, Redis } from 'ioredis'
import { createHash, randomBytes } from 'node:crypto'
import { InvalidError } from '../../base/errors.ts'
import { STORE_PAGE_MAX_BYTES } from '../../core/limits.ts'
import {
  STORE_ANSWER_TIMEOUT_MS,
  STORE_CHANGES_KEPT,
  STORE_CHANGES_PAGE,
  STORE_CLEAR_ENTRIES,
  STORE_EXPIRED_PER_SWEEP,
  STORE_WATCH_POLL_MS,
} from '../limits.ts'
import type { CommitOutcome, RangePage, Store, StoreChange, StoreEntry } from '../../core/ports.ts'
import type {
  Backend,
  ChangeFeed,
  ChangeRead,
  CheckedBatch,
  Cleared,
  KeySpan,
  KeyStretch,
} from '../backend.ts'
import {
  answerLost,
  bounded,
  notDone,
  reading,
  refusedByServer,
  workOfBatch,
  type Work,
} from '../failures.ts'
import { guardStore } from '../guard.ts'
import { compareKeys, isWithin } from '../key-order.ts'
import { WakeUps } from '../wake-ups.ts'
import { WriteGroups } from '../write-groups.ts'
import { outcomeOf, packBatches, type CommitAnswer } from './commit-arguments.ts'
import { connect, type RedisAddress } from './connect.ts'
import { CHANGES, CLEAR, COMMIT, END, HELPERS, RANGE } from './scripts.ts'

export interface RedisStoreOptions extends RedisAddress {
  /**
   * Prefix of every key in Redis. In a cluster it must contain a hash tag, as the default does: one store is in one slot.
   */
  readonly prefix?: string
  /** Longest time for one call of the store. Default: 10 s. */
  readonly answerTimeoutMs?: number
  /** Batches kept for watches that lag behind. */
  readonly changesKept?: number
  /** Open the store even if Redis may delete data when its memory is full. */
  readonly allowEviction?: boolean
}

/**
 * ```ts
 * const store = await openRedisStore({ url: 'rediss://:secret@cache.internal:6379' })
 * ```
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const prefix = options.prefix ?? '{perago}:'
  if (options.clusterNodes !== undefined && !/\{[^}]+\}/.test(prefix)) {
    throw new InvalidError(
      'stores/bad-address',
      `open a store: the prefix ${JSON.stringify(prefix)} has no hash tag, but the keys of one store must share a slot`,
      { next: 'Put a part of the prefix in braces, as in {perago}:.' },
    )
  }
  const answerTimeoutMs = options.answerTimeoutMs ?? STORE_ANSWER_TIMEOUT_MS
  const redis = await connect(options)
  const backend = new RedisBackend(redis, {
    prefix,
    answerTimeoutMs,
    changesKept: options.changesKept ?? STORE_CHANGES_KEPT,
  })
  try {
    if (options.allowEviction !== true) await backend.refuseEviction()
    return guardStore(backend)
  } catch (error) {
    await backend.close()
    throw error
  }
}

interface Settings {
  readonly prefix: string
  readonly answerTimeoutMs: number
  readonly changesKept: number
}

interface Script {
  readonly lua: string
  readonly sha: string
}

const NAME = 'redis'
/** Groups of batches on their way; more would make them smaller. */
const GROUPS_AT_ONCE = 8
/** How often a watch polls for changes of other instances, with one small script. */
const LOOK_MS = Math.min(50, STORE_WATCH_POLL_MS)
const EPOCH_BYTES = 9
const SCRIPTS = {
  commit: script(COMMIT),
  range: script(RANGE),
  clear: script(CLEAR),
  end: script(END),
  changes: script(CHANGES),
}

class RedisBackend implements Backend {
  readonly name = NAME
  readonly #redis: Redis | Cluster
  readonly #settings: Settings
  readonly #wakeUps = new WakeUps()
  readonly #groups: WriteGroups
  readonly #epoch = randomBytes(EPOCH_BYTES).toString('base64url')

  constructor(redis: Redis | Cluster, settings: Settings) {
    this.#redis = redis
    this.#settings = settings
    this.#groups = new WriteGroups({
      groupsAtOnce: GROUPS_AT_ONCE,
      waitMs: settings.answerTimeoutMs,
      send: (batches) => this.#commitGroup(batches),
      workOf: (batch) => workOfBatch(NAME, batch),
      isFaultOfOne: isReply,
    })
  }

  async get(key: string, signal: AbortSignal | undefined): Promise<StoreEntry | undefined> {
    const held = await this.#bounded(reading(NAME, 'read a key'), signal, () =>
      this.#redis.hmgetBuffer(this.#settings.prefix + key, 'v', 'r', 'e'),
    )
    const [value, revision, expires] = held
    return value && revision ? show(key, { value, revision, expires: expires !== null }) : undefined
  }

  async range({ from, to, order, limit }: KeySpan, signal: AbortSignal | undefined): Promise<RangePage> {
    // An empty range. For the script, an empty upper end means none.
    if (to !== undefined && compareKeys(from, to) >= 0) return { entries: [], next: undefined }
    const answer = await this.#run(reading(NAME, 'read a range'), SCRIPTS.range, signal, [
      ...[from, to ?? '', order, limit, STORE_PAGE_MAX_BYTES],
    ])
    const [more, ...fields] = answer as [number, ...Buffer[]]
    const entries: StoreEntry[] = []
    for (let at = 0; at + 3 < fields.length; at += 4) {
      const [key, value, revision, expires] = fields.slice(at, at + 4)
      if (key !== undefined && value !== undefined && revision !== undefined) {
        entries.push(show(key.toString(), { value, revision, expires: expires?.length === 1 }))
      }
    }
    return { entries, next: more === 1 ? entries.at(-1)?.key : undefined }
  }

  commit(batch: CheckedBatch, signal: AbortSignal | undefined): Promise<CommitOutcome> {
    return this.#groups.write(batch, signal)
  }

  async #commitGroup(batches: readonly CheckedBatch[]): Promise<readonly CommitOutcome[]> {
    const operations = batches.flatMap((batch) => batch.operations)
    const work = workOfBatch(NAME, { conditions: [], operations })
    const answers = await this.#run(work, SCRIPTS.commit, undefined, [
      STORE_EXPIRED_PER_SWEEP,
      packBatches(batches),
    ])
    this.#wakeUps.wake()
    return (answers as readonly CommitAnswer[]).map(outcomeOf)
  }

  async clearSome({ from, to }: KeyStretch, signal: AbortSignal | undefined): Promise<Cleared> {
    const work = { store: NAME, doing: 'delete by prefix', changes: [from] }
    const answer = await this.#run(work, SCRIPTS.clear, signal, [from, to ?? '', STORE_CLEAR_ENTRIES])
    this.#wakeUps.wake()
    const [count, more] = answer as [number, number]
    return { count, more: more === 1 }
  }

  openFeed(stretch: KeyStretch): ChangeFeed {
    const isInside = ({ key }: StoreChange): boolean => isWithin(stretch, key)
    return {
      end: (signal) => this.#end(signal),
      read: (cursor, signal) => this.#readChanges(cursor, isInside, signal),
      wait: async (cursor, signal) => {
        const end = performance.now() + STORE_WATCH_POLL_MS
        while (!signal.aborted && performance.now() < end) {
          await this.#wakeUps.wait(LOOK_MS, signal)
          if ((await this.#end(signal)) !== cursor) return
        }
      },
      close: () => Promise.resolve(),
    }
  }

  close(): Promise<void> {
    this.#groups.close()
    this.#redis.disconnect()
    return Promise.resolve()
  }

  /** A Redis that may evict keys when its memory is full would lose data silently. */
  async refuseEviction(): Promise<void> {
    const info = await this.#bounded(reading(NAME, 'open the store'), undefined, () =>
      this.#redis.info('memory'),
    )
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction'
    const maxMemory = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0)
    if (policy === 'noeviction' || maxMemory === 0) return
    throw new InvalidError(
      'stores/may-lose-data',
      `open the store (${NAME}): with maxmemory-policy ${policy} it evicts data when its memory is full`,
      { details: { policy }, next: 'Set maxmemory-policy to noeviction, or use another Redis.' },
    )
  }

  async #end(signal: AbortSignal): Promise<string> {
    const answer = await this.#run(reading(NAME, 'watch'), SCRIPTS.end, signal, [STORE_EXPIRED_PER_SWEEP])
    const [epoch, last] = answer as [Buffer, Buffer]
    return `${epoch.toString()}/${last.toString()}`
  }

  async #readChanges(
    cursor: string,
    isInside: (change: StoreChange) => boolean,
    signal: AbortSignal,
  ): Promise<ChangeRead | 'lost'> {
    const [epoch = '', id = ''] = cursor.split('/')
    if (!/^\d+-\d+$/.test(id)) return 'lost'
    const answer = (await this.#run(reading(NAME, 'watch'), SCRIPTS.changes, signal, [
      ...[STORE_EXPIRED_PER_SWEEP, epoch, id, STORE_CHANGES_PAGE],
    ])) as [Buffer, ...(Buffer | Buffer[])[]] | null
    if (answer === null) return 'lost'
    const [last, ...batches] = answer
    const changes: StoreChange[] = []
    let at = id
    for (let place = 0; place + 1 < batches.length; place += 2) {
      at = String(batches[place])
      const told = batches[place + 1] as Buffer[]
      for (let pair = 0; pair + 1 < told.length; pair += 2) {
        const change = { key: String(told[pair]), kind: String(told[pair + 1]) as StoreChange['kind'] }
        if (isInside(change)) changes.push(change)
      }
    }
    return { changes, cursor: `${epoch}/${at}`, more: at !== last.toString() }
  }

  /** Sends the digest, or the whole script if the server does not know it yet. */
  async #run(
    work: Work,
    { lua, sha }: Script,
    signal: AbortSignal | undefined,
    values: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    const { prefix, changesKept } = this.#settings
    const keys = HELPERS.map((helper) => prefix + helper)
    const args = [keys.length, ...keys, prefix, changesKept, this.#epoch, ...values]
    return this.#bounded(work, signal, async () => {
      try {
        return await this.#redis.callBuffer('EVALSHA', sha, ...args)
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
        return this.#redis.callBuffer('EVAL', lua, ...args)
      }
    })
  }

  async #bounded<T>(work: Work, signal: AbortSignal | undefined, ask: () => Promise<T>): Promise<T> {
    // Without a connection the call fails: nothing is queued to be sent later.
    if (this.#redis.status !== 'ready') throw notDone(work, new Error('there is no connection'))
    try {
      return await bounded(ask(), { timeoutMs: this.#settings.answerTimeoutMs, signal })
    } catch (error) {
      throw failureOf(work, error)
    }
  }
}

function script(lua: string): Script {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') }
}

/** The server has answered for all of a group that it did not do it. */
function isReply(failure: unknown): boolean {
  const { cause } = failure as { readonly cause?: unknown }
  return cause instanceof Error && cause.name === 'ReplyError'
}

function failureOf(work: Work, error: unknown): Error {
  if (!(error instanceof Error)) return answerLost(work, error)
  // The server has refused it, so nothing was done.
  if (error.name === 'ReplyError') {
    const isLasting = /^(NOAUTH|WRONGPASS|NOPERM|WRONGTYPE|ERR)/.test(error.message)
    if (!isLasting) return notDone(work, error)
    const next = 'Check the address, the user’s rights and the prefix.'
    return refusedByServer(work, `: ${error.message}`, { next, cause: error })
  }
  if (error.message.startsWith("Stream isn't writeable")) return notDone(work, error)
  return answerLost(work, error)
}

function show(
  key: string,
  held: { readonly value: Buffer; readonly revision: Buffer; readonly expires: boolean },
): StoreEntry {
  const { value, revision, expires } = held
  return { key, value: Uint8Array.from(value), revision: Number(revision.toString()), expires }
}
