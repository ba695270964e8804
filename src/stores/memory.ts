/**
 * The store in memory.
 *
 * @module perago/stores/memory
 */

export { createMemorySpace, openMemoryStore } from './memory/memory-store.ts'
export type { MemorySpace, MemoryStoreOptions } from './memory/memory-store.ts'
