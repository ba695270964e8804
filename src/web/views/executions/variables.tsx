/** The variables of an execution, and what was written to one of them. */

import { get, unlessGone, type Schemas } from '../../api.ts'
import { usePages } from '../../load.ts'
import { Beside } from '../../parts/beside.tsx'
import { showShort } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows, type Column } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { addressOf, replaceQuery, type ViewProps } from '../../route.ts'
import { VariableCard } from './variable-card.tsx'

type Variable = Schemas['Variable']
const SPACES = ['', 'shared.', 'pipeline.input.', 'pipeline.output.', 'system.'] as const
const SPACE_TITLES: Readonly<Record<(typeof SPACES)[number], string>> = {
  '': 'All',
  'shared.': 'Shared',
  'pipeline.input.': 'Inputs',
  'pipeline.output.': 'Outputs',
  'system.': 'System',
}

interface VariablesProps {
  readonly id: string
  readonly query: ViewProps['query']
  readonly isEnded: boolean
  /** What changes an execution may change its variables. */
  readonly updatedAt?: string
}

export function Variables({ id, query, isEnded, updatedAt }: VariablesProps) {
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
    ['variables', id, prefix, updatedAt],
  )
  return (
    <>
      <Filter prefix={prefix} />
      <Problem error={unlessGone(error)} />
      <Beside detail={name !== undefined && <VariableCard key={name} {...{ id, name, isEnded }} />}>
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
