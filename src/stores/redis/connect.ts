/** A connection to Redis that sends everything once: what was lost on the way is for the caller to judge. */

import type { Cluster, Redis } from 'ioredis'
import { once } from 'node:events'
import { STORE_CONNECT_TIMEOUT_MS } from '../limits.ts'
import { loadDriver } from '../driver.ts'
import { bounded, notDone, reading } from '../failures.ts'

export interface RedisAddress {
  /** `redis://user:password@host:6379/0`, or `rediss://` over TLS. In a cluster it gives user, password and TLS. */
  readonly url: string
  /** Some nodes of a cluster as `host:port`; without them it is one server. */
  readonly clusterNodes?: readonly string[]
  /** Certificates in PEM, for `rediss`: whom to trust besides those whom Node trusts by itself, and who we are. */
  readonly tls?: { readonly ca?: Buffer; readonly key?: Buffer; readonly certificate?: Buffer }
}

/** The longest pause between two tries to connect anew. */
const RECONNECT_MAX_MS = 1_000

export async function connect(address: RedisAddress): Promise<Redis | Cluster> {
  const { Redis, Cluster } = await loadDriver('ioredis@6', () => import('ioredis'))
  const behaviour = {
    lazyConnect: true,
    connectTimeout: STORE_CONNECT_TIMEOUT_MS,
    // Sent again, a batch could happen twice; kept for later, it could happen when nobody waits for it any more.
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
          // Else it sends again what was under way when a connection broke.
          retryDelayOnFailover: 0,
          redisOptions: {
            ...loginOf(address.url),
            ...tlsOf(address),
            connectTimeout: STORE_CONNECT_TIMEOUT_MS,
            maxRetriesPerRequest: 0,
          },
        })
  // Each call says by itself what went wrong; only connecting ends with no more than that it ended.
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
  if (tls === undefined) return {}
  const { ca, key, certificate } = tls
  return {
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(key === undefined ? {} : { key }),
      ...(certificate === undefined ? {} : { cert: certificate }),
    },
  }
}

function loginOf(url: string): { username?: string; password?: string; tls?: object } {
  const { protocol, username, password } = new URL(url)
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  }
}
