/** A list of which only the rows in sight are in the document, however long it is. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useScrollPlace } from './scroll-place.ts'

const AROUND = 8

export interface Column<T> {
  readonly title: string
  /** Shown instead of the title. */
  readonly head?: ComponentChildren
  /** A class of style.css that says how wide it is: `w-name`, `w-state`, `w-time`, … */
  readonly width: string
  readonly show: (item: T) => ComponentChildren
}

export interface RowsProps<T> {
  readonly label: string
  readonly items: readonly T[]
  readonly columns: readonly Column<T>[]
  readonly keyOf: (item: T) => string
  readonly rowPx?: number
  /** Asked for when the end comes into sight. */
  readonly more?: (() => void) | undefined
  /** How many there are in all, where that is known. */
  readonly count?: number | undefined
  readonly isChosen?: (item: T) => boolean
}

export function Rows<T>(props: RowsProps<T>) {
  const { label, items, columns, keyOf, rowPx = 34, more, count, isChosen } = props
  const box = useRef<HTMLDivElement>(null)
  const place = useScrollPlace(box, 600)
  const first = Math.max(0, Math.floor(place.top / rowPx) - AROUND)
  const last = Math.min(items.length, Math.ceil((place.top + place.height) / rowPx) + AROUND)
  useEffect(() => {
    if (last >= items.length - AROUND) more?.()
  }, [last, items.length])
  return (
    <div
      class="rows"
      role="table"
      aria-label={label}
      aria-rowcount={more === undefined ? (count ?? items.length) + 1 : -1}
    >
      <div role="rowgroup" class="rows-head">
        <div role="row" class="row" aria-rowindex={1}>
          {columns.map(({ title, head, width }) => (
            <span key={title} role="columnheader" class={width}>
              {head ?? title}
            </span>
          ))}
        </div>
      </div>
      <div class="rows-box" ref={box} role="rowgroup" tabIndex={0} aria-label={label}>
        <Gap px={first * rowPx} />
        {items.slice(first, last).map((item, index) => (
          <div
            key={keyOf(item)}
            role="row"
            class={isChosen?.(item) === true ? 'row chosen' : 'row'}
            aria-rowindex={first + index + 2}
          >
            {columns.map(({ title, width, show }) => (
              <span key={title} role="cell" class={width}>
                {show(item)}
              </span>
            ))}
          </div>
        ))}
        <Gap px={(items.length - last) * rowPx} />
      </div>
    </div>
  )
}

function Gap({ px }: { readonly px: number }) {
  return <div aria-hidden="true" class="gap" style={{ height: `${String(px)}px` }} />
}
