import { useLoaded } from '../../load.ts'
import { Loading, Problem } from '../../parts/problem.tsx'
import { PARQUET_ROWS, readParquet, type ParquetFile } from './parquet.ts'
import { readRange } from './reading.ts'
import { TableView } from './table-view.tsx'

export interface ParquetViewProps {
  readonly repository: string
  readonly path: string
  readonly before?: string | undefined
  readonly after?: string | undefined
}

export function ParquetView({ repository, path, before, after }: ParquetViewProps) {
  const { data, error, reload } = useLoaded(
    async (signal) => {
      const read = async (at: string | undefined): Promise<ParquetFile | undefined> => {
        if (at === undefined) return undefined
        const place = { repository, at, path }
        const { sizeBytes } = await readRange(place, { start: 0, length: 4 }, signal)
        return readParquet({
          sizeBytes,
          read: async (start, length) => (await readRange(place, { start, length }, signal)).bytes.buffer,
        })
      }
      const [old, now] = await Promise.all([read(before), read(after)])
      return { old, now }
    },
    [repository, path, before, after],
  )
  if (data === undefined) return error === undefined ? <Loading /> : <Problem error={error} retry={reload} />
  const { old, now } = data
  return (
    <>
      <p>
        {[old, now]
          .filter((file) => file !== undefined)
          .map(sayFile)
          .join(' → ')}
      </p>
      <h3>Schema</h3>
      <TableView {...{ before: old?.schema, after: now?.schema, isCut: false, isShort: true }} />
      <h3>First {PARQUET_ROWS} rows</h3>
      <Head {...{ old, now }} />
    </>
  )
}

function Head({
  old,
  now,
}: {
  readonly old: ParquetFile | undefined
  readonly now: ParquetFile | undefined
}) {
  const why = [old, now].flatMap((file) =>
    file !== undefined && 'why' in file.head ? [file.head.why] : [],
  )[0]
  if (why !== undefined) return <p class="note">They cannot be shown: {why}</p>
  const tableOf = (file: ParquetFile | undefined) =>
    file === undefined || 'why' in file.head ? undefined : file.head
  return <TableView {...{ before: tableOf(old), after: tableOf(now), isCut: false }} />
}

function sayFile({ rowCount, groups, writer }: ParquetFile): string {
  const by = writer === undefined ? '' : `, written by ${writer}`
  return `${rowCount.toLocaleString()} rows in ${groups === 1 ? 'one group' : `${String(groups)} groups`}${by}`
}
