/** Package entry: the store in one file. */

export { openSqliteStore } from './sqlite/sqlite-store.ts'
export type { SqliteStoreOptions } from './sqlite/sqlite-store.ts'
