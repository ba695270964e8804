/** Ids that nobody can guess. */

import { randomBytes } from 'node:crypto'
import { executionId, type ExecutionId } from '../keys.ts'

/** Where ids come from, so that tests may give their own. Each call answers another. */
export type MakeId = (prefix: 'exec' | 'evt' | 'mark') => string

/** Enough that knowing an id can stand for having been told it. */
const ID_BYTES = 16

export const makeId: MakeId = (prefix) => `${prefix}_${randomBytes(ID_BYTES).toString('base64url')}`

export function makeExecutionId(make: MakeId): ExecutionId {
  return executionId(make('exec'))
}
