/** Package entry: the store in Redis. Needs the driver `ioredis`. */

export { openRedisStore } from './redis/redis-store.ts'
export type { RedisStoreOptions } from './redis/redis-store.ts'
