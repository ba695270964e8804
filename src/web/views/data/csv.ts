/** Tables as text: RFC 4180 and what is usual beside it. */

export interface TextTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Why not all of it was read as its author meant it, if so. */
  readonly isBroken: boolean
}

export const ROWS_MAX = 20_000

/** The first record names the columns. A byte order mark is not part of a name. */
export function readCsv(
  text: string,
  separator: string,
  rowsMax: number = ROWS_MAX,
): TextTable & { readonly isCut: boolean } {
  const { records, isBroken, isCut } = readRecords(text.replace(/^\uFEFF/, ''), separator, rowsMax + 1)
  const [columns = [], ...rows] = records
  return { columns, rows, isBroken, isCut }
}

/** The likeliest separator: the one that the first line has most of, outside quotes. */
export function separatorOf(text: string, path: string): string {
  if (path.endsWith('.tsv')) return '\t'
  const [line = ''] = text.split('\n', 1)
  const bare = line.replace(/"[^"]*"/g, '')
  const count = (sign: string): number => bare.split(sign).length - 1
  return [',', ';', '\t', '|'].reduce((best, sign) => (count(sign) > count(best) ? sign : best))
}

interface Records {
  readonly records: readonly (readonly string[])[]
  readonly isBroken: boolean
  readonly isCut: boolean
}

function readRecords(text: string, separator: string, most: number): Records {
  const records: string[][] = []
  let isBroken = false
  let record: string[] = []
  let at = 0
  while (at < text.length) {
    if (records.length === most) return { records, isBroken, isCut: true }
    const field = text[at] === '"' ? quoted(text, at) : plain(text, at, separator)
    isBroken ||= field.isBroken
    // What follows a closing quote belongs to the field, as most readers have it.
    const rest = text[at] === '"' ? plain(text, field.end, separator) : { value: '', end: field.end }
    isBroken ||= rest.value !== ''
    record.push(field.value + rest.value)
    at = rest.end
    if (text[at] === separator) {
      at += 1
      if (at < text.length) continue
      record.push('')
    } else at += text.startsWith('\r\n', at) ? 2 : 1
    records.push(record)
    record = []
  }
  return {
    records: records.filter((fields) => fields.length > 1 || fields[0] !== ''),
    isBroken,
    isCut: false,
  }
}

interface Field {
  readonly value: string
  readonly end: number
  readonly isBroken: boolean
}

function plain(text: string, start: number, separator: string): Field {
  let end = start
  while (end < text.length && text[end] !== separator && text[end] !== '\n') {
    if (text[end] === '\r' && text[end + 1] === '\n') break
    end += 1
  }
  return { value: text.slice(start, end), end, isBroken: false }
}

function quoted(text: string, start: number): Field {
  let value = ''
  let at = start + 1
  while (true) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return { value: value + text.slice(at), end: text.length, isBroken: true }
    value += text.slice(at, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1, isBroken: false }
    value += '"'
    at = quote + 2
  }
}
