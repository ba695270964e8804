/** The five fields of cron: minute, hour, day of month, month, day of week. */

export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>
  /** Where both days are restricted, either one is enough, as in cron. */
  readonly isEitherDay: boolean
  /** The hour begins with `*`: it means stretches of time, not times of the day. */
  readonly isByInterval: boolean
}

export type CronReading =
  | { readonly cron: Cron; readonly problem: undefined }
  | { readonly cron: undefined; readonly problem: string }

interface FieldRule {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly words?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIELDS: readonly FieldRule[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: ['', ...MONTHS] },
  // 7 is Sunday too.
  { name: 'day of week', min: 0, max: 7, words: WEEKDAYS },
]
const LONGEST_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function readCron(text: string): CronReading {
  const parts = text.trim().split(/\s+/)
  if (parts.length !== FIELDS.length)
    return failed(`cron "${text}" must have 5 fields: minute, hour, day of month, month, day of week`)
  const sets: ReadonlySet<number>[] = []
  for (const [index, rule] of FIELDS.entries()) {
    const part = parts[index] ?? ''
    const set = readField(part, rule)
    if (set === undefined)
      return failed(
        `cron "${text}": the ${rule.name} "${part}" must be from ${rule.min} to ${rule.max}, such as *, 5, 1-5, */15 or 1,15`,
      )
    sets.push(set)
  }
  const [minutes, hours, days, months, weekdays] = sets as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  const isEitherDay = !parts[2]?.startsWith('*') && !parts[4]?.startsWith('*')
  const isNever =
    !isEitherDay &&
    ![...months].some((month) => [...days].some((day) => day <= (LONGEST_MONTH[month - 1] ?? 0)))
  if (isNever) return failed(`cron "${text}" never comes: no such month has this day`)
  return {
    problem: undefined,
    cron: {
      ...{ minutes, hours, days, months, isEitherDay },
      weekdays: new Set([...weekdays].map((day) => day % 7)),
      isByInterval: parts[1]?.startsWith('*') === true,
    },
  }
}

function failed(problem: string): CronReading {
  return { cron: undefined, problem }
}

function readField(text: string, rule: FieldRule): ReadonlySet<number> | undefined {
  const set = new Set<number>()
  for (const part of text.split(',')) {
    const { range = '', step } = /^(?<range>[^/]+)(?:\/(?<step>\d{1,3}))?$/.exec(part)?.groups ?? {}
    const span = readRange(range, rule, step !== undefined)
    const by = step === undefined ? 1 : Number(step)
    if (span === undefined || by < 1) return undefined
    for (let value = span[0]; value <= span[1]; value += by) set.add(value)
  }
  return set
}

function readRange(text: string, rule: FieldRule, hasStep: boolean): readonly [number, number] | undefined {
  if (text === '*') return [rule.min, rule.max]
  const [from, to, more] = text.split('-').map((word) => readNumber(word, rule))
  if (from === undefined || more !== undefined) return undefined
  if (!text.includes('-')) return [from, hasStep ? rule.max : from]
  return to === undefined || to < from ? undefined : [from, to]
}

function readNumber(word: string, { min, max, words = [] }: FieldRule): number | undefined {
  const named = word === '' ? -1 : words.indexOf(word.toLowerCase())
  const value = named >= 0 ? named : /^\d{1,2}$/.test(word) ? Number(word) : NaN
  return value >= min && value <= max ? value : undefined
}
