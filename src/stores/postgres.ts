/**
 * The store in PostgreSQL. Needs the driver `pg`.
 *
 * @module perago/stores/postgres
 */

export { openPostgresStore } from './postgres/postgres-store.ts'
export type { PostgresStoreOptions } from './postgres/postgres-store.ts'
