// A separate database, prefix or schema on a real server for one test.
import { randomBytes } from 'node:crypto'

/** Good as the name of a schema and as part of a key; no two are the same. */
export function freshName(): string {
  return `perago_test_${randomBytes(6).toString('hex')}`
}
