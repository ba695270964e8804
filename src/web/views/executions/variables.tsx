/** The variables of an execution, and what is known of how one came to its value. */

import { useEffect, useState } from 'preact/hooks'
import { get, unlessGone, type Schemas } from '../../api.ts'
import { useLoaded, usePages } from '../../load.ts'
import { Beside } from '../../parts/beside.tsx'
import { JsonTree, showShort } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows, type Column } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf, replaceQuery, type ViewProps } from '../../route.ts'
import { isEnded, type Execution } from './execution-state.ts'
import { addSeen, writersOf, type SeenValue } from './variable-history.ts'

type Variable = Schemas['Variable']
const SPACES = ['', 'shared.', 'pipeline.input.', 'pipeline.output.', 'system.'] as const
const SPACE_TITLES: Readonly<Record<(typeof SPACES)[number], string>> = {
  '': 'All',
  'shared.': 'Shared',
  'pipeline.input.': 'Inputs',
  'pipeline.output.': 'Outputs',
  'system.': 'System',
}
const EVERY_MS = 3_000

interface VariablesProps {
  readonly id: string
  readonly query: ViewProps['query']
  readonly execution: Execution
}

export function Variables({ id, query, execution }: VariablesProps) {
  const prefix = query['prefix'] ?? ''
  const name = query['name']
  const { items, error, hasMore, isLoading, more } = usePages<Variable>(
    async (after, signal) => {
      const asked = { prefix, limit: 200, ...(after !== undefined && { after }) }
      const page = await get('/executions/{execution_id}/variables', {
        ...{ path: { execution_id: id }, query: asked, signal },
      })
      return { items: page.variables, next: page.next_after }
    },
    // What changes an execution may change its variables.
    ['variables', id, prefix, execution.updated_at],
  )
  return (
    <>
      <Filter prefix={prefix} />
      <Problem error={unlessGone(error)} />
      <Beside detail={name !== undefined && <Chosen key={name} {...{ id, name, execution }} />}>
        {items.length > 0 ? (
          <Rows
            label="Variables"
            items={items}
            columns={columnsOf(id, query)}
            keyOf={(variable) => variable.name}
            isChosen={(variable) => variable.name === name}
            more={hasMore ? more : undefined}
          />
        ) : isLoading ? (
          <Loading />
        ) : (
          error === undefined && <NoVariables prefix={prefix} />
        )}
      </Beside>
    </>
  )
}

function Filter({ prefix }: { readonly prefix: string }) {
  return (
    <div class="bar">
      <SearchField
        label="Begins with"
        value={prefix}
        placeholder="ingest."
        find={(text) => replaceQuery({ prefix: text === '' ? undefined : text })}
      />
      <span class="tabs" role="group" aria-label="Namespaces">
        {SPACES.map((space) => (
          <button
            key={space}
            type="button"
            aria-pressed={prefix === space}
            onClick={() => replaceQuery({ prefix: space === '' ? undefined : space })}
          >
            {SPACE_TITLES[space]}
          </button>
        ))}
      </span>
    </div>
  )
}

function NoVariables({ prefix }: { readonly prefix: string }) {
  if (prefix === '') return <Empty>There are none.</Empty>
  if (prefix === 'shared.')
    return (
      <Empty>
        Nothing is shared: units put it there with a unit of the type “set”, or through the API of a plan.
      </Empty>
    )
  return <Empty>No variable begins with “{prefix}”.</Empty>
}

function columnsOf(id: string, query: ViewProps['query']): readonly Column<Variable>[] {
  return [
    {
      title: 'Name',
      width: 'w-name',
      show: ({ name }) => (
        <a
          href={addressOf(['executions', id, 'variables'], { ...query, name })}
          onClick={(event) => {
            event.preventDefault()
            replaceQuery({ name: query['name'] === name ? undefined : name })
          }}
        >
          {name}
        </a>
      ),
    },
    { title: 'Value', width: 'w-text', show: ({ value }) => <code>{showShort(value)}</code> },
  ]
}

function Chosen({
  id,
  name,
  execution,
}: {
  readonly id: string
  readonly name: string
  readonly execution: Execution
}) {
  const path = { execution_id: id, name }
  const [seen, setSeen] = useState<readonly SeenValue[]>([])
  const { data, error, at } = useLoaded(
    (signal) => get('/executions/{execution_id}/variables/{name}', { path, signal }),
    ['variable', id, name],
    { everyMs: isEnded(execution) ? undefined : EVERY_MS },
  )
  useEffect(() => {
    if (data !== undefined && at !== undefined) setSeen((before) => addSeen(before, data.value, at))
  }, [data])
  return (
    <section class="card" aria-label={`Variable ${name}`}>
      <h2>
        <code>{name}</code>
      </h2>
      <Problem error={unlessGone(error)} />
      {data !== undefined && <JsonTree value={data.value} label={`Value of ${name}`} />}
      <h3>History</h3>
      <p class="faint">The server keeps the present value. What is known besides:</p>
      <Written {...{ id, name, updatedAt: execution.updated_at }} />
      {seen.length > 1 && (
        <ol class="seen" aria-label="Values since this page was opened, newest first">
          {seen.map(({ value, at: when }) => (
            <li key={when}>
              <Time at={when} /> <code>{showShort(value)}</code>
            </li>
          ))}
        </ol>
      )}
      {seen.length <= 1 && <p>It has not changed since this page was opened.</p>}
    </section>
  )
}

/** When it was written, by the events with which that is done. */
function Written({
  id,
  name,
  updatedAt,
}: {
  readonly id: string
  readonly name: string
  readonly updatedAt: string
}) {
  const type = writersOf(name)
  const query = { type, limit: 20, order: 'descending' as const }
  const { data } = useLoaded(
    async (signal) =>
      type.length === 0
        ? { events: [] }
        : get('/executions/{execution_id}/events', { path: { execution_id: id }, query, signal }),
    ['written', id, name, updatedAt],
  )
  if (type.length === 0) return <p>Any unit may write it at any time, and no event tells of it.</p>
  return (
    <ol class="seen" aria-label="When it was written, newest first">
      {(data?.events ?? []).map(({ sequence, timestamp, type: of }) => (
        <li key={sequence}>
          <Time at={timestamp} /> written with{' '}
          <a href={addressOf(['executions', id, 'events'], { event: String(sequence) })}>{of}</a>
        </li>
      ))}
    </ol>
  )
}
