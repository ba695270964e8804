/** Where a list goes on: opaque to clients, and checked when it comes back. */

import { InvalidError } from '../../base/errors.ts'

/** What follows the tenant in the key of a started execution: its time and its id. */
export const LISTED_AFTER = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z:[A-Za-z0-9_-]{1,128}$/

export function encodeCursor(place: string | undefined): string | undefined {
  return place === undefined ? undefined : Buffer.from(place).toString('base64url')
}

/** Throws `api/bad-parameter`. */
export function decodeCursor(cursor: string | undefined, form: RegExp): string | undefined {
  if (cursor === undefined) return undefined
  const place = Buffer.from(cursor, 'base64url').toString()
  if (form.test(place) && encodeCursor(place) === cursor) return place
  throw new InvalidError('api/bad-parameter', 'read the query: "after" must be the next_after of a page', {
    details: { problems: [{ path: 'after', problem: 'must be the next_after of a page' }] },
    next: 'Correct the request; see /openapi.yaml.',
  })
}
