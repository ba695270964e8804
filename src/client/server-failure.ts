/** Errors that a server answered with, as the same errors here. */

import type { ErrorKind, PeragoError } from '../base/errors.ts'
import { makeError, readToldError } from '../base/told-error.ts'

const READ = 'the execution'

/** What the body says. One that says nothing, such as that of a proxy, counts by its status. */
export function failureOf(status: number, body: unknown): PeragoError {
  const message = `ask the server: it answered ${status}`
  return (
    readToldError(body, { read: READ }) ??
    makeError({ kind: kindOf(status), code: 'client/bad-answer', message, read: READ })
  )
}

/** Of a gateway nobody knows whether it has passed the request on, unless it says that it has not. */
function kindOf(status: number): ErrorKind {
  if (status === 429 || status === 503) return 'unavailable'
  if (status >= 500) return 'uncertain'
  return status === 404 ? 'missing' : 'invalid'
}
