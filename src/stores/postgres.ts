/** Package entry: the store in PostgreSQL. Needs the driver `pg`. */

export { openPostgresStore } from './postgres/postgres-store.ts'
export type { PostgresStoreOptions } from './postgres/postgres-store.ts'
