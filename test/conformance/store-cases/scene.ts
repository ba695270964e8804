// What every case of the store suite is given, and the few words all of them use.
import { expect } from 'vitest'
import type {
  CommitOutcome,
  RangeRequest,
  Store,
  StoreChange,
  StoreCondition,
  StoreEntry,
  StoreOperation,
  WatchNotice,
} from '../../../src/core/ports.ts'

export interface StoreScene {
  /** New and empty. */
  readonly store: Store
  /** Another handle on the same data, as another process would open it. */
  readonly openAnother: () => Promise<Store>
  /** Lets the time pass after which an entry that was to live this long is surely gone. */
  readonly outlive: (ttlMs: number) => Promise<void>
  /** Makes the store forget the changes so far. */
  readonly forgetChanges: () => Promise<void>
  readonly close: () => Promise<void>
}

export type StoreCase = (scene: StoreScene) => Promise<void>

export function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

export function text(entry: StoreEntry | undefined): string | undefined {
  return entry === undefined ? undefined : Buffer.from(entry.value).toString()
}

export function put(key: string, value = 'x', ttlMs?: number): StoreOperation {
  return { do: 'put', key, value: bytes(value), ...(ttlMs === undefined ? {} : { ttlMs }) }
}

export function remove(key: string): StoreOperation {
  return { do: 'delete', key }
}

export async function write(store: Store, ...operations: readonly StoreOperation[]): Promise<number> {
  const outcome = await store.commit({ operations })
  if (!outcome.committed) throw new Error('a batch without conditions was refused')
  return outcome.revision
}

export function writeIf(
  store: Store,
  conditions: readonly StoreCondition[],
  ...operations: readonly StoreOperation[]
): Promise<CommitOutcome> {
  return store.commit({ conditions, operations })
}

/** As many keys as one likes, in batches of the largest size. */
export async function fill(store: Store, keys: readonly string[], value = 'x'): Promise<void> {
  for (let at = 0; at < keys.length; at += 100) {
    await write(store, ...keys.slice(at, at + 100).map((key) => put(key, value)))
  }
}

/** So many changes that a store which keeps 200 has forgotten those before them. */
export async function forgetByWriting(store: Store): Promise<void> {
  for (const tens of numbered('forget:', 50)) {
    await Promise.all(numbered(tens, 10).map((key) => write(store, put(key))))
  }
}

export function numbered(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => prefix + String(at).padStart(5, '0'))
}

/** Every page of a range, one key list each. */
export async function readPages(store: Store, request: RangeRequest): Promise<string[][]> {
  const pages: string[][] = []
  for (let after = request.after; ;) {
    const page = await store.range({ ...request, ...(after === undefined ? {} : { after }) })
    pages.push(page.entries.map(({ key }) => key))
    if (page.next === undefined) return pages
    after = page.next
  }
}

export async function keysOf(store: Store, prefix: string): Promise<string[]> {
  return (await readPages(store, { prefix, limit: 1000 })).flat()
}

/** A watch whose notices are asked for one by one. */
export class Watching {
  readonly #end = new AbortController()
  readonly #notices: AsyncIterator<WatchNotice>

  constructor(store: Store, request: { readonly prefix: string; readonly after?: string }) {
    this.#notices = store.watch({ ...request, signal: this.#end.signal })[Symbol.asyncIterator]()
  }

  /** A watch that is ready. */
  static async open(store: Store, prefix: string): Promise<Watching> {
    const watching = new Watching(store, { prefix })
    expect(await watching.next()).toMatchObject({ kind: 'ready' })
    return watching
  }

  /** `undefined` when the watch has ended. */
  async next(): Promise<WatchNotice | undefined> {
    const result: IteratorResult<WatchNotice, unknown> = await this.#notices.next()
    return result.done === true ? undefined : result.value
  }

  /** Reads notices until this many changes came, and gives them in the order they came in. */
  async changes(count: number): Promise<StoreChange[]> {
    const changes: StoreChange[] = []
    while (changes.length < count) {
      const notice = await this.next()
      if (notice?.kind !== 'changes') throw new Error(`expected changes, not ${JSON.stringify(notice)}`)
      changes.push(...notice.changes)
    }
    return changes
  }

  /** Ends it, and waits until it has ended. */
  async close(): Promise<void> {
    this.#end.abort()
    while ((await this.next()) !== undefined);
  }
}
