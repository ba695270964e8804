/** Payloads should be small: large data is stored elsewhere, and its address goes into the payload or a variable. */

import { InvalidError } from '../../base/errors.ts'
import { EVENT_PAYLOAD_ADVICE_BYTES } from '../limits.ts'
import type { Logger } from '../../base/logger.ts'
import type { CheckedEvent } from './event.ts'

/** What happens to a payload above the advised size: `warn` logs it, `refuse` throws. */
export type PayloadRule = 'warn' | 'refuse'

/** Throws `core/payload-too-large` in strict mode. */
export function advisePayload(event: CheckedEvent, rule: PayloadRule, logger: Logger): void {
  if (event.payloadBytes <= EVENT_PAYLOAD_ADVICE_BYTES) return
  const next = 'Store the data elsewhere, and its address in the payload and in an output of the node.'
  if (rule === 'refuse') {
    throw new InvalidError(
      'core/payload-too-large',
      `record "${event.type}": its payload has ${event.payloadBytes} bytes, the maximum is ${EVENT_PAYLOAD_ADVICE_BYTES}`,
      { next },
    )
  }
  const { type, payloadBytes } = event
  logger.warn(`an event's payload is larger than advised`, { type, payloadBytes, next })
}
