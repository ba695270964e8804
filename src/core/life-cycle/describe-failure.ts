/** What an event says about an error: enough to know what happened, small enough for a payload. */

import { isPeragoError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'

const MESSAGE_CHARS = 500

export function describeFailure(error: unknown): JsonObject {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_CHARS)
  return isPeragoError(error) ? { code: error.code, message } : { message }
}
