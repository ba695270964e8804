/** A connection to Redis that never repeats a request. */

import type { Cluster, Redis } from 'ioredis'
import { once } from 'node:events'
import { defined } from '../../base/defined.ts'
import { STORE_CONNECT_TIMEOUT_MS } from '../limits.ts'
import { loadDriver } from '../driver.ts'
import { bounded, notDone, reading } from '../failures.ts'

export interface RedisAddress {
  /** `redis://user:password@host:6379/0`, or `rediss://` over TLS. For a cluster: only user, password and TLS are used. */
  readonly url: string
  /** Some nodes of a cluster as `host:port`. Default: a single server. */
  readonly clusterNodes?: readonly string[]
  /** Certificates in PEM, for `rediss`: a certificate authority instead of Node's default ones, and a client certificate. */
  readonly tls?: { readonly ca?: Buffer; readonly key?: Buffer; readonly certificate?: Buffer }
}

/** The longest pause between two tries to reconnect. */
const RECONNECT_MAX_MS = 1_000

export async function connect(address: RedisAddress): Promise<Redis | Cluster> {
  const { Redis, Cluster } = await loadDriver('ioredis@6', () => import('ioredis'))
  const behaviour = {
    lazyConnect: true,
    connectTimeout: STORE_CONNECT_TIMEOUT_MS,
    // A repeated batch could happen twice, and a queued one after its caller has given up.
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MAX_MS),
  }
  const redis =
    address.clusterNodes === undefined
      ? new Redis(address.url, { ...behaviour, ...tlsOf(address) })
      : new Cluster([...address.clusterNodes], {
          lazyConnect: true,
          enableOfflineQueue: false,
          clusterRetryStrategy: behaviour.retryStrategy,
          // Otherwise the driver repeats commands when a connection breaks.
          retryDelayOnFailover: 0,
          redisOptions: {
            ...loginOf(address.url),
            ...tlsOf(address),
            connectTimeout: STORE_CONNECT_TIMEOUT_MS,
            maxRetriesPerRequest: 0,
          },
        })
  // `connect()` rejects without the reason; the event has it.
  let problem: unknown
  redis.on('error', (error: unknown) => (problem = error))
  try {
    await bounded(connected(redis), { timeoutMs: STORE_CONNECT_TIMEOUT_MS, signal: undefined })
    return redis
  } catch (error) {
    redis.disconnect()
    throw notDone(reading('redis', 'open the store'), problem ?? error)
  }
}

async function connected(redis: Redis | Cluster): Promise<void> {
  await redis.connect()
  if (redis.status !== 'ready') await once(redis, 'ready')
}

function tlsOf({ tls }: RedisAddress): { tls?: { ca?: Buffer; key?: Buffer; cert?: Buffer } } {
  return tls === undefined ? {} : { tls: defined({ ca: tls.ca, key: tls.key, cert: tls.certificate }) }
}

function loginOf(url: string): { username?: string; password?: string; tls?: object } {
  const { protocol, username, password } = new URL(url)
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  }
}
