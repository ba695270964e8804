// Goal: no branch write begins on answers that are too old, however the time passed.
import { beforeEach, expect, test } from 'vitest'
import { attemptOf, freshOf, publicationOf, TARGET } from '../../test/support/publication-world.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import { PUBLICATION_CONFIRMATION_AGE_MAX_MS, PUBLICATION_READING_MAX_MS } from './limits.ts'
import { openSession } from './session.ts'
import { openWriteGuard, type PublicationGuard } from './write-guard.ts'

let clock: ManualClock
let durations: { attemptMs: number; headMs: number }
let asked: string[]

beforeEach(() => {
  clock = new ManualClock()
  durations = { attemptMs: 0, headMs: 0 }
  asked = []
})

function open(): PublicationGuard {
  const attempt = attemptOf()
  const world = new ScriptedRepo({
    script: {
      arrive: async () => {
        asked.push('head')
        await clock.sleep(durations.headMs)
        return 'none'
      },
      answer: () => Promise.resolve(),
      later: () => undefined,
    },
  })
  const readFresh = async () => {
    asked.push('attempt')
    await clock.sleep(durations.attemptMs)
    return freshOf(attempt)
  }
  const { authority } = publicationOf(world.connect('worker'), '' as never, {
    authority: { attempt, readFresh },
  }).request
  const session = openSession({ repo: world.connect('worker'), authority, clock })
  return openWriteGuard(session, { branch: TARGET, judge: () => true })
}

test('PU-108 a write begins only while both answers are young enough, and says how old they were', async () => {
  const guard = open()
  durations.headMs = 40
  expect(guard.mayBegin()).toBe(false)
  expect(await clock.run(guard.confirm({}))).toBe(true)
  await clock.advance(PUBLICATION_CONFIRMATION_AGE_MAX_MS - 40 + 1)
  expect(guard.mayBegin()).toBe(false)
  expect(guard.figures).toBeUndefined()
  expect(await clock.run(guard.confirm({}))).toBe(true)
  await clock.advance(10)
  expect(guard.mayBegin()).toBe(true)
  expect(guard.figures?.ageMs).toBeLessThanOrEqual(PUBLICATION_CONFIRMATION_AGE_MAX_MS)
  // Only what had become too old was asked again.
  expect(asked).toEqual(['attempt', 'head', 'attempt'])
})

test('PU-108 servers that never answer in time are never written to', async () => {
  const guard = open()
  durations.headMs = PUBLICATION_READING_MAX_MS + 1
  await expect(clock.run(guard.confirm({}))).rejects.toMatchObject({
    ...{ kind: 'unavailable', code: 'publication/not-confirmed' },
  })
  expect(guard.mayBegin()).toBe(false)
  expect(guard.isStopped).toBe(true)
})
