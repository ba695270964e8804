/** A table, or what differs between two: changed cells say what they were. */

import { useMemo, useState } from 'preact/hooks'
import { ROWS_MAX } from './csv.ts'
import {
  diffTables,
  keysOf,
  type Cell,
  type Table,
  type TableDifference,
  type TableRow,
} from './table-diff.ts'
import { VirtualBox } from './virtual-box.tsx'

const ROW_PX = 26
const CELL_CHARS_MAX = 40
const CELL_TEXT_MAX = 500
const COLUMNS_MAX = 200
const BY_PLACE = ' by place'
const SIGNS: Readonly<Record<TableRow['kind'], string>> = { same: '', changed: '~', added: '+', removed: '−' }

export interface TableViewProps {
  readonly before: (Table & { readonly isBroken?: boolean; readonly isCut?: boolean }) | undefined
  readonly after: (Table & { readonly isBroken?: boolean; readonly isCut?: boolean }) | undefined
  /** The objects are longer than what was read. */
  readonly isCut: boolean
  /** All of it is shown, and nothing is chosen. */
  readonly isShort?: boolean
}

export function TableView({ before, after, isCut, isShort = false }: TableViewProps) {
  const isCompared = before !== undefined && after !== undefined
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const [isWhole, setWhole] = useState(isShort)
  const [old, now] = [before ?? after ?? EMPTY, after ?? before ?? EMPTY]
  const keys = useMemo(() => (isCompared ? keysOf(old, now) : []), [old, now, isCompared])
  const key = chosen === BY_PLACE ? undefined : (chosen ?? keys[0])
  const difference = useMemo(() => diffTables(old, now, key), [old, now, key])
  const onlyChanges = isCompared && !isWhole
  const rows = useMemo(
    () => (onlyChanges ? difference.rows.filter(({ kind }) => kind !== 'same') : difference.rows),
    [difference, onlyChanges],
  )
  return (
    <>
      {!isShort && (
        <div class="bar">
          <span>{sayCounts(difference, isCompared)}</span>
          {isCompared && (
            <Choices
              {...{ keys, chosen: key, choose: setChosen, onlyChanges, toggle: () => setWhole(onlyChanges) }}
            />
          )}
        </div>
      )}
      <Notes {...{ sides: [before, after], isCut, columns: difference.columns.length }} />
      {rows.length === 0 && isCompared ? (
        <p class="note">No cell differs.</p>
      ) : (
        <Grid {...{ difference, rows, isCompared }} />
      )}
    </>
  )
}

function Choices({
  keys,
  chosen,
  choose,
  onlyChanges,
  toggle,
}: {
  readonly keys: readonly string[]
  readonly chosen: string | undefined
  readonly choose: (key: string) => void
  readonly onlyChanges: boolean
  readonly toggle: () => void
}) {
  return (
    <>
      <label class="choice">
        <input type="checkbox" checked={onlyChanges} onChange={toggle} /> Only what differs
      </label>
      <label class="choice">
        Rows matched by
        <select value={chosen ?? BY_PLACE} onChange={(event) => choose(event.currentTarget.value)}>
          {keys.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          <option value={BY_PLACE}>their place</option>
        </select>
      </label>
    </>
  )
}

function Notes({
  sides,
  isCut,
  columns,
}: {
  readonly sides: readonly TableViewProps['before'][]
  readonly isCut: boolean
  readonly columns: number
}) {
  return (
    <>
      {sides.some((side) => side?.isBroken === true) && (
        <p class="note">A quote in it is not closed, or text follows one: see the text to be sure.</p>
      )}
      {isCut && <p class="note">The last row may be incomplete, and rows that follow are not compared.</p>}
      {sides.some((side) => side?.isCut === true) && (
        <p class="note">Only its first {ROWS_MAX.toLocaleString()} rows are read.</p>
      )}
      {columns > COLUMNS_MAX && <p class="note">Only its first {COLUMNS_MAX} columns are shown.</p>}
    </>
  )
}

const EMPTY: Table = { columns: [], rows: [] }

function Grid({
  difference,
  rows,
  isCompared,
}: {
  readonly difference: TableDifference
  readonly rows: readonly TableRow[]
  readonly isCompared: boolean
}) {
  const columns = difference.columns.slice(0, COLUMNS_MAX)
  const widths = useMemo(() => widthsOf(columns, rows), [difference, rows])
  const chars = widths.reduce((sum, width) => sum + width, 4)
  const widthOf = (index: number) => ({ flex: `0 0 ${String(widths[index] ?? 4)}ch` })
  return (
    <VirtualBox
      label={isCompared ? 'Rows that differ' : 'Rows'}
      role="table"
      count={rows.length}
      rowPx={ROW_PX}
      chars={chars}
      head={
        <div class="cells cells-head" role="row">
          {isCompared && (
            <span class="cell-sign" role="columnheader">
              <span class="spoken">Kind</span>
            </span>
          )}
          {columns.map(({ name, kind }, index) => (
            <span
              key={index}
              role="columnheader"
              class={`cell column-${kind}`}
              style={widthOf(index)}
              title={name}
            >
              {kind === 'added' ? '+ ' : kind === 'removed' ? '− ' : ''}
              {name}
            </span>
          ))}
        </div>
      }
      row={(index) => {
        const row = rows[index]
        if (row === undefined) return null
        return (
          <div key={index} role="row" class={`cells row-${row.kind}`} aria-rowindex={index + 2}>
            {isCompared && (
              <span class="cell-sign" role="cell">
                <span aria-hidden="true">{SIGNS[row.kind]}</span>
                <span class="spoken">{row.kind}</span>
              </span>
            )}
            {columns.map((_, place) => (
              <OneCell key={place} cell={row.cells[place]} style={widthOf(place)} />
            ))}
          </div>
        )
      }}
    />
  )
}

function OneCell({
  cell,
  style,
}: {
  readonly cell: Cell | undefined
  readonly style: { readonly flex: string }
}) {
  const { value = '', was } = cell ?? {}
  const shown = value.slice(0, CELL_TEXT_MAX)
  if (was === undefined)
    return (
      <span role="cell" class="cell" style={style} title={shown}>
        {shown}
      </span>
    )
  return (
    <span
      role="cell"
      class="cell cell-changed"
      style={style}
      title={`${was.slice(0, CELL_TEXT_MAX)} → ${shown}`}
    >
      <del>{was === '' ? '∅' : was.slice(0, CELL_TEXT_MAX)}</del> <ins>{shown === '' ? '∅' : shown}</ins>
    </span>
  )
}

/** As wide as the longest of the first rows, within reason. */
function widthsOf(columns: TableDifference['columns'], rows: readonly TableRow[]): readonly number[] {
  return columns.map(({ name }, index) => {
    const longest = rows.slice(0, 300).reduce((most, { cells }) => {
      const { value = '', was } = cells[index] ?? {}
      return Math.max(most, value.length + (was === undefined ? 0 : was.length + 2))
    }, name.length + 2)
    return Math.min(CELL_CHARS_MAX, longest) + 3
  })
}

function sayCounts({ counts, rows }: TableDifference, isCompared: boolean): string {
  const number = (count: number): string => count.toLocaleString()
  if (!isCompared) return `${number(rows.length)} rows`
  const { changed, added, removed, same } = counts
  return `${number(changed)} changed, ${number(added)} added, ${number(removed)} removed, ${number(same)} the same`
}
