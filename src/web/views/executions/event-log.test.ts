import { describe, expect, test } from 'vitest'
import { addNewer, addOlder, NO_EVENTS, readPatterns, tellPayload, type Event } from './event-log.ts'

const event = (sequence: number, payload: object = {}): Event =>
  ({ sequence, id: `e${String(sequence)}`, type: 'a.started', payload }) as unknown as Event
const events = (from: number, to: number): readonly Event[] =>
  Array.from({ length: to - from + 1 }, (_, index) => event(from + index))
const numbers = (log: { readonly events: readonly Event[] }): readonly number[] =>
  log.events.map(({ sequence }) => sequence)

describe('the events of an execution', () => {
  test('WB-58 events that arrive twice, as after a reconnection, are shown once and in order', () => {
    const log = addNewer(addNewer(NO_EVENTS, events(1, 3)), [event(2), event(3), event(4), event(4)])
    expect(numbers(log)).toEqual([1, 2, 3, 4])
    expect(log.hasOlder).toBe(false)
  })

  test('WB-58 older pages come before what is there, and do not repeat it', () => {
    const log = addOlder(addNewer(NO_EVENTS, events(7, 9)), events(4, 7).toReversed(), true)
    expect(numbers(log)).toEqual([4, 5, 6, 7, 8, 9])
    expect(log.hasOlder).toBe(true)
    expect(addOlder(log, events(1, 3).toReversed(), false).hasOlder).toBe(false)
  })

  test('WB-58 of a long log the newest events are kept, and it is known that there are older ones', () => {
    const log = addNewer(addNewer(NO_EVENTS, events(1, 10_000)), events(10_001, 10_005))
    expect(log.events).toHaveLength(10_000)
    expect(log.events[0]?.sequence).toBe(6)
    expect(log.hasOlder).toBe(true)
  })

  test('WB-59 a word is looked for anywhere in a type, a pattern is taken as it is, anything else is refused', () => {
    expect(readPatterns('failed ingest.**, *.completed')).toEqual([
      '**.failed.**',
      'ingest.**',
      '*.completed',
    ])
    expect(readPatterns('')).toEqual([])
    expect(readPatterns('a..b')).toBeUndefined()
    expect(readPatterns('a b?')).toBeUndefined()
    expect(readPatterns('***')).toBeUndefined()
  })

  test('WB-58 a line tells the reason of a failure, otherwise what the payload has', () => {
    expect(tellPayload(event(1, { taskId: 't', reason: 'no order' }))).toBe('no order')
    expect(tellPayload(event(1, { taskId: 't', attempt: 1, worker: 'w' }))).toBe('attempt 1 · worker w')
    expect(tellPayload(event(1))).toBe('')
  })
})
