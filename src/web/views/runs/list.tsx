import { get, type Schemas } from '../../api.ts'
import { readChosen, StateChoice } from '../../parts/choice.tsx'
import { Branch } from '../../parts/data-links.tsx'
import { useLiveList } from '../../parts/live-list.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { readReason } from '../../parts/reason.ts'
import { Rows, type Column } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { State } from '../../parts/state.tsx'
import { showLength, Time } from '../../parts/time.tsx'
import { addressOf, replaceQuery, type ViewProps } from '../../route.ts'

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
    show: ({ id, reason, correlation_id: correlation }) =>
      reason === undefined ? <code class="faint">{correlation ?? id}</code> : readReason(reason).what,
  },
]

export function RunList({ query }: Pick<ViewProps, 'query'>) {
  const status = readChosen(query['state'], STATES)
  const search = query['search'] ?? ''
  const { items, error, hasMore, isLoading, more } = useLiveList<Workflow>(
    async (after, signal) => {
      const asked = {
        status,
        limit: 100,
        ...(search !== '' && { search }),
        ...(after !== undefined && { after }),
      }
      const page = await get('/workflows', { query: asked, signal })
      return { items: page.workflows, next: page.next_after }
    },
    ['workflows', status, search],
    ({ id }) => id,
  )
  return (
    <>
      <h1>Runs</h1>
      <div class="bar">
        <SearchField
          label="Search"
          value={search}
          placeholder="name or id"
          find={(text) => replaceQuery({ search: text === '' ? undefined : text })}
        />
        <StateChoice
          states={STATES}
          chosen={status}
          choose={(chosen) => replaceQuery({ state: chosen.length === 0 ? undefined : chosen.join(',') })}
        />
      </div>
      <Problem error={error} />
      {items.length > 0 ? (
        <Rows
          label="Workflows"
          items={items}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          more={hasMore ? more : undefined}
        />
      ) : isLoading ? (
        <Loading />
      ) : (
        error === undefined && <NoRuns isFiltered={status.length > 0 || search !== ''} />
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
