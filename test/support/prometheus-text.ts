// Prometheus' text format 0.0.4, read as strictly as its specification says:
// https://prometheus.io/docs/instrumenting/exposition_formats/

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Scrape {
  readonly types: ReadonlyMap<string, string>
  readonly samples: readonly Sample[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`)
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([^ ]+)$`)
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/

/** Throws for what Prometheus would not take. */
export function parseScrape(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the last line has no line feed')
  const types = new Map<string, string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue
    if (line.startsWith('#')) {
      const [, kind, name = '', rest = ''] = COMMENT.exec(line) ?? refuse(line)
      if (kind !== 'TYPE') continue
      if (types.has(name)) throw new Error(`two types of ${name}`)
      if (samples.some((sample) => familyOf(sample.name, types) === name))
        throw new Error(`the type of ${name} comes after a sample of it`)
      if (!['counter', 'gauge', 'histogram', 'summary', 'untyped'].includes(rest)) refuse(line)
      types.set(name, rest)
      continue
    }
    const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? refuse(line)
    const sample = { name, labels: parseLabels(labels, line), value: parseValue(value, line) }
    const series = `${name}{${JSON.stringify(Object.entries(sample.labels).sort())}}`
    if (seen.has(series)) throw new Error(`two samples of ${series}`)
    seen.add(series)
    if (!types.has(familyOf(name, types))) throw new Error(`a sample without type: ${line}`)
    samples.push(sample)
  }
  checkHistograms({ types, samples })
  return { types, samples }
}

/** The one sample with this name and these labels. */
export function valueOf(
  { samples }: Scrape,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const found = samples.filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  if (found.length !== 1) throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`)
  return found[0]!.value
}

function familyOf(name: string, types: ReadonlyMap<string, string>): string {
  const family = name.replace(/_(bucket|sum|count)$/, '')
  return types.get(family) === 'histogram' ? family : name
}

function parseLabels(text: string, line: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== '';) {
    const [whole = '', name = '', value = ''] = LABEL.exec(rest) ?? refuse(line)
    if (Object.hasOwn(labels, name)) refuse(line)
    labels[name] = value
    rest = rest.slice(whole.length)
  }
  return labels
}

function parseValue(text: string, line: string): number {
  if (/^[+-]Inf$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (text === 'NaN') return NaN
  const value = Number(text)
  return Number.isNaN(value) ? refuse(line) : value
}

/** Buckets grow, and the last one, `+Inf`, is the count. */
function checkHistograms({ types, samples }: Scrape): void {
  for (const [name, type] of types) {
    if (type !== 'histogram') continue
    const counts = samples.filter((sample) => sample.name === `${name}_count`)
    for (const { labels, value } of counts) {
      const buckets = samples.filter(
        (sample) =>
          sample.name === `${name}_bucket` &&
          Object.entries(labels).every(([key, own]) => sample.labels[key] === own),
      )
      const bounds = buckets.map((bucket) => parseValue(bucket.labels['le'] ?? '', name))
      if (bounds.at(-1) !== Infinity || buckets.at(-1)?.value !== value)
        throw new Error(`${name}: the last bucket is not the count`)
      for (const [at, bucket] of buckets.entries()) {
        const before = buckets[at - 1]
        if (before === undefined) continue
        if (before.value > bucket.value || bounds[at - 1]! >= bounds[at]!)
          throw new Error(`${name}: its buckets do not grow`)
      }
    }
  }
}

function refuse(line: string): never {
  throw new Error(`Prometheus does not take the line ${JSON.stringify(line)}`)
}
