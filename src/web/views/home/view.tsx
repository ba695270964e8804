/** First what needs a person, then what runs, then what changed today. */

import { get, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { Told } from '../../parts/told.tsx'
import { Ago, Time } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { session } from '../../session.ts'
import { loadChanges, type Change } from './changes.ts'
import { loadConcerns, type Concern } from './concerns.ts'
import './home.css'

const EVERY_MS = 5_000
const RUNNING_SHOWN = 50

export function HomeView() {
  const shows: readonly string[] = session.value?.shows ?? []
  return (
    <>
      <h1>Now</h1>
      <section aria-labelledby="concerns">
        <h2 id="concerns">Needs a person</h2>
        <Concerns shows={shows} />
      </section>
      <section aria-labelledby="running">
        <h2 id="running">Running</h2>
        <Running shows={shows} />
      </section>
      {shows.includes('repositories') && (
        <section aria-labelledby="changed">
          <h2 id="changed">Changed today</h2>
          <Changes />
        </section>
      )}
    </>
  )
}

function Concerns({ shows }: { readonly shows: readonly string[] }) {
  const { data, error } = useLoaded((signal) => loadConcerns(shows, signal), [shows], { everyMs: EVERY_MS })
  if (data === undefined) return error === undefined ? <Loading /> : <Problem error={error} />
  if (data.length === 0)
    return (
      <p>
        <State state="ok" /> Nothing needs a person.
      </p>
    )
  return (
    <ul class="concerns">
      {data.map((concern) => (
        <ConcernItem key={concern.key} concern={concern} />
      ))}
    </ul>
  )
}

function ConcernItem({ concern }: { readonly concern: Concern }) {
  const { kind, what, why, code, next, at, to } = concern
  return (
    <li class={`concern concern-${kind}`}>
      <p>
        <State state={kind === 'bad' ? 'fail' : 'warn'} />{' '}
        <strong>{to === undefined ? what : <a href={to}>{what}</a>}</strong>{' '}
        {at !== undefined && (
          <span class="faint">
            <Ago at={at} />
          </span>
        )}
      </p>
      {why !== '' && (
        <p class="why">
          <Told text={why} /> {code !== undefined && <code>{code}</code>}
        </p>
      )}
      {next !== undefined && (
        <p class="next">
          → <Told text={next} />
        </p>
      )}
    </li>
  )
}

interface Run {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly since: string | undefined
  readonly branch: string | undefined
  readonly to: string
}

const OPEN_STAGES = ['PENDING', 'SCHEDULING', 'EXECUTING', 'VERIFYING', 'ROLLBACK'] as const

async function loadRunning(shows: readonly string[], signal: AbortSignal): Promise<readonly Run[]> {
  const query = { limit: RUNNING_SHOWN }
  if (shows.includes('workflows')) {
    const page = await get('/workflows', { query: { ...query, status: ['RUNNING', 'PAUSED'] }, signal })
    return page.workflows.map(ofWorkflow)
  }
  if (!shows.includes('executions')) return []
  const { executions } = await get('/executions', { query: { ...query, status: OPEN_STAGES }, signal })
  return executions.map(({ execution_id: id, name, status, paused, started_at }) => ({
    ...{ id, name, state: paused ? 'paused' : status, since: started_at, branch: undefined },
    to: addressOf(['executions', id]),
  }))
}

function ofWorkflow({ id, name, status, started_at, repository, branch }: Schemas['Workflow']): Run {
  const on = repository === undefined ? branch : `${repository}/${branch ?? ''}`
  return { id, name, state: status, since: started_at, branch: on, to: addressOf(['runs', id]) }
}

function Running({ shows }: { readonly shows: readonly string[] }) {
  const { data, error } = useLoaded((signal) => loadRunning(shows, signal), [shows], { everyMs: EVERY_MS })
  if (data === undefined) return error === undefined ? <Loading /> : <Problem error={error} />
  if (data.length === 0)
    return (
      <Empty run="npx perago workflow start NAME --repo REPOSITORY --branch main">
        Nothing runs. To start a workflow:
      </Empty>
    )
  return <Table label="What runs" items={data} columns={RUN_COLUMNS} keyOf={({ id }) => id} />
}

const RUN_COLUMNS: readonly TableColumn<Run>[] = [
  { title: 'Run', show: ({ name, to }) => <a href={to}>{name}</a> },
  { title: 'State', show: ({ state }) => <State state={state} /> },
  { title: 'Since', show: ({ since }) => (since === undefined ? '–' : <Ago at={since} />) },
  { title: 'Branch', show: ({ branch }) => branch ?? '–' },
  { title: 'Id', show: ({ id }) => <Id id={id} /> },
]

function Changes() {
  const { data, error } = useLoaded(loadChanges, [], { everyMs: 3 * EVERY_MS })
  if (data === undefined) return error === undefined ? <Loading /> : <Problem error={error} />
  if (data.length === 0)
    return (
      <Empty run="npx perago run TASK FILE --repo REPOSITORY --branch main">
        No commit was made today. To run a task:
      </Empty>
    )
  return (
    <ul class="changes">
      {data.map((change) => (
        <ChangeItem key={`${change.repository}/${change.id}`} change={change} />
      ))}
    </ul>
  )
}

function ChangeItem({ change }: { readonly change: Change }) {
  const { repository, branch, id, message, at, workflow, task } = change
  return (
    <li>
      <Time at={at} />
      <a href={addressOf(['data', repository, 'branches', branch])}>
        {repository}/{branch}
      </a>
      <a class="message" href={addressOf(['data', repository, 'commits', id])}>
        {message}
      </a>
      {task !== undefined && workflow !== undefined && (
        <span class="faint">
          {task} of <a href={addressOf(['runs', workflow])}>{workflow.slice(0, 8)}</a>
        </span>
      )}
    </li>
  )
}
