/** What the engine's reasons mean in HTTP. The one place where that is decided. */

import { HTTP_STATUS, type ErrorCode, type PeragoError } from '../../../base/errors.ts'
import type { EngineReason } from '../engine/engine.ts'

/** A new reason does not compile without a row. */
export const REASON_STATUS: Readonly<Record<EngineReason, number>> = {
  'repository-not-found': 404,
  'repository-exists': 409,
  'namespace-in-use': 400,
  'branch-not-found': 404,
  'branch-exists': 409,
  'branch-name-is-a-commit': 409,
  'default-branch': 403,
  'tag-not-found': 404,
  'tag-exists': 409,
  'ref-not-found': 404,
  'bad-ref-expression': 400,
  'uncommitted-ref': 400,
  'object-not-found': 404,
  'object-exists': 412,
  'protected-branch': 403,
  'read-only-repository': 403,
  'no-changes': 400,
  'dirty-branch': 400,
  'parent-number-required': 409,
  'merge-conflict': 409,
  'hook-refused': 412,
  'bad-action-file': 500,
  'bad-commit-record': 400,
  'commit-exists': 409,
  'meta-range-not-found': 404,
  'bad-argument': 400,
  'too-many-attempts': 429,
  'stale-settings': 412,
  'data-missing': 410,
}

/** Codes whose status is not that of their kind: the fault is the server's, not the request's. */
const CODE_STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  'embedded/corrupt-data-dir': 500,
  'embedded/damaged-object': 500,
  'embedded/no-such-node': 500,
  'embedded/disk-full': 507,
}

export function statusOf(error: PeragoError): number {
  return CODE_STATUS[error.code] ?? HTTP_STATUS[error.kind]
}
