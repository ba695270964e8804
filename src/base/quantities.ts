/** Durations and sizes as people write them: `30s`, `1.5 min`, `5 MiB`, `1g`. */

const DURATION_UNITS_MS = { ms: 1, s: 1000, min: 60_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const SIZE_UNITS_BYTES = {
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  tb: 1000 ** 4,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
  // As Kubernetes writes them.
  ki: 1024,
  mi: 1024 ** 2,
  gi: 1024 ** 3,
  ti: 1024 ** 4,
  // As flags of docker and java take them.
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
} as const

/** Milliseconds; `undefined` if the text is not a duration. A number without a unit is not one. */
export function parseDuration(text: string): number | undefined {
  return parseQuantity(text, DURATION_UNITS_MS)
}

/** Bytes; `undefined` if the text is not a size. */
export function parseSize(text: string): number | undefined {
  return parseQuantity(text, SIZE_UNITS_BYTES)
}

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const { number, unit } = /^(?<number>\d+(?:\.\d+)?)\s*(?<unit>[a-z]+)$/i.exec(text.trim())?.groups ?? {}
  const factor = Object.entries(units).find(([name]) => name === unit?.toLowerCase())?.[1]
  if (number === undefined || factor === undefined) return undefined
  const quantity = Math.round(Number(number) * factor)
  return Number.isSafeInteger(quantity) ? quantity : undefined
}

/** `1.2 MiB`, for people. */
export function formatSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power] ?? 'B'}`
}
