import { expect, test } from 'vitest'
import type { ScheduleDocument } from './document.ts'
import { readPipelineText } from './read-pipeline-file.ts'
import { dueTimes, nextTime } from './schedule.ts'

const at = (time: string): number => Date.parse(time)
const iso = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000', '')

/** The next times, one after the other. */
function times(schedule: ScheduleDocument, after: string, count: number): readonly string[] {
  const found: string[] = []
  for (let last = at(after); found.length < count;) {
    last = nextTime(schedule, last)
    found.push(iso(last))
  }
  return found
}

const BERLIN = 'Europe/Berlin'

test.each<[string, string, string[]]>([
  [
    '*/20 * * * *',
    '2026-01-01T00:10:00Z',
    ['2026-01-01T00:20:00Z', '2026-01-01T00:40:00Z', '2026-01-01T01:00:00Z'],
  ],
  [
    '0 9-17/4 * * mon-fri',
    '2026-01-02T18:00:00Z',
    ['2026-01-05T09:00:00Z', '2026-01-05T13:00:00Z', '2026-01-05T17:00:00Z'],
  ],
  ['30 2 1,15 * *', '2026-01-01T02:30:00Z', ['2026-01-15T02:30:00Z', '2026-02-01T02:30:00Z']],
  [
    '0 0 13 * 5',
    '2026-02-01T00:00:00Z',
    ['2026-02-06T00:00:00Z', '2026-02-13T00:00:00Z', '2026-02-20T00:00:00Z'],
  ],
  ['0 0 29 feb *', '2026-01-01T00:00:00Z', ['2028-02-29T00:00:00Z', '2032-02-29T00:00:00Z']],
  ['0 12 * * 7', '2026-01-01T00:00:00Z', ['2026-01-04T12:00:00Z']],
])('EN-560 the next times of %s', (cron, after, expected) => {
  expect(times({ cron }, after, expected.length)).toEqual(expected)
})

test('EN-561 a time of day that the clock skips is taken when it has been set forward', () => {
  expect(times({ cron: '30 2 * * *', timeZone: BERLIN }, '2026-03-28T00:00:00Z', 3)).toEqual([
    '2026-03-28T01:30:00Z',
    '2026-03-29T01:00:00Z',
    '2026-03-30T00:30:00Z',
  ])
})

test('EN-561 a time of day that comes twice is taken the first time', () => {
  expect(times({ cron: '30 2 * * *', timeZone: BERLIN }, '2026-10-24T12:00:00Z', 2)).toEqual([
    '2026-10-25T00:30:00Z',
    '2026-10-26T01:30:00Z',
  ])
  expect(times({ cron: '30 1 * * *', timeZone: 'America/New_York' }, '2026-11-01T05:30:00Z', 1)).toEqual([
    '2026-11-02T06:30:00Z',
  ])
})

test('EN-561 stretches of time go on through a change of the clock', () => {
  const half = { cron: '*/30 * * * *', timeZone: BERLIN }
  const stretch = (after: string): readonly number[] => {
    const found = times(half, after, 8).map(at)
    return found.slice(1).map((one, index) => one - (found[index] ?? 0))
  }
  expect(stretch('2026-03-28T23:45:00Z')).toEqual(Array(7).fill(1_800_000))
  expect(stretch('2026-10-24T23:15:00Z')).toEqual(Array(7).fill(1_800_000))
})

test('EN-561 a day that a zone left out counts when it is over', () => {
  expect(times({ cron: '0 12 * * *', timeZone: 'Pacific/Apia' }, '2011-12-29T12:00:00Z', 3)).toEqual([
    '2011-12-29T22:00:00Z',
    '2011-12-30T10:00:00Z',
    '2011-12-30T22:00:00Z',
  ])
})

test.each<[ScheduleDocument['catchUp'], string[], number]>([
  ['all', ['2026-01-01T01:00:00Z', '2026-01-01T02:00:00Z', '2026-01-01T03:00:00Z'], 0],
  ['last', ['2026-01-01T03:00:00Z'], 2],
  [undefined, ['2026-01-01T03:00:00Z'], 2],
  ['none', [], 3],
])('EN-562 after an absence, catchUp %s starts what it says', (catchUp, expected, missed) => {
  const schedule: ScheduleDocument = { cron: '0 * * * *', ...(catchUp && { catchUp }) }
  const due = dueTimes(schedule, { lastMs: at('2026-01-01T00:00:00Z'), nowMs: at('2026-01-01T03:30:00Z') })
  expect([due.times.map(iso), due.missed]).toEqual([expected, missed])
})

test('EN-562 what has just come is not missed, and a long absence is bounded', () => {
  const none: ScheduleDocument = { cron: '0 * * * *', catchUp: 'none' }
  const onTime = dueTimes(none, { lastMs: at('2026-01-01T00:00:00Z'), nowMs: at('2026-01-01T01:00:30Z') })
  expect([onTime.times.map(iso), onTime.missed]).toEqual([['2026-01-01T01:00:00Z'], 0])
  const year = dueTimes(
    { cron: '0 0 * * *', catchUp: 'all' },
    { lastMs: at('2025-01-01T00:00:00Z'), nowMs: at('2026-01-01T00:00:00Z') },
  )
  const decade = dueTimes(
    { cron: '* * * * *', timeZone: BERLIN },
    { lastMs: at('2016-01-01T00:00:00Z'), nowMs: at('2026-01-01T00:00:00Z') },
  )
  expect(decade.times.map(iso)).toEqual(['2026-01-01T00:00:00Z'])
  expect([year.times.length, year.missed, iso(year.times.at(-1) ?? 0)]).toEqual([
    100,
    265,
    '2026-01-01T00:00:00Z',
  ])
})

test.each([
  ['61 * * * *', 'the minute "61" must be from 0 to 59'],
  ['0 0 * * * *', 'must have 5 fields'],
  ['0 0 30 2 *', 'never comes'],
  ['0 5-3 * * *', 'the hour "5-3"'],
  ['*/0 * * * *', 'the minute "*/0"'],
])('EN-563 the schedule %s is refused with its place', (cron, why) => {
  const { problems } = readPipelineText(
    `name: p\nunits: { a: { barrier: true } }\nschedules:\n  x: { cron: '${cron}', timeZone: Europe/Berln }`,
  )
  expect(problems).toEqual([
    expect.objectContaining({ line: 4, at: 'schedules.x', message: expect.stringContaining(why) as string }),
    expect.objectContaining({ line: 4, message: 'there is no time zone "Europe/Berln"' }),
  ])
})
