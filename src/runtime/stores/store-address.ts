/** Opens a store or an archive by its address. The driver of a server is loaded only when it is needed. */

import { resolve } from 'node:path'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import { SECRET_FILE_MAX_BYTES } from '../limits.ts'
import type { WalkableArchive } from '../../core/events/archive-port.ts'
import type { Store } from '../../core/ports.ts'
import { readBoundedText } from '../configuration/text-files.ts'

export interface AddressPlace {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Relative file names start here. */
  readonly directory: string
}

/**
 * A file is SQLite, also as `sqlite:FILE`; `memory:` ends with the process; `postgresql://`, `redis://`, `rediss://`,
 * `etcd://` and `etcds://` are servers. `env:NAME` takes the address from a variable, so that no password is on a command
 * line. `docs/reference/stores.md` describes the parameters after a `?`.
 */
export async function openStoreAt(address: string, place: AddressPlace): Promise<Store> {
  const { scheme, rest } = readAddress(address, place)
  switch (scheme) {
    case 'memory': {
      const { openMemoryStore } = await import('../../stores/memory/memory-store.ts')
      return openMemoryStore()
    }
    case 'sqlite': {
      const { openSqliteStore } = await import('../../stores/sqlite/sqlite-store.ts')
      return openSqliteStore({ file: resolve(place.directory, rest) })
    }
    case 'postgres':
    case 'postgresql': {
      const { openPostgresStore } = await import('../../stores/postgres/postgres-store.ts')
      return orBadAddress(() => openPostgresStore(takeSchema(rest)))
    }
    case 'redis':
    case 'rediss': {
      const { openRedisStore } = await import('../../stores/redis/redis-store.ts')
      return orBadAddress(async () => openRedisStore(await readRedis(rest, place)))
    }
    case 'etcd':
    case 'etcds': {
      const { openEtcdStore } = await import('../../stores/etcd/etcd-store.ts')
      return openEtcdStore(await readEtcd(rest, place))
    }
    default:
      throw badAddress(`there is no kind of store "${scheme}"`)
  }
}

/** A file is SQLite, also as `sqlite:FILE`; `postgresql://` is a server. `env:NAME` as with stores. */
export async function openArchiveAt(address: string, place: AddressPlace): Promise<WalkableArchive> {
  const { scheme, rest } = readAddress(address, place)
  switch (scheme) {
    case 'sqlite': {
      const { openSqliteArchive } = await import('../../stores/archive/sqlite-archive.ts')
      return openSqliteArchive({ file: resolve(place.directory, rest) })
    }
    case 'postgres':
    case 'postgresql': {
      const { openPostgresArchive } = await import('../../stores/archive/postgres-archive.ts')
      return orBadAddress(() => openPostgresArchive(takeSchema(rest)))
    }
    default:
      throw badAddress(`there is no kind of archive "${scheme}"`)
  }
}

/** The address itself, or what the variable it names holds. */
export function resolveAddress(address: string, { environment }: AddressPlace): string {
  const [, variable] = /^env:(.+)$/.exec(address) ?? []
  if (variable === undefined) return address
  const value = environment[variable]
  if (value !== undefined && value !== '' && !value.startsWith('env:')) return value
  throw badAddress(`the variable ${variable} holds no address`)
}

/** What of an address must not be shown. */
export function passwordsIn(address: string | undefined): readonly string[] {
  const [, password] = /^[a-z+]+:\/\/[^/?#]*?:([^/?#]*)@/.exec(address ?? '') ?? []
  if (password === undefined || password === '') return []
  return [password, decode(password)]
}

/** `rest` is the path of a file, else the whole address. */
function readAddress(given: string, place: AddressPlace) {
  const address = resolveAddress(given, place)
  if (/^memory:(?:\/\/)?$/.test(address)) return { scheme: 'memory', rest: '' }
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address) ?? []
  if (scheme !== undefined && scheme !== 'sqlite') return { scheme, rest: address }
  const file = address.replace(/^sqlite:(?:\/\/)?/, '')
  if (NO_FILE.test(file)) throw badAddress('it is neither the name of a file nor a whole address')
  return { scheme: 'sqlite', rest: file }
}

