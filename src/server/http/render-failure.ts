/** Errors as responses. */

import { describeError } from '../../base/error-description.ts'
import { HTTP_STATUS, type ErrorCode } from '../../base/errors.ts'
import type { Redactor } from '../../base/redaction.ts'

/** Codes with a more exact status than their kind has. */
const STATUS_OF_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  'api/bad-token': 401,
  'api/no-session': 401,
  'api/forbidden': 403,
  'api/foreign-page': 403,
  'api/wrong-method': 405,
  'server/too-slow': 408,
  'api/body-too-large': 413,
  'api/payload-too-large': 413,
  'core/too-large': 413,
  'core/payload-too-large': 413,
  'conductor/payload-too-large': 413,
  'api/not-json': 415,
  'api/too-many-requests': 429,
  'api/too-many-at-once': 429,
  'api/too-many-connections': 429,
  'api/too-many-followers': 429,
  'api/too-many-waiters': 429,
  'server/head-too-large': 431,
}

/** What the client sees. Causes are only logged. */
export function showFailure(error: unknown, redactor: Redactor) {
  const { kind, code, message, next, read, retryAfterMs, details } = describeError(error, redactor)
  const status = STATUS_OF_CODE[code] ?? HTTP_STATUS[kind]
  const shown =
    kind === 'defect'
      ? { kind, code, message: 'internal error; see the log of the server' }
      : { kind, code, message, next, read, retryAfterMs, details }
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(status === 401 ? { 'www-authenticate': 'Bearer realm="perago"' } : {}),
      ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }),
    },
    body: { error: shown },
  }
}

export function renderFailure(error: unknown, redactor: Redactor): Response {
  const { status, headers, body } = showFailure(error, redactor)
  return Response.json(body, { status, headers })
}
