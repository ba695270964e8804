import { expect, test } from 'vitest'
import {
  CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES,
  CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES,
} from './limits.ts'
import { requirePayloadFits } from './payload-limits.ts'

test('CO-75 the bytes of the JSON count, as the server counts them', () => {
  const pairs = Math.floor(CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES / 5)
  const payloadBytes = '{"n":""}'.length + pairs * 5
  expect(() => requirePayloadFits('task output', { n: 'ä€'.repeat(pairs) })).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ payloadBytes }) as unknown }),
  )
  expect(() => requirePayloadFits('task output', { n: 'ä€'.repeat(pairs - 2) })).not.toThrow()
})

test.each([
  ['task output', CONDUCTOR_TASK_PAYLOAD_INLINE_MAX_BYTES],
  ['workflow input', CONDUCTOR_WORKFLOW_PAYLOAD_INLINE_MAX_BYTES],
] as const)('CO-75 a %s of up to %i bytes fits, and one byte more is refused', (kind, maxBytes) => {
  const payload = (bytes: number): object => ({
    small: 1,
    big: 'x'.repeat(bytes - '{"small":1,"big":""}'.length),
  })
  expect(() => requirePayloadFits(kind, payload(maxBytes))).not.toThrow()
  let thrown: unknown
  try {
    requirePayloadFits(kind, payload(maxBytes + 1))
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({
    kind: 'invalid',
    code: 'conductor/payload-too-large',
    details: {
      payloadBytes: maxBytes + 1,
      inlineMaxBytes: maxBytes,
      largestFields: [expect.stringMatching(/^big: \d+ bytes$/), 'small: 11 bytes'],
    },
  })
  expect(String(thrown).length).toBeLessThan(300)
})

test('CO-75 above the outer limit the refusal says that the server would never take it', () => {
  expect(() => requirePayloadFits('task output', { big: 'x'.repeat(11_000_000) })).toThrow(
    'refuses it for good',
  )
})
