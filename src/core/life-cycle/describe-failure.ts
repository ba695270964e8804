/** An error as part of an event's payload. */

import { isPeragoError, messageOf } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'

const MESSAGE_CHARS = 500

export function describeFailure(error: unknown): JsonObject {
  const message = messageOf(error).slice(0, MESSAGE_CHARS)
  return isPeragoError(error) ? { code: error.code, message } : { message }
}
