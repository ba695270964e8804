/** Opens the store and the archive that a server or a command works on, and seals them where that was asked for. */

import { InvalidError, isPeragoError } from '../../base/errors.ts'
import type { EventArchive, WalkableArchive } from '../../core/events/archive-port.ts'
import type { Store, StoreEntry } from '../../core/ports.ts'
import type { ArchiveSealOptions } from '../../stores/sealed/sealed-archive.ts'
import type { SealOptions } from '../../stores/sealed/sealed-store.ts'
import { readKeyPairs } from '../configuration/key-pairs.ts'
import type { CoreConfiguration } from '../configuration/configuration.ts'
import { openArchiveAt, openStoreAt, type AddressPlace } from './store-address.ts'

export interface GivenStores {
  /** Open already, or an address. */
  readonly store: Store | string
  readonly archive?: EventArchive | string | undefined
  /** For what is given as an address; encrypts the archive as well. */
  readonly seal?: SealOptions | undefined
}

export interface OpenedStores {
  readonly store: Store
  readonly archive: EventArchive | undefined
  /** Closes what was opened here. */
  close(): Promise<void>
}

export async function openStores(given: GivenStores, place: AddressPlace): Promise<OpenedStores> {
  const opened: { close(): Promise<void> }[] = []
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0)) await one.close()
  }
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one)
    return one
  }
  try {
    const { store, archive, seal } = given
    return {
      store: typeof store === 'string' ? keep(await openSealed(store, seal, place)) : store,
      archive: typeof archive === 'string' ? keep(await openSealedArchive(archive, seal, place)) : archive,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openSealed(
  address: string,
  seal: SealOptions | undefined,
  place: AddressPlace,
): Promise<Store> {
  const below = await openStoreAt(address, place)
  try {
    await checkSeal(below, seal !== undefined)
    if (seal === undefined) return below
    const { sealStore } = await import('../../stores/sealed/sealed-store.ts')
    return sealStore(below, seal)
  } catch (error) {
    await below.close()
    throw error
  }
}

async function openSealedArchive(
  address: string,
  seal: SealOptions | undefined,
  place: AddressPlace,
): Promise<EventArchive> {
  const below = await openArchiveAt(address, place)
  const { encryption } = seal ?? {}
  if (encryption === undefined) return below
  const { sealArchive } = await import('../../stores/sealed/sealed-archive.ts')
  return sealArchive(below, { ...seal, encryption })
}

/** Encrypts every value that is not encrypted with the key in use, and returns how many those were. */
export async function reseal(store: Store, seal: SealOptions, signal: AbortSignal): Promise<number> {
  const { resealStore } = await import('../../stores/sealed/sealed-store.ts')
  return resealStore(store, { ...seal, signal })
}

/** Encrypts every event of the archive that is not encrypted with the key in use, and returns how many those were. */
export async function resealEvents(
  archive: WalkableArchive,
  seal: ArchiveSealOptions,
  signal: AbortSignal,
): Promise<number> {
  const { resealArchive } = await import('../../stores/sealed/sealed-archive.ts')
  return resealArchive(archive, { ...seal, signal })
}

/** How the store is sealed; `undefined` where it is not. */
export function sealOf({
  storeKeys,
  compress,
}: Pick<CoreConfiguration, 'storeKeys' | 'compress'>): SealOptions | undefined {
  if (storeKeys === undefined) return compress ? {} : undefined
  const pairs = readKeyPairs(storeKeys)
  const [first] = pairs ?? []
  if (pairs === undefined || first === undefined) {
    throw new InvalidError('runtime/bad-store-keys', 'read store.keys: each must have the form ID=BASE64', {
      next: 'Write each key as an id, "=" and 32 bytes in base64, separated by commas or line breaks.',
    })
  }
  return { encryption: { keys: Object.fromEntries(pairs), use: first[0] } }
}

/** The first bytes of sealed values; no other value begins with them. */
const SEALED_FROM = 0x50
const SEALED_TO = 0x53

/** Reads one entry. Without this check each sealed value that is read as a plain one would be reported as damaged. */
async function checkSeal(store: Store, isSealed: boolean): Promise<void> {
  const entry = await readFirst(store)
  if (entry === undefined) return
  const [head = 0] = entry.value
  const looksSealed = head >= SEALED_FROM && head <= SEALED_TO
  if (looksSealed === isSealed) return
  throw looksSealed
    ? new InvalidError('runtime/store-is-sealed', `open the store (${store.name}): its values are sealed`, {
        next: 'Set store.keys to the keys it was sealed with, or store.compress if there were none.',
      })
    : new InvalidError(
        'runtime/store-not-sealed',
        `open the store (${store.name}): its values are not sealed`,
        {
          next: 'Remove store.keys and store.compress, or start with an empty store.',
        },
      )
}

/** Where it is damaged, that is told by whatever reads it. */
async function readFirst(store: Store): Promise<StoreEntry | undefined> {
  try {
    return (await store.range({ prefix: '', limit: 1 })).entries[0]
  } catch (error) {
    if (isPeragoError(error) && error.code === 'stores/corrupt') return undefined
    throw error
  }
}