/** What begins like an address or has a password: a directory with that name would show the password to everybody. */
const NO_FILE = /^$|^\s*[a-z][a-z0-9+.-]+:|:\/\/|:[^/\\]*@/i

/** Drivers read the rest of an address. Their error is not kept: it holds the address, with the password. */
async function orBadAddress<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (error instanceof URIError || code === 'ERR_INVALID_URL')
      throw badAddress('its address cannot be read')
    throw error
  }
}

/** All other parameters are for the driver, which understands those of libpq. */
function takeSchema(address: string): { readonly url: string; readonly schema?: string } {
  const { url, parameters } = takeParameters(address, ['schema'])
  return { url, ...defined({ schema: parameters['schema'] }) }
}

async function readRedis(address: string, place: AddressPlace) {
  const { url, parameters } = takeParameters(address, ['prefix', 'cluster', ...TLS_PARAMETERS])
  const { prefix, cluster } = parameters
  const tls = await readTls(parameters, place)
  if (tls !== undefined && !url.startsWith('rediss:')) {
    throw badAddress('certificates are for rediss://')
  }
  return {
    url,
    ...(cluster === 'true' ? { clusterNodes: [new URL(url).host] } : {}),
    ...defined({ prefix, tls }),
  }
}

async function readEtcd(address: string, place: AddressPlace) {
  const { url, parameters } = takeParameters(address, ['prefix', ...TLS_PARAMETERS])
  const { user, password, hosts } =
    /^etcds?:\/\/(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<hosts>[^/?@]+)\/?$/.exec(url)?.groups ??
    {}
  const members = hosts?.split(',')
  if (members === undefined || !members.every(isMember)) {
    throw badAddress('an address of etcd names its members, as in etcd://one:2379,other:2379')
  }
  const isSecure = url.startsWith('etcds:')
  const tls = await readTls(parameters, place)
  if (tls !== undefined && !isSecure) {
    throw badAddress('certificates are for etcds://')
  }
  return {
    endpoints: members.map((host) => `${isSecure ? 'https' : 'http'}://${host}`),
    ...(user === undefined ? {} : { username: decode(user), password: decode(password ?? '') }),
    ...defined({ prefix: parameters['prefix'], tls }),
  }
}

function isMember(host: string): boolean {
  const [, port = '0'] = /^(?:\[[^\]]+\]|[^:[\]]+)(?::(\d+))?$/.exec(host) ?? [host, 'none']
  return Number(port) <= 65_535
}

const TLS_PARAMETERS = ['ca', 'cert', 'key'] as const

type Parameters = Readonly<Partial<Record<string, string>>>

/** Removes our own parameters from an address, and leaves the rest as it was. */
function takeParameters(
  address: string,
  names: readonly string[],
): { readonly url: string; readonly parameters: Parameters } {
  const [url = '', query] = address.split(/\?(.*)/s)
  const parameters: Record<string, string> = {}
  const others: string[] = []
  for (const pair of (query ?? '').split('&').filter((text) => text !== '')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    if (names.includes(name)) parameters[name] = decode(value)
    else others.push(pair)
  }
  return { url: others.length === 0 ? url : `${url}?${others.join('&')}`, parameters }
}

async function readTls(
  { ca, cert, key }: Parameters,
  place: AddressPlace,
): Promise<{ readonly ca?: Buffer; readonly certificate?: Buffer; readonly key?: Buffer } | undefined> {
  if (ca === undefined && cert === undefined && key === undefined) return undefined
  if ((cert === undefined) !== (key === undefined)) {
    throw badAddress('cert and key belong together')
  }
  const read = async (path: string | undefined): Promise<Buffer | undefined> => {
    if (path === undefined) return undefined
    const text = await readBoundedText(resolve(place.directory, path), SECRET_FILE_MAX_BYTES)
    if ('content' in text) return Buffer.from(text.content)
    throw badAddress(`${path}: ${text.problem}`)
  }
  return defined({ ca: await read(ca), certificate: await read(cert), key: await read(key) })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function badAddress(why: string): InvalidError {
  return new InvalidError('runtime/bad-store-address', `open a store: ${why}`, {
    next: 'Name a file, memory:, or an address that begins with postgresql://, redis://, rediss://, etcd:// or etcds://; for an archive a file or postgresql://.',
  })
}
