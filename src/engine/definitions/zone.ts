/** Local times of a time zone, with the zone data of the JavaScript engine. */

const HOUR_MS = 3_600_000
/** Longer than any change of a clock: Samoa left out a whole day. */
const NEAR_MS = 36 * HOUR_MS

export class TimeZone {
  private readonly format: Intl.DateTimeFormat

  /** Throws a `RangeError` for a zone that does not exist. */
  constructor(name: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      calendar: 'iso8601',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    })
  }

  /** What the clock shows, as the time at which a clock in UTC shows the same. */
  localOf(timeMs: number): number {
    const parts = Object.fromEntries(
      this.format.formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]),
    ) as Readonly<Record<string, number>>
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }

  /** The times at which the clock shows this: one, two when it was set back, none when it was set forward over it. */
  timesOf(localMs: number): readonly number[] {
    const offsets = new Set([this.offsetAt(localMs - NEAR_MS), this.offsetAt(localMs + NEAR_MS)])
    return [...offsets]
      .map((offset) => localMs - offset)
      .filter((timeMs) => this.localOf(timeMs) === localMs)
      .sort((a, b) => a - b)
  }

  /** What local times of this day are ahead of UTC; `undefined` where the clock is changed near it. */
  steadyOffset(dayMs: number): number | undefined {
    const offset = this.offsetAt(dayMs - NEAR_MS)
    return offset === this.offsetAt(dayMs + 24 * HOUR_MS + NEAR_MS) ? offset : undefined
  }

  /** For a time that the clock skips: the moment at which it was set forward. */
  endOfGap(localMs: number): number {
    let before = localMs - NEAR_MS
    let after = localMs + NEAR_MS
    const old = this.offsetAt(before)
    while (after - before > 1000) {
      const middle = Math.floor((before + after) / 2000) * 1000
      if (this.offsetAt(middle) === old) before = middle
      else after = middle
    }
    return after
  }

  private offsetAt(timeMs: number): number {
    return this.localOf(timeMs) - Math.floor(timeMs / 1000) * 1000
  }
}
