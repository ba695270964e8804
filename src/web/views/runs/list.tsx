import { get, type Schemas } from '../../api.ts'
import { Branch } from '../../parts/data-links.tsx'
import { FilteredList } from '../../parts/filtered-list.tsx'
import { Empty } from '../../parts/problem.tsx'
import { readReason, shortenIds } from '../../parts/reason.ts'
import type { Column } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { showLength, Time } from '../../parts/time.tsx'
import { addressOf, type ViewProps } from '../../route.ts'
import { session } from '../../session.ts'

type Workflow = Schemas['Workflow']
const STATES: readonly Schemas['WorkflowStatus'][] = [
  ...(['RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'TERMINATED'] as const),
]

const COLUMNS: readonly Column<Workflow>[] = [
  {
    title: 'Workflow',
    width: 'w-name',
    show: ({ id, name }) => <a href={addressOf(['runs', id])}>{name}</a>,
  },
  {
    title: 'State',
    width: 'w-state',
    show: ({ status, reason }) => <State state={status} title={reason} />,
  },
  { title: 'Started', width: 'w-time', show: ({ started_at: at }) => <Time at={at} /> },
  {
    title: 'Took',
    width: 'w-number w-optional',
    show: ({ started_at: from, ended_at: to }) =>
      from !== undefined && to !== undefined && showLength(Date.parse(to) - Date.parse(from)),
  },
  {
    title: 'Branch',
    width: 'w-name w-optional',
    show: ({ repository, branch }) =>
      repository !== undefined && branch !== undefined && <Branch {...{ repository, branch }} />,
  },
  {
    title: 'Reason',
    width: 'w-text w-optional',
    show: ({ reason }) => reason !== undefined && shortenIds(readReason(reason).what),
  },
  {
    title: 'Id',
    width: 'w-id w-optional',
    show: ({ id, correlation_id: correlation }) => (
      <code title={correlation ?? id}>{(correlation ?? id).slice(0, 12)}</code>
    ),
  },
]

export function RunList({ query }: Pick<ViewProps, 'query'>) {
  return (
    <FilteredList
      title="Runs"
      query={query}
      states={STATES}
      note={<Note />}
      text={{ name: 'search', label: 'Search', placeholder: 'name or id' }}
      load={async (question) => {
        const { workflows, next_after: next } = await get('/workflows', question)
        return { items: workflows, next }
      }}
      columns={COLUMNS}
      keyOf={({ id }) => id}
      empty={(isFiltered) => <NoRuns isFiltered={isFiltered} />}
    />
  )
}

function Note() {
  return (
    <>
      What workers did for each start of a workflow: tasks, attempts, logs, publications.
      {session.value?.shows.includes('executions') === true && (
        <>
          {' '}
          Its events, variables and checkpoints are under <a href={addressOf(['executions'])}>Executions</a>.
        </>
      )}
    </>
  )
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty>
        No workflow is like this. <a href={addressOf(['runs'])}>Show all</a>
      </Empty>
    )
  return (
    <Empty run="npx perago workflow start NAME --repo REPOSITORY --branch main">
      No workflow has run yet. Start one:
    </Empty>
  )
}
