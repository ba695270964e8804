/** The store that a server or a command works on, as the configuration has it: sealed where it says so, and its archive. */

import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { EventArchive } from '../../core/events/archive-port.ts'
import { serverKey } from '../../core/keys.ts'
import type { Store } from '../../core/ports.ts'
import type { CoreConfiguration } from '../configuration/configuration.ts'
import { openArchiveAt, openStoreAt, type AddressPlace } from './store-address.ts'
import type { SealOptions } from '../../stores/sealed/sealed-store.ts'

export interface OpenedStores {
  readonly store: Store
  readonly archive: EventArchive | undefined
  /** Both. */
  close(): Promise<void>
}

/** `address` is where the store is when the configuration names none. */
export async function openStores(
  core: CoreConfiguration,
  { address, ...place }: AddressPlace & { readonly address: string },
): Promise<OpenedStores> {
  const store = await openSealed(core, core.storeAddress ?? address, place)
  try {
    const archive =
      core.archiveAddress === undefined ? undefined : await openArchiveAt(core.archiveAddress, place)
    return {
      store,
      archive,
      close: async () => {
        await store.close()
        await archive?.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openSealed(core: CoreConfiguration, address: string, place: AddressPlace): Promise<Store> {
  const options = sealOf(core)
  const below = await openStoreAt(address, place)
  try {
    await checkSeal(below, options !== undefined)
    if (options === undefined) return below
    const { sealStore } = await import('../../stores/sealed/sealed-store.ts')
    return sealStore(below, options)
  } catch (error) {
    await below.close()
    throw error
  }
}

/** How the store is sealed; `undefined` where it is not. */
export function sealOf({ storeKeys, compress }: CoreConfiguration): SealOptions | undefined {
  if (storeKeys === undefined) return compress ? {} : undefined
  const pairs = storeKeys
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .map((text) => /^([^=]+)=(.+)$/.exec(text))
  const [first] = pairs
  if (pairs.includes(null) || first === undefined || first === null) {
    throw new InvalidError('runtime/bad-store-keys', 'read store.keys: they are not of the form ID=BASE64', {
      next: 'Give each key as an id, "=", and 32 bytes in base64, with a comma or a line feed between two.',
    })
  }
  const keys = Object.fromEntries(
    pairs.map((pair) => [pair?.[1] ?? '', Buffer.from(pair?.[2] ?? '', 'base64')]),
  )
  return { encryption: { keys, use: first[1] ?? '' } }
}

/** The first bytes of sealed values; nothing else that is kept begins with them. */
const SEALED_FROM = 0x50
const SEALED_TO = 0x53

/** One look at any entry: sealed values that are taken for plain ones would be reported as damage, one by one. */
async function checkSeal(store: Store, isSealed: boolean): Promise<void> {
  const { entries } = await store.range({ prefix: '', limit: 1 })
  const [entry] = entries
  if (entry === undefined) return
  const [head = 0] = entry.value
  const looksSealed = head >= SEALED_FROM && head <= SEALED_TO
  if (looksSealed === isSealed) return
  throw looksSealed
    ? new InvalidError('runtime/store-is-sealed', `open the store (${store.name}): its values are sealed`, {
        next: 'Set store.keys to the keys it was sealed with, or store.compress where there were none.',
      })
    : new InvalidError(
        'runtime/store-not-sealed',
        `open the store (${store.name}): its values are not sealed`,
        {
          next: 'Take store.keys and store.compress away, or begin with an empty store.',
        },
      )
}

/** What keeps a store from answering, one sentence; nothing when it does. */
export async function examineStore(store: Store): Promise<readonly string[]> {
  try {
    await store.get(serverKey('health', 'probe'))
    return []
  } catch (error) {
    // For people who ask whether it works; the log of the server says more.
    return [`the store (${store.name}) does not answer${isPeragoError(error) ? `: ${error.code}` : ''}`]
  }
}
