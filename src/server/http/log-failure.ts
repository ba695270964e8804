/** What of a failed request is in the log. */

import { errorKindOf } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'

/** An internal error. A request that its client has given up is none: what it waited for was aborted. */
export function logFailure(logger: Logger, error: unknown, request: Request): void {
  if (errorKindOf(error) !== 'defect') return
  const path = new URL(request.url).pathname
  if (isGivenUp(error, request.signal)) logger.debug('request given up by its client', { path })
  else logger.error('internal error', { error, path })
}

function isGivenUp(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return aborted && (error === reason || (error instanceof Error && error.name === 'AbortError'))
}
