/** How long a WAIT of Conductor waits: `2 hours 30 minutes`, `5s`. */

const SECONDS: Readonly<Record<string, number>> = {
  ...{ days: 86_400, day: 86_400, d: 86_400 },
  ...{ hours: 3_600, hour: 3_600, hrs: 3_600, hr: 3_600, h: 3_600 },
  ...{ minutes: 60, minute: 60, mins: 60, min: 60, m: 60 },
  ...{ seconds: 1, second: 1, secs: 1, sec: 1, s: 1 },
}

/** `undefined` where it is no duration. */
export function readWaitSeconds(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/\s*(\d{1,9})\s*([a-z]+)/giy)]
  const length = parts.reduce((sum, [part]) => sum + part.length, 0)
  if (parts.length === 0 || length !== text.trim().length) return undefined
  const seconds = parts.map(([, count, unit = '']) => Number(count) * (SECONDS[unit.toLowerCase()] ?? NaN))
  const sum = seconds.reduce((total, each) => total + each, 0)
  return Number.isFinite(sum) ? sum : undefined
}

/** A time with its zone. Without one Conductor takes that of its server, which is not ours. */
export function isTimeWithZone(text: string): boolean {
  return Number.isFinite(Date.parse(text)) && /(?:Z|\b(?:GMT|UTC)\b|[+-]\d\d:?\d\d)\s*$/.test(text)
}
