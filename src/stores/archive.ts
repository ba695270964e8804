/**
 * Archives of events. The one in PostgreSQL needs the driver `pg`.
 *
 * @module perago/stores/archive
 */

export { openPostgresArchive } from './archive/postgres-archive.ts'
export type { PostgresArchiveOptions } from './archive/postgres-archive.ts'
export { openSqliteArchive } from './archive/sqlite-archive.ts'
export type { SqliteArchiveOptions } from './archive/sqlite-archive.ts'
