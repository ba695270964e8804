/** One workflow: what it is, and its sides. */

import { useState } from 'preact/hooks'
import { get, unlessGone } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Branch } from '../../parts/data-links.tsx'
import { Fact, Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { showLength, Time, useNow } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { session } from '../../session.ts'
import { RunDrawing } from './drawing.tsx'
import { Operations } from './operations.tsx'
import { Remedies } from '../../parts/remedies.tsx'
import { failedPublicationsOf } from '../../parts/failed-publications.ts'
import { hasRunFailed, isRunOpen, type Run } from '../../parts/run-state.ts'
import { TaskPage } from './task.tsx'
import { TaskTable } from './task-table.tsx'
import { TimelineOf } from './timeline-view.tsx'

const TABS = [
  { name: '', title: 'Graph' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'tasks', title: 'Tasks' },
  { name: 'values', title: 'Input and output' },
]
const OPEN_MS = 2_000
const ENDED_MS = 15_000

interface RunPageProps {
  readonly id: string
  readonly side: string
  /** The id of a task. */
  readonly task: string | undefined
}

export function RunPage({ id, side, task }: RunPageProps) {
  const path = { workflow_id: id }
  const [everyMs, setEveryMs] = useState(OPEN_MS)
  const { data, error, reload } = useLoaded(
    async (signal) => {
      const run = await get('/workflows/{workflow_id}', { path, signal })
      // An ended one may be tried again by somebody else.
      setEveryMs(isRunOpen(run) ? OPEN_MS : ENDED_MS)
      return run
    },
    ['run', id],
    { everyMs },
  )
  const way = [{ text: 'Runs', to: addressOf(['runs']) }]
  if (data === undefined)
    return (
      <>
        <Crumbs way={[...way, { text: id.slice(0, 8) }]} />
        <h1>Run</h1>
        {error === undefined ? <Loading /> : <Problem error={error} retry={reload} />}
      </>
    )
  const here = `${data.name} ${id.slice(0, 8)}`
  const isTask = side === 'tasks' && task !== undefined
  const name = data.tasks.find((one) => one.id === task)?.reference_name
  return (
    <>
      <Crumbs
        way={[
          ...way,
          isTask ? { text: here, to: addressOf(['runs', id]) } : { text: here },
          ...(isTask ? [{ text: name ?? task }] : []),
        ]}
      />
      <Problem error={unlessGone(error)} />
      {isTask ? (
        <TaskPage key={task} run={data} id={task} />
      ) : (
        <>
          <Head run={data} reload={reload} />
          <Tabs at={['runs', id]} tabs={TABS} chosen={side} />
          <Side run={data} side={side} />
        </>
      )}
    </>
  )
}

function Head({ run, reload }: { readonly run: Run; readonly reload: () => void }) {
  return (
    <>
      <h1>
        {run.name} <State state={run.status} />
      </h1>
      <RunFacts run={run} />
      {run.status !== 'COMPLETED' && <Failure reason={run.reason} />}
      {hasRunFailed(run) && <Remedies publications={failedPublicationsOf(run)} />}
      <Operations run={run} onDone={reload} />
    </>
  )
}

function Side({ run, side }: { readonly run: Run; readonly side: string }) {
  if (side === '') return <RunDrawing run={run} />
  if (side === 'timeline') return <TimelineOf run={run} />
  if (side === 'tasks') return <TaskTable run={run} />
  if (side === 'values')
    return (
      <div class="columns">
        <section>
          <h2>Input</h2>
          <JsonTree value={run.input} label="Input" />
        </section>
        <section>
          <h2>Output</h2>
          <JsonTree value={run.output} label="Output" />
        </section>
      </div>
    )
  return <Empty>A run has no side “{side}”.</Empty>
}

function RunFacts({ run }: { readonly run: Run }) {
  const { id, version, started_at: from, ended_at: to, repository, branch, parent_id: parent } = run
  const hasExecutions = session.value?.shows.includes('executions') === true
  return (
    <Facts>
      <Fact name="Id">
        <Id id={id} digits={36} />
      </Fact>
      {version !== undefined && <Fact name="Version">{version}</Fact>}
      <Fact name="Started">
        <Time at={from} />
      </Fact>
      {from !== undefined && (
        <Fact name={to === undefined ? 'Running for' : 'Took'}>
          <Length {...{ from, to }} />
        </Fact>
      )}
      {run.correlation_id !== undefined && <Fact name="Correlation id">{run.correlation_id}</Fact>}
      {repository !== undefined && branch !== undefined && (
        <Fact name="Branch">
          <Branch {...{ repository, branch }} />
        </Fact>
      )}
      {parent !== undefined && (
        <Fact name="Run by">
          <a href={addressOf(['runs', parent])}>{parent.slice(0, 8)}</a>
        </Fact>
      )}
      {hasExecutions && (
        <Fact name="Execution">
          <a href={addressOf(['executions', id])}>events and checkpoints</a>
        </Fact>
      )}
    </Facts>
  )
}

/** Up to now where it has no end. */
function Length({ from, to }: { readonly from: string; readonly to: string | undefined }) {
  const now = useNow(to === undefined ? 1_000 : ENDED_MS)
  return <>{showLength(Math.max(0, (to === undefined ? now : Date.parse(to)) - Date.parse(from)))}</>
}
