/** Errors in the shape that Conductor's clients know. Like Conductor, it never calls one of them worth repeating. */

import { HTTP_STATUS, errorKindOf, messageOf } from '../../base/errors.ts'
import type { Redactor } from '../../base/redaction.ts'

export function renderRefusal(error: unknown, redactor: Redactor): Response {
  const kind = errorKindOf(error)
  const said = kind === 'defect' ? 'internal error; see the log of the server' : messageOf(error)
  // Clients tell a thing that is gone from a refusal by these words.
  const message = kind === 'missing' ? `No such thing: ${said}` : said
  return refusal(HTTP_STATUS[kind], redactor.text(message))
}

export function refusal(status: number, message: string): Response {
  return Response.json({ status, message, retryable: false }, { status })
}
