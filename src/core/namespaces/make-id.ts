/** Ids that nobody can guess. */

import { randomBytes } from 'node:crypto'
import { executionId, type ExecutionId } from '../keys.ts'

/** Where ids come from, so that tests may give their own. Each call answers another. */
export type MakeId = (prefix: 'exec' | 'evt' | 'mark') => string

/** Enough that knowing an id can stand for having been told it. */
const ID_BYTES = 16

/** Asking the system for each one alone would take longer than all the rest of recording an event. */
const POOL_BYTES = 256 * ID_BYTES
let pool = Buffer.alloc(0)

export const makeId: MakeId = (prefix) => {
  if (pool.byteLength < ID_BYTES) pool = randomBytes(POOL_BYTES)
  const id = pool.toString('base64url', 0, ID_BYTES)
  pool = pool.subarray(ID_BYTES)
  return `${prefix}_${id}`
}

export function makeExecutionId(make: MakeId): ExecutionId {
  return executionId(make('exec'))
}
