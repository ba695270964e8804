// What outside systems send: any JSON there is, through the door and back.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'

let world: DoorWorld
let token: string
beforeAll(async () => {
  world = openDoorWorld({ limits: { requestsAtOnce: 1e9, requestsPerSecond: 1e9 } })
  token = await world.tokenFor('operator')
  await world.core.startExecution({ id: 'exec_1', name: 'etl' })
})
afterAll(() => world.close())

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    '',
    '\0',
    '\ud800',
    '\u2028',
    '\ufeff',
    'a.b:c*/{{ x }}',
  ),
)
const scalar = fc.oneof(
  text,
  fc.double(),
  fc.constantFrom(-0, 5e-324, 1.7976931348623157e308, 9_007_199_254_740_992, null, true),
)
const { payload } = fc.letrec<{ payload: Record<string, unknown>; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('payload'),
  ),
  payload: fc.dictionary(text, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}))

/** As `JSON.stringify`, but with its own spaces, and numbers as somebody else might write them. */
function writeOddly(value: unknown): string {
  if (Object.is(value, -0)) return '-0.0'
  if (Array.isArray(value)) return `[ ${value.map(writeOddly).join(' ,\n')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}\t: ${writeOddly(member)}`,
  )
  return `{${members.join(',')}}`
}

test('DO-36 a payload is read again exactly as it was sent, or refused', async () => {
  const seen = { taken: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(payload, async (sent) => {
      const written = writeOddly(sent)
      const body = `{"execution_id":"exec_1","event_type":"external.a.b","payload":${written}}`
      const response = await world.ask('/events', { method: 'POST', token, body })
      if (response.status !== 201) {
        expect(response.status).toBe(400)
        // Half of a pair is no character, and no store could give it back.
        expect(written).toMatch(/\\ud[89a-f]/)
        seen.refused += 1
        return
      }
      seen.taken += 1
      const { event_id } = (await response.json()) as { event_id: string }
      const read = await world.ask('/executions/exec_1/events/external.a.b', { token })
      const event = JSON.parse(await read.text()) as { id: string; payload: unknown }
      expect(event.id).toBe(event_id)
      // Name for name, in their order, and digit for digit.
      expect(JSON.stringify(event.payload)).toBe(JSON.stringify(JSON.parse(written)))
    }),
    { numRuns: 500 },
  )
  expect(seen.taken).toBeGreaterThan(100)
})
