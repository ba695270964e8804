/** Errors as answers. */

import { describeError } from '../../base/error-description.ts'
import { HTTP_STATUS, type ErrorCode, type ErrorKind } from '../../base/errors.ts'
import type { Redactor } from '../../base/redaction.ts'

/** Where HTTP knows more than the kind of an error says. */
const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  'api/bad-token': 401,
  'api/forbidden': 403,
  'api/wrong-method': 405,
  'api/body-too-large': 413,
  'api/payload-too-large': 413,
  'core/too-large': 413,
  'core/payload-too-large': 413,
  'api/not-json': 415,
  'api/too-many-requests': 429,
  'api/too-many-followers': 429,
}

export function statusOf(code: ErrorCode, kind: ErrorKind): number {
  return STATUS_OF_CODE[code] ?? HTTP_STATUS[kind]
}

/** What the other side is told. Causes stay here: they are ours to read in the log. */
export function renderFailure(error: unknown, redactor: Redactor): Response {
  const { kind, code, message, next, read, retryAfterMs, details } = describeError(error, redactor)
  const status = statusOf(code, kind)
  const shown =
    kind === 'defect'
      ? { kind, code, message: 'a mistake of the server; its log says more' }
      : { kind, code, message, next, read, retryAfterMs, details }
  const headers = new Headers({ 'cache-control': 'no-store' })
  if (status === 401) headers.set('www-authenticate', 'Bearer realm="perago"')
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1_000)))
  return Response.json({ error: shown }, { status, headers })
}
