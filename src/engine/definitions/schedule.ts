/**
 * When a schedule starts its pipeline. Pure: the time is given.
 *
 * - A time of day that the clock skips is taken when it has been set forward; one that comes twice is taken the first time.
 * - A schedule whose hour is `*` means stretches of time: it goes on through both, and skips nothing.
 */

import { InvalidError } from '../../base/errors.ts'
import { SCHEDULE_CATCH_UP_MAX } from '../limits.ts'
import { readCron, type Cron } from './cron.ts'
import type { ScheduleDocument } from './document.ts'
import { TimeZone } from './zone.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** 29 February may be eight years away. */
const DAYS_MAX = 9 * 366
const PASS_OVER_COUNT = 1_000

/** What is wrong with it. */
export function findScheduleProblems({ cron, timeZone = 'UTC' }: ScheduleDocument): readonly string[] {
  const { problem } = readCron(cron)
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(openZone(timeZone) === undefined ? [`there is no time zone "${timeZone}"`] : []),
  ]
}

/**
 * The first time after `afterMs`.
 *
 * ```ts
 * nextTime({ cron: '30 2 * * *', timeZone: 'Europe/Berlin' }, Date.now())
 * ```
 */
export function nextTime(schedule: ScheduleDocument, afterMs: number): number {
  const { cron, zone } = open(schedule)
  const firstDay = Math.floor(zone.localOf(afterMs) / DAY_MS) - 1
  for (let day = firstDay; day < firstDay + DAYS_MAX; day += 1) {
    if (!isOnDay(cron, day * DAY_MS)) continue
    const found = firstOfDay(cron, zone, { dayMs: day * DAY_MS, afterMs })
    if (found !== undefined) return found
  }
  throw new InvalidError('engine/bad-schedule', `find the next time of "${schedule.cron}": there is none`)
}

/**
 * The times to start now, of those after `lastMs` and not after `nowMs`: all, the last one, or only one that has just come,
 * as `catchUp` says. `missed`: how many are left
 * out, at least.
 */
export function dueTimes(
  schedule: ScheduleDocument,
  {
    lastMs,
    nowMs,
    lateMs = MINUTE_MS,
  }: { readonly lastMs: number; readonly nowMs: number; readonly lateMs?: number },
): { readonly times: readonly number[]; readonly missed: number } {
  const all: number[] = []
  let count = 0
  for (let at = nextTime(schedule, lastMs); at <= nowMs; at = nextTime(schedule, at)) {
    count += 1
    all.push(at)
    if (all.length > SCHEDULE_CATCH_UP_MAX) all.shift()
    // After a long absence what is far back is passed over, so that this ends soon.
    if (count % PASS_OVER_COUNT === 0) at = Math.max(at, nowMs - Math.floor((nowMs - at) / 2))
  }
  const { catchUp = 'last' } = schedule
  const last = all.slice(-1)
  const times =
    catchUp === 'all' ? all : catchUp === 'last' ? last : last.filter((at) => nowMs - at <= lateMs)
  return { times, missed: count - times.length }
}

function open({ cron: text, timeZone = 'UTC' }: ScheduleDocument): {
  readonly cron: Cron
  readonly zone: TimeZone
} {
  const { cron } = readCron(text)
  const zone = openZone(timeZone)
  if (cron !== undefined && zone !== undefined) return { cron, zone }
  const why = findScheduleProblems({ cron: text, timeZone }).join('; ')
  throw new InvalidError('engine/bad-schedule', `read the schedule "${text}": ${why}`, {
    next: 'Correct it.',
  })
}

function openZone(name: string): TimeZone | undefined {
  try {
    return new TimeZone(name)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function isOnDay(cron: Cron, dayMs: number): boolean {
  const date = new Date(dayMs)
  if (!cron.months.has(date.getUTCMonth() + 1)) return false
  const isDay = cron.days.has(date.getUTCDate())
  const isWeekday = cron.weekdays.has(date.getUTCDay())
  return cron.isEitherDay ? isDay || isWeekday : isDay && isWeekday
}

function firstOfDay(
  cron: Cron,
  zone: TimeZone,
  { dayMs, afterMs }: { readonly dayMs: number; readonly afterMs: number },
): number | undefined {
  const offset = zone.steadyOffset(dayMs)
  let first = Infinity
  for (let minute = 0; minute < 1440; minute += 1) {
    if (!cron.hours.has(Math.floor(minute / 60)) || !cron.minutes.has(minute % 60)) continue
    const local = dayMs + minute * MINUTE_MS
    const times = offset === undefined ? timesAt(cron, zone, local) : [local - offset]
    for (const at of times) if (at > afterMs && at < first) first = at
    // On a day without a change of the clock, later minutes give later times.
    if (first < Infinity && offset !== undefined) return first
  }
  return first === Infinity ? undefined : first
}

function timesAt(cron: Cron, zone: TimeZone, localMs: number): readonly number[] {
  const times = zone.timesOf(localMs)
  if (cron.isByInterval) return times
  return times.length === 0 ? [zone.endOfGap(localMs)] : times.slice(0, 1)
}
