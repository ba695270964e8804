/**
 * The store in Redis. Needs the driver `ioredis`.
 *
 * @module perago/stores/redis
 */

export { openRedisStore } from './redis/redis-store.ts'
export type { RedisStoreOptions } from './redis/redis-store.ts'
