/** The content type of a new file, by the end of its name. A file that was there before keeps the one it had. */

const OCTETS = 'application/octet-stream'

/**
 * ```ts
 * contentTypeOf('daily/1.csv') // 'text/csv'
 * ```
 */
export function contentTypeOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  // A name that only begins with a dot has no ending: `.csv` is hidden, not a table.
  return dot <= 0 ? OCTETS : (CONTENT_TYPES.get(name.slice(dot + 1).toLowerCase()) ?? OCTETS)
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['arrow', 'application/vnd.apache.arrow.file'],
  ['avro', 'application/avro'],
  ['bz2', 'application/x-bzip2'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['gif', 'image/gif'],
  ['gz', 'application/gzip'],
  ['htm', 'text/html'],
  ['html', 'text/html'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['js', 'text/javascript'],
  ['json', 'application/json'],
  ['jsonl', 'application/jsonl'],
  ['log', 'text/plain'],
  ['md', 'text/markdown'],
  ['mp3', 'audio/mpeg'],
  ['mp4', 'video/mp4'],
  ['ndjson', 'application/x-ndjson'],
  ['parquet', 'application/vnd.apache.parquet'],
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['sql', 'application/sql'],
  ['svg', 'image/svg+xml'],
  ['tar', 'application/x-tar'],
  ['tsv', 'text/tab-separated-values'],
  ['txt', 'text/plain'],
  ['wav', 'audio/wav'],
  ['webp', 'image/webp'],
  ['xml', 'application/xml'],
  ['yaml', 'application/yaml'],
  ['yml', 'application/yaml'],
  ['zip', 'application/zip'],
  ['zst', 'application/zstd'],
])
