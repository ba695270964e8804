import { expect, test } from 'vitest'
import { addSeen, writersOf, type SeenValue } from './variable-history.ts'

test('WB-60 each value that a variable is seen to have stays shown with its time', () => {
  let seen: readonly SeenValue[] = []
  for (const [at, value] of [{ n: 1 }, { n: 1 }, { n: 2 }, { n: 1 }].entries())
    seen = addSeen(seen, value, at)
  expect(seen).toEqual([
    { value: { n: 1 }, at: 3 },
    { value: { n: 2 }, at: 2 },
    { value: { n: 1 }, at: 0 },
  ])
  for (let at = 4; at < 200; at += 1) seen = addSeen(seen, at, at)
  expect(seen).toHaveLength(50)
  expect(seen[0]?.at).toBe(199)
})

test('WB-60 the events that write a variable follow from its name', () => {
  expect(writersOf('pipeline.input.day')).toEqual(['pipeline.started'])
  expect(writersOf('system.started_at')).toEqual(['pipeline.started'])
  expect(writersOf('pipeline.output.rows')).toEqual(['pipeline.completed'])
  expect(writersOf('ingest.result')).toEqual(['ingest.completed'])
  expect(writersOf('shared.count')).toEqual([])
})
