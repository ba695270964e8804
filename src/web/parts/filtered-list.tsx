/** A long list, newest first, kept fresh, and narrowed by a text and by states that stand in the address. */

import type { ComponentChildren } from 'preact'
import { replaceQuery, type ViewProps } from '../route.ts'
import { readChosen, StateChoice } from './choice.tsx'
import { useLiveList, type Page } from './live-list.ts'
import { Loading, Problem } from './problem.tsx'
import { Rows, type Column } from './rows.tsx'
import { SearchField } from './search-field.tsx'

/** What is asked for; what is not narrowed is left out. */
export interface ListQuestion<S, Text extends string> {
  readonly query: {
    readonly status: readonly S[]
    readonly limit: number
    readonly after?: string
  } & Readonly<Partial<Record<Text, string>>>
  readonly signal: AbortSignal
}

interface FilteredListProps<T, S extends string, Text extends string> {
  readonly title: string
  readonly query: ViewProps['query']
  readonly states: readonly S[]
  readonly text: {
    /** Its name in the address, and in what is asked for. */
    readonly name: Text
    readonly label: string
    readonly placeholder: string
    /** Offered while typing. */
    readonly optionOf?: (item: T) => string
  }
  readonly load: (question: ListQuestion<S, Text>) => Promise<Page<T>>
  readonly columns: readonly Column<T>[]
  readonly keyOf: (item: T) => string
  /** What there is in it, and where else one finds something. */
  readonly note?: ComponentChildren
  /** Stands beside the text. */
  readonly aside?: ComponentChildren
  readonly empty: (isFiltered: boolean) => ComponentChildren
}

const PAGE = 100

export function FilteredList<T, S extends string, Text extends string>(props: FilteredListProps<T, S, Text>) {
  const { title, query, states, text, load, columns, keyOf, note, aside, empty } = props
  const status = readChosen(query['state'], states)
  const wanted = query[text.name] ?? ''
  const { items, error, hasMore, isLoading, more } = useLiveList<T>(
    (after, signal) => {
      const narrowed = {
        ...{ status, limit: PAGE },
        ...(wanted !== '' && { [text.name]: wanted }),
        ...(after !== undefined && { after }),
      } as ListQuestion<S, Text>['query']
      return load({ query: narrowed, signal })
    },
    [title, status, wanted],
    keyOf,
  )
  const { optionOf } = text
  return (
    <>
      <h1>{title}</h1>
      {note !== undefined && <p class="faint">{note}</p>}
      <div class="bar">
        <SearchField
          label={text.label}
          value={wanted}
          placeholder={text.placeholder}
          options={optionOf === undefined ? [] : [...new Set(items.map(optionOf))]}
          find={(found) => replaceQuery({ [text.name]: found === '' ? undefined : found })}
        />
        {aside}
        <StateChoice
          states={states}
          chosen={status}
          choose={(chosen) => replaceQuery({ state: chosen.length === 0 ? undefined : chosen.join(',') })}
        />
      </div>
      <Problem error={error} />
      {items.length > 0 ? (
        <Rows label={title} {...{ items, columns, keyOf }} more={hasMore ? more : undefined} />
      ) : isLoading ? (
        <Loading />
      ) : (
        error === undefined && empty(status.length > 0 || wanted !== '')
      )}
    </>
  )
}
