// Goal: at the write both answers are young, with any pair of servers that answer within the limit.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  PUBLICATION_CONFIRMATION_AGE_MAX_MS,
  PUBLICATION_READING_MAX_MS,
  PUBLICATION_READING_ROUNDS_MAX,
} from './limits.ts'
import { ageOf, planReadings, type Reading, type ReadingSubject } from './planned-readings.ts'

const BOTH: readonly ReadingSubject[] = ['attempt', 'head']

/** Reads as planned, where each reading takes as long as given. */
function readAll(durationOf: (subject: ReadingSubject) => number): {
  readonly rounds: readonly string[]
  readonly ageMs: number
} {
  const readings: Partial<Record<ReadingSubject, Reading>> = {}
  const rounds: string[] = []
  let nowMs = 0
  while (rounds.length < PUBLICATION_READING_ROUNDS_MAX) {
    const due = planReadings(BOTH, readings, nowMs)
    if (due.length === 0) return { rounds, ageMs: ageOf(BOTH, readings, nowMs) }
    rounds.push(due.map(({ subject, inMs }) => `${subject} in ${inMs}`).join(' and '))
    const beganAtMs = nowMs
    for (const { subject, inMs } of due) {
      const askedAtMs = beganAtMs + inMs
      readings[subject] = { askedAtMs, answeredAtMs: askedAtMs + durationOf(subject) }
    }
    nowMs = Math.max(...due.map(({ subject }) => readings[subject]?.answeredAtMs ?? 0))
  }
  return { rounds, ageMs: Infinity }
}

test.each([
  ['quick servers: each is asked once, the branch last', 20, 5, ['attempt in 0', 'head in 0']],
  ['a slow Conductor', 1_500, 5, ['attempt in 0', 'head in 0']],
  ['a slow lakeFS: the attempt is read once more', 20, 1_500, ['attempt in 0', 'head in 0', 'attempt in 0']],
  [
    'both slow: they are asked so that both answer at once',
    700,
    1_800,
    ['attempt in 0', 'head in 0', 'attempt in 1100 and head in 0'],
  ],
])('PU-104 %s', (_, attemptMs, headMs, rounds) => {
  expect(readAll((subject) => (subject === 'attempt' ? attemptMs : headMs)).rounds).toEqual(rounds)
})

test('PU-104 a reading that took too long says nothing about now, however young its answer is', () => {
  const slow = { askedAtMs: 0, answeredAtMs: PUBLICATION_READING_MAX_MS + 1 }
  const young = { askedAtMs: slow.answeredAtMs, answeredAtMs: slow.answeredAtMs }
  expect(planReadings(BOTH, { attempt: slow, head: young }, slow.answeredAtMs)).toEqual([
    { subject: 'attempt', inMs: 0 },
  ])
})

test('PU-104 whatever the servers take within the limit, both answers are young in the end', () => {
  const duration = fc.integer({ min: 0, max: PUBLICATION_READING_MAX_MS })
  fc.assert(
    fc.property(duration, duration, (attemptMs, headMs) => {
      const { ageMs } = readAll((subject) => (subject === 'attempt' ? attemptMs : headMs))
      expect(ageMs).toBeLessThanOrEqual(PUBLICATION_CONFIRMATION_AGE_MAX_MS)
    }),
  )
})
