import { get, type Schemas } from '../../api.ts'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { Empty } from '../../parts/problem.tsx'
import type { Column } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { addressOf, goTo, type ViewProps } from '../../route.ts'
import { session } from '../../session.ts'

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
  return (
    <FilteredList
      title="Executions"
      query={query}
      states={STAGES}
      text={{ name: 'name', label: 'Pipeline', placeholder: 'orders.daily', optionOf: ({ name }) => name }}
      load={async (question) => {
        const { executions, next_after: next } = await get('/executions', question)
        return { items: executions, next }
      }}
      columns={COLUMNS}
      keyOf={({ execution_id: id }) => id}
      note={<Note />}
      aside={
        <SearchField
          label="Open by id"
          value=""
          isSearch={false}
          find={(id) => id !== '' && goTo(addressOf(['executions', id]))}
        />
      }
      empty={(isFiltered) => <NoExecutions isFiltered={isFiltered} />}
    />
  )
}

function Note() {
  return (
    <>
      What the engine knows of each start of a{' '}
      <a href={addressOf(['operations'], { at: 'pipelines' })}>pipeline</a>: units, events, variables,
      checkpoints.
      {session.value?.shows.includes('workflows') === true && (
        <>
          {' '}
          Its attempts, logs and publications are under <a href={addressOf(['runs'])}>Runs</a>.
        </>
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
