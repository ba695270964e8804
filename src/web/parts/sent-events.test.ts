import { describe, expect, test } from 'vitest'
import { readSentEvents } from './sent-events.ts'

const STREAM =
  'id: 1\ndata: {"a":1}\n\n: still here\n\nid: 2\r\ndata: one\r\ndata:two\r\n\r\nevent: end\rdata: {}\r\r'
const EVENTS = [
  { id: '1', name: 'message', data: '{"a":1}' },
  { id: '2', name: 'message', data: 'one\ntwo' },
  { id: '2', name: 'end', data: '{}' },
]

describe('server-sent events', () => {
  test('WB-50 events are read out of pieces of any size, with every kind of line end', () => {
    for (let size = 1; size <= STREAM.length; size += 1) {
      const read = readSentEvents()
      const pieces = STREAM.match(new RegExp(`[\\s\\S]{1,${String(size)}}`, 'g')) ?? []
      // The line end that could go on is only complete with what follows it.
      expect([...pieces, ':\n'].flatMap(read)).toEqual(EVENTS)
    }
  })

  test('WB-50 comments and events without data give nothing', () => {
    expect(readSentEvents()(': a\n\nevent: end\n\nid: 3\n\nretry: 9\n\n')).toEqual([])
  })
})
