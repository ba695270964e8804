/** Times in the zone of the reader, with UTC on hover, and lengths of time. */

import { useEffect, useState } from 'preact/hooks'

export function Time({ at }: { readonly at: string | number | Date | undefined }) {
  if (at === undefined) return <span class="faint">–</span>
  const date = new Date(at)
  return (
    <time
      dateTime={date.toISOString()}
      title={`${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`}
    >
      {showTime(date, new Date())}
    </time>
  )
}

/** "12 s ago", kept up to date. */
export function Ago({ at }: { readonly at: string | number | Date }) {
  const now = useNow(1_000)
  const date = new Date(at)
  return (
    <time
      dateTime={date.toISOString()}
      title={`${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`}
    >
      {now - date.getTime() < 1_000 ? 'just now' : `${showLength(now - date.getTime())} ago`}
    </time>
  )
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Today without the date, this year without the year. */
function showTime(date: Date, now: Date): string {
  const clock = date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  if (date.toDateString() === now.toDateString()) return clock
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const }
  return `${date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...year })} ${clock}`
}

/** `120 ms`, `4.2 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h`. */
export function showLength(ms: number): string {
  if (ms < 1_000) return `${String(Math.round(ms))} ms`
  const seconds = ms / 1_000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${String(Math.floor(seconds))} s`
  const [larger, smaller, per, first, second] =
    seconds < 3_600
      ? ([Math.floor(seconds / 60), Math.floor(seconds % 60), 0, 'min', 's'] as const)
      : seconds < 86_400
        ? ([Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60), 0, 'h', 'min'] as const)
        : ([Math.floor(seconds / 86_400), Math.floor((seconds % 86_400) / 3_600), 0, 'd', 'h'] as const)
  return smaller === per
    ? `${String(larger)} ${first}`
    : `${String(larger)} ${first} ${String(smaller)} ${second}`
}

/** `812 B`, `4.0 KiB`, `1.2 GiB`. */
export function showSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024
    unit += 1
  }
  return `${unit === 0 ? String(value) : value.toFixed(value < 10 ? 1 : 0)} ${units[unit] ?? ''}`
}
