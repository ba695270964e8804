/**
 * Which readings are due before a branch write: the attempt and the head must both have been answered shortly before it.
 * Pure.
 *
 * The age of a reading counts from its answer, so that a slow server can still be published to. What it said may have been
 * true since it was asked, so one that took too long says nothing and is asked again.
 */

import { PUBLICATION_CONFIRMATION_AGE_MAX_MS, PUBLICATION_READING_MAX_MS } from './limits.ts'

export type ReadingSubject = 'attempt' | 'head'

/** On the monotonic clock. */
export interface Reading {
  readonly askedAtMs: number
  readonly answeredAtMs: number
}

export type Readings = Readonly<Partial<Record<ReadingSubject, Reading>>>

export interface PlannedReading {
  readonly subject: ReadingSubject
  readonly inMs: number
}

/** What to ask now, or a little later; nothing when everything is young enough. */
export function planReadings(
  subjects: readonly ReadingSubject[],
  readings: Readings,
  nowMs: number,
): readonly PlannedReading[] {
  // The attempt first: nothing else is asked for one that is stale.
  const missing = subjects.find((subject) => readings[subject] === undefined)
  if (missing !== undefined) return [{ subject: missing, inMs: 0 }]
  const due = subjects.filter((subject) => !isYoung(readings[subject], nowMs))
  const [slowest] = due.toSorted((a, b) => durationOf(readings[b]) - durationOf(readings[a]))
  if (slowest === undefined) return []
  const isEachSlow = subjects.every((of) => durationOf(readings[of]) > PUBLICATION_CONFIRMATION_AGE_MAX_MS)
  if (!isEachSlow) return [{ subject: slowest, inMs: 0 }]
  // Asked one after the other, each would make the other too old: they are asked so that both answer at about one time.
  const longestMs = Math.max(...subjects.map((subject) => durationOf(readings[subject])))
  return subjects.map((subject) => ({ subject, inMs: longestMs - durationOf(readings[subject]) }))
}

/** The age of the oldest answer; infinite while one is missing. */
export function ageOf(subjects: readonly ReadingSubject[], readings: Readings, nowMs: number): number {
  return Math.max(...subjects.map((subject) => nowMs - (readings[subject]?.answeredAtMs ?? -Infinity)))
}

function isYoung(reading: Reading | undefined, nowMs: number): boolean {
  return (
    reading !== undefined &&
    durationOf(reading) <= PUBLICATION_READING_MAX_MS &&
    nowMs - reading.answeredAtMs <= PUBLICATION_CONFIRMATION_AGE_MAX_MS
  )
}

function durationOf(reading: Reading | undefined): number {
  return reading === undefined ? Infinity : reading.answeredAtMs - reading.askedAtMs
}
