/** Opens a store by its address; the driver of a server is loaded only here, when it is asked for. */

import { InvalidError } from '../base/errors.ts'
import type { Store } from '../core/ports.ts'

/**
 * A file is SQLite; `postgresql://`, `redis://`, `rediss://` and `etcd://host:2379` are servers. `env:NAME` takes the address
 * from a variable, so that no password stands on a command line.
 */
export async function openStoreAt(
  address: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Store> {
  const [, variable] = /^env:(.+)$/.exec(address) ?? []
  if (variable !== undefined) {
    const value = environment[variable]
    if (value !== undefined && value !== '' && !value.startsWith('env:'))
      return openStoreAt(value, environment)
    throw badAddress(`the variable ${variable} holds no address`)
  }
  const [, scheme] = /^([a-z]+):\/\//.exec(address) ?? []
  switch (scheme) {
    case undefined: {
      const { openSqliteStore } = await import('../stores/sqlite/sqlite-store.ts')
      return openSqliteStore({ file: address })
    }
    case 'postgres':
    case 'postgresql': {
      const { openPostgresStore } = await import('../stores/postgres/postgres-store.ts')
      return openPostgresStore({ url: address })
    }
    case 'redis':
    case 'rediss': {
      const { openRedisStore } = await import('../stores/redis/redis-store.ts')
      return openRedisStore({ url: address })
    }
    case 'etcd': {
      const { openEtcdStore } = await import('../stores/etcd/etcd-store.ts')
      return openEtcdStore({ endpoints: [address.replace(/^etcd:/, 'http:')] })
    }
    default:
      throw badAddress(`there is no kind of store "${scheme}"`)
  }
}

function badAddress(why: string): InvalidError {
  return new InvalidError('runtime/bad-store-address', `open a store: ${why}`, {
    next: 'Name a file, or an address that begins with postgresql://, redis://, rediss:// or etcd://.',
  })
}
