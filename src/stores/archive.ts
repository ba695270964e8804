/** Package entry: archives of events. The one in PostgreSQL needs the driver `pg`. */

export { openPostgresArchive } from './archive/postgres-archive.ts'
export type { PostgresArchiveOptions } from './archive/postgres-archive.ts'
export { openSqliteArchive } from './archive/sqlite-archive.ts'
export type { SqliteArchiveOptions } from './archive/sqlite-archive.ts'
