/**
 * Payloads that are too large are refused before they are sent. Above the inline limit the server moves them to external
 * storage and gives the next task only a path; above the outer limit it answers 200 and fails the task for good.
 */

import { InvalidError } from '../base/errors.ts'
import {
  CONDUCTOR_PAYLOAD_MAX_BYTES,
  CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
  CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
} from './limits.ts'

const INLINE_MAX_BYTES = {
  'task output': CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
  'workflow input': CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
} as const

export type PayloadKind = keyof typeof INLINE_MAX_BYTES

/** The size as the server counts it: the bytes of the JSON. */
function measurePayload(payload: object): number {
  return Buffer.byteLength(JSON.stringify(payload), 'utf8')
}

/** Throws if the payload is too large to reach its next reader. */
export function requirePayloadFits(kind: PayloadKind, payload: object): void {
  const payloadBytes = measurePayload(payload)
  const inlineMaxBytes = INLINE_MAX_BYTES[kind]
  if (payloadBytes <= inlineMaxBytes) return
  const effect =
    payloadBytes > CONDUCTOR_PAYLOAD_MAX_BYTES
      ? 'refuses it for good'
      : 'moves it to external storage, where the next task cannot read it'
  throw new InvalidError(
    'conductor/payload-too-large',
    `send a ${kind} of ${payloadBytes} bytes: Conductor takes ${inlineMaxBytes} at most and ${effect}`,
    {
      details: { payloadBytes, inlineMaxBytes, largestFields: largestFields(payload) },
      next: 'Publish the data in the workspace, or store it elsewhere, and pass a reference.',
    },
  )
}

const FIELDS_SHOWN = 3

/** Names and sizes only, because the values are too large. */
function largestFields(payload: object): readonly string[] {
  return Object.entries(payload as Record<string, unknown>)
    .map(([name, value]) => ({ name, bytes: measurePayload({ [name]: value }) }))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, FIELDS_SHOWN)
    .map(({ name, bytes }) => `${name}: ${bytes} bytes`)
}
