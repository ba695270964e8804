/** Package entry: encryption at rest and compression, around any store. */

export { resealStore, sealStore } from './sealed/sealed-store.ts'
export type { EncryptionOptions, SealOptions } from './sealed/sealed-store.ts'
