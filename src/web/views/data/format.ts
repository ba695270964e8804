/** How an object is shown, by its name and its first bytes. */

export type Format = 'csv' | 'json' | 'parquet' | 'image' | 'text' | 'bytes'

/** What an `<img>` may be given. Nothing else of what is stored gets a type. */
const IMAGES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  svg: 'image/svg+xml',
}

const BY_ENDING: Readonly<Record<string, Format>> = {
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  geojson: 'json',
  parquet: 'parquet',
  pq: 'parquet',
}

export function imageTypeOf(path: string): string | undefined {
  const ending = endingOf(path)
  return Object.hasOwn(IMAGES, ending) ? IMAGES[ending] : undefined
}

/** What the name promises; `undefined`: look into it. */
export function promisedFormat(path: string): Format | undefined {
  if (imageTypeOf(path) !== undefined) return 'image'
  const ending = endingOf(path)
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined
}

/** The text of UTF-8 bytes; `undefined`: they are something else. A character that a cut has halved is left out. */
export function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase()
}
