/** Encryption at rest and compression, around any store. The keys of entries are not changed, since they define the order. */

import { InvalidError } from '../../base/errors.ts'
import { STORE_PAGE_MAX_BYTES, STORE_PAGE_MAX_ENTRIES } from '../../core/limits.ts'
import { STORE_COMPRESS_FROM_BYTES } from '../limits.ts'
import type { Store, StoreCallOptions, StoreEntry, StoreOperation } from '../../core/ports.ts'
import { checkBatch } from '../guard.ts'
import { keyIdOf, openValue, sealValue, type Seal } from './seal.ts'

export interface EncryptionOptions {
  /** Keys of 32 bytes by id: the current one, and older ones that values may still be encrypted with. */
  readonly keys: Readonly<Record<string, Uint8Array>>
  /** The id of the key that new values are encrypted with. */
  readonly use: string
}

export interface SealOptions {
  /** The keys that values are encrypted with. Default: values are not encrypted. */
  readonly encryption?: EncryptionOptions
  /** Values of at least this size are compressed if that makes them smaller; `Infinity`: never. */
  readonly compressFromBytes?: number
}

/**
 * ```ts
 * const store = sealStore(openSqliteStore({ file }), { encryption: { keys: { k1: key }, use: 'k1' } })
 * ```
 */
export function sealStore(store: Store, options: SealOptions = {}): Store {
  const seal = sealOf(options)
  const open = async (entry: StoreEntry): Promise<StoreEntry> => ({
    ...entry,
    value: await openValue(seal, entry.key, entry.value),
  })
  const close = async (operation: StoreOperation): Promise<StoreOperation> =>
    operation.do === 'delete'
      ? operation
      : { ...operation, value: await sealValue(seal, operation.key, operation.value) }
  return {
    ...store,
    get: async (key, call) => {
      const entry = await store.get(key, call)
      return entry && open(entry)
    },
    // It would return sealed values.
    peek: undefined,
    range: async (request, call) => {
      const page = await store.range(request, call)
      const entries: StoreEntry[] = []
      let bytes = 0
      for (const entry of page.entries) {
        // A small compressed value may be large.
        if (bytes >= STORE_PAGE_MAX_BYTES) return { entries, next: entries.at(-1)?.key }
        const opened = await open(entry)
        entries.push(opened)
        bytes += opened.value.byteLength
      }
      return { entries, next: page.next }
    },
    commit: async (batch, call) => {
      const { conditions, operations } = checkBatch(batch)
      return store.commit({ conditions, operations: await Promise.all(operations.map(close)) }, call)
    },
  }
}

/**
 * Encrypts every value again that is not encrypted with the current key, and returns how many there were. Skips values that
 * others change meanwhile, and entries with a time to live, which need their old key until they expire.
 */
export async function resealStore(
  store: Store,
  options: SealOptions & StoreCallOptions & { readonly prefix?: string } = {},
): Promise<number> {
  const seal = sealOf(options)
  let count = 0
  const range = { prefix: options.prefix ?? '', limit: STORE_PAGE_MAX_ENTRIES }
  for (let after: string | undefined; ;) {
    const page = await store.range({ ...range, after }, options)
    for (const { key, value, revision, expires } of page.entries) {
      if (expires || keyIdOf(value) === seal.use) continue
      const anew = await sealValue(seal, key, await openValue(seal, key, value))
      const outcome = await store.commit(
        { conditions: [{ key, is: 'at', revision }], operations: [{ do: 'put', key, value: anew }] },
        options,
      )
      if (outcome.committed) count += 1
    }
    after = page.next
    if (after === undefined) return count
  }
}

const KEY_BYTES = 32
const KEY_ID = /^[A-Za-z0-9_.-]{1,64}$/

export function sealOf({ encryption, compressFromBytes = STORE_COMPRESS_FROM_BYTES }: SealOptions): Seal {
  const keys = new Map(Object.entries(encryption?.keys ?? {}))
  for (const [id, key] of keys) {
    if (!KEY_ID.test(id) || key.byteLength !== KEY_BYTES) {
      throw new InvalidError(
        'stores/bad-encryption-key',
        `seal a store: the key ${JSON.stringify(id)} has ${key.byteLength} bytes or an invalid id`,
        { next: `Use keys of ${KEY_BYTES} bytes, with ids of letters, digits, "_", "." and "-".` },
      )
    }
  }
  if (encryption !== undefined && !keys.has(encryption.use)) {
    throw new InvalidError(
      'stores/bad-encryption-key',
      `seal a store: the key in use, ${JSON.stringify(encryption.use)}, is not one of the keys`,
      { next: 'Add it, or use another.' },
    )
  }
  return { keys, use: encryption?.use, compressFromBytes }
}
