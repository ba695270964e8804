/**
 * Encryption at rest and compression, around any store, and encryption around any archive.
 *
 * @module perago/stores/sealed
 */

export { resealArchive, sealArchive } from './sealed/sealed-archive.ts'
export type { ArchiveSealOptions } from './sealed/sealed-archive.ts'
export { resealStore, sealStore } from './sealed/sealed-store.ts'
export type { EncryptionOptions, SealOptions } from './sealed/sealed-store.ts'
