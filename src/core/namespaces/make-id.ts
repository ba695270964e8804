/** Random ids that cannot be guessed. */

import { randomBytes } from 'node:crypto'

/** The source of ids, replaceable in tests. Each call returns a new one. */
export type MakeId = (prefix: 'exec' | 'evt' | 'mark') => string

/** 128 bits: an id cannot be guessed. */
const ID_BYTES = 16

/** One call to the system per id would take longer than the rest of recording an event. */
const POOL_BYTES = 256 * ID_BYTES
let pool = Buffer.alloc(0)

export const makeId: MakeId = (prefix) => {
  if (pool.byteLength < ID_BYTES) pool = randomBytes(POOL_BYTES)
  const id = pool.toString('base64url', 0, ID_BYTES)
  pool = pool.subarray(ID_BYTES)
  return `${prefix}_${id}`
}
