import { get, type Schemas } from '../../api.ts'
import { readChosen, StateChoice } from '../../parts/choice.tsx'
import { useLiveList } from '../../parts/live-list.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows, type Column } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf, replaceQuery, type ViewProps } from '../../route.ts'

type Summary = Schemas['ExecutionSummary']
const STAGES: readonly Schemas['Stage'][] = [
  ...([
    'PENDING',
    'SCHEDULING',
    'EXECUTING',
    'VERIFYING',
    'COMMIT',
    'ROLLBACK',
    'FAILED',
    'CANCELLED',
  ] as const),
]

const COLUMNS: readonly Column<Summary>[] = [
  {
    title: 'Pipeline',
    width: 'w-name',
    show: ({ execution_id, name }) => <a href={addressOf(['executions', execution_id])}>{name}</a>,
  },
  { title: 'State', width: 'w-state', show: (execution) => <Standing execution={execution} /> },
  { title: 'Started', width: 'w-time', show: ({ started_at }) => <Time at={started_at} /> },
  { title: 'Changed', width: 'w-time w-optional', show: ({ updated_at }) => <Time at={updated_at} /> },
  { title: 'Version', width: 'w-number w-optional', show: ({ version }) => version },
  { title: 'Id', width: 'w-text w-optional', show: ({ execution_id }) => <code>{execution_id}</code> },
]

/** Its stage, or that it is paused in it. */
export function Standing({ execution }: { readonly execution: Pick<Summary, 'paused' | 'status'> }) {
  const { paused, status } = execution
  return paused ? (
    <State state="paused" title={`paused while ${status.toLowerCase()}`} />
  ) : (
    <State state={status} />
  )
}

export function ExecutionList({ query }: Pick<ViewProps, 'query'>) {
  const status = readChosen(query['state'], STAGES)
  const name = query['name'] ?? ''
  const { items, error, hasMore, isLoading, more } = useLiveList<Summary>(
    async (after, signal) => {
      const asked = {
        ...{ status, limit: 100 },
        ...(name !== '' && { name }),
        ...(after !== undefined && { after }),
      }
      const page = await get('/executions', { query: asked, signal })
      return { items: page.executions, next: page.next_after }
    },
    ['executions', status, name],
    ({ execution_id }) => execution_id,
  )
  const isFiltered = status.length > 0 || name !== ''
  return (
    <>
      <h1>Executions</h1>
      <div class="bar">
        <SearchField
          label="Pipeline"
          value={name}
          placeholder="orders.daily"
          options={[...new Set(items.map((item) => item.name))]}
          find={(text) => replaceQuery({ name: text === '' ? undefined : text })}
        />
        <StateChoice
          states={STAGES}
          chosen={status}
          choose={(chosen) => replaceQuery({ state: chosen.length === 0 ? undefined : chosen.join(',') })}
        />
      </div>
      <Problem error={error} />
      {items.length > 0 ? (
        <Rows
          label="Executions"
          items={items}
          columns={COLUMNS}
          keyOf={({ execution_id }) => execution_id}
          more={hasMore ? more : undefined}
        />
      ) : isLoading ? (
        <Loading />
      ) : (
        error === undefined && <NoExecutions isFiltered={isFiltered} />
      )}
    </>
  )
}

function NoExecutions({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty>
        No execution is like this. <a href={addressOf(['executions'])}>Show all</a>
      </Empty>
    )
  return (
    <Empty run="npx perago run PIPELINE --repo REPOSITORY --branch main">
      Nothing has been executed yet, or it was swept. Start a pipeline:
    </Empty>
  )
}
