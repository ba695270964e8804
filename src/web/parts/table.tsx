/** A table that is short enough to be in the document as a whole. One that is too wide is scrolled by itself. */

import type { ComponentChildren } from 'preact'

export interface TableColumn<T> {
  readonly title: string
  readonly show: (item: T) => ComponentChildren
  /** It names the row. */
  readonly isName?: boolean
}

interface TableProps<T> {
  readonly label: string
  readonly items: readonly T[]
  readonly columns: readonly TableColumn<T>[]
  readonly keyOf: (item: T) => string
}

export function Table<T>({ label, items, columns, keyOf }: TableProps<T>) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ title, show, isName }) =>
                isName === true ? (
                  <th key={title} scope="row">
                    {show(item)}
                  </th>
                ) : (
                  <td key={title}>{show(item)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
