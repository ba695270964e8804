/**
 * The store in one file.
 *
 * @module perago/stores/sqlite
 */

export { openSqliteStore } from './sqlite/sqlite-store.ts'
export type { SqliteStoreOptions } from './sqlite/sqlite-store.ts'
