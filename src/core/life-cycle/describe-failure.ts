/** An error as part of an event's payload. */

import { isPeragoError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'

const MESSAGE_CHARS = 500

export function describeFailure(error: unknown): JsonObject {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_CHARS)
  return isPeragoError(error) ? { code: error.code, message } : { message }
}
