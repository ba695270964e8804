/** The worker processes of the server's machine, as they last wrote of themselves. */

import { get, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { nameStep } from '../../parts/step-names.ts'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { Told } from '../../parts/told.tsx'
import { Ago, showLength, showSize, useNow } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { session } from '../../session.ts'
import { isLate, isThere } from './worker-signs.ts'

const EVERY_MS = 3_000

type Worker = Schemas['Worker']

export function Workers() {
  const { data, error, reload } = useLoaded((signal) => get('/workers', { signal }), [], {
    everyMs: EVERY_MS,
  })
  return (
    <section aria-labelledby="workers">
      <h2 id="workers">Workers of this machine</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.workers.length === 0 ? (
        <Empty run="npx perago start tasks.ts">
          No worker runs below the root that this server looks at; --root names another one. To start one:
        </Empty>
      ) : (
        <>
          <Table
            label="Table of workers"
            items={data.workers}
            columns={COLUMNS}
            keyOf={({ worker_id }) => worker_id}
          />
          {data.workers.map((worker) => (
            <WorkerDetails key={worker.worker_id} worker={worker} />
          ))}
        </>
      )}
      {data?.whole === false && <p class="faint">There are more workers than are shown.</p>}
    </section>
  )
}

const COLUMNS: readonly TableColumn<Worker>[] = [
  {
    title: 'Worker',
    isName: true,
    show: ({ index, pid, worker_id }) => (
      <>
        <span title={worker_id}>{index}</span> <span class="faint">process {pid}</span>
      </>
    ),
  },
  { title: 'State', show: ({ state }) => <State state={state} title={MEANING[state]} /> },
  { title: 'Slots', show: ({ slots }) => `${String(slots.taken)} of ${String(slots.limit)}` },
  { title: 'Last polled', show: ({ polls }) => polls.map((poll) => <Poll key={poll.task_type} {...poll} />) },
  { title: 'Files from the cache', show: ({ files }) => showFiles(files) },
  { title: 'Wrote', show: ({ written_at }) => <Ago at={written_at} /> },
]

function Poll({ task_type, succeeded_at, held }: Worker['polls'][number]) {
  return (
    <div>
      <code>{task_type}</code>{' '}
      {succeeded_at === undefined ? <span class="faint">not yet</span> : <Ago at={succeeded_at} />}
      {held && (
        <>
          {' '}
          <State state="paused" title="Not polled because of an outage" />
        </>
      )}
    </div>
  )
}

const MEANING: Readonly<Partial<Record<Worker['state'], string>>> = {
  silent: 'It has written nothing for 30 seconds: it hangs, or cannot write its disk',
  gone: 'Its process has ended without a farewell',
}

function showFiles({ cached, cached_bytes, fetched, warm_directories }: Worker['files']) {
  const all = cached + fetched
  const taken = warm_directories === 0 ? '' : `, ${String(warm_directories)} directories reused`
  return all === 0 && taken === '' ? '–' : `${cached} of ${all}, ${showSize(cached_bytes)}${taken}`
}

/** What it does, what keeps it from more, and what went wrong. */
function WorkerDetails({ worker }: { readonly worker: Worker }) {
  const { index, state, attempts, outages, ended, oldest_result_at } = worker
  if (attempts.length + outages.length + ended.length === 0 && oldest_result_at === undefined) return null
  return (
    <article class="card worker" aria-label={`Worker ${String(index)}`}>
      {!isThere(state) && (
        <p class="faint">
          Worker {index} is {state}. What was known of it last:
        </p>
      )}
      {outages.map(({ what, why, since }) => (
        <p key={what}>
          <State state="warn" /> <strong>{what}</strong> {why}, since <Ago at={since} />
        </p>
      ))}
      {oldest_result_at !== undefined && (
        <p>
          <State state="waiting" /> A result waits for the queue to take it, written{' '}
          <Ago at={oldest_result_at} />
        </p>
      )}
      {attempts.length > 0 && (
        <Table
          label={`Attempts of worker ${String(index)}`}
          items={attempts}
          columns={attemptColumns(worker)}
          keyOf={({ task_id, attempt }) => `${task_id} ${String(attempt)}`}
        />
      )}
      {ended.length > 0 && (
        <details>
          <summary>
            {ended.length} {ended.length === 1 ? 'attempt' : 'attempts'} of worker {index} did not succeed
            lately
          </summary>
          <ul class="dead">
            {ended.map((each) => (
              <li key={`${each.task_id} ${each.at}`}>
                <State state={each.outcome} /> <Ago at={each.at} /> <TaskLink {...each} />:{' '}
                <Told text={each.why} /> {each.code !== undefined && <code>{each.code}</code>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </article>
  )
}

const attemptColumns = (worker: Worker): readonly TableColumn<Worker['attempts'][number]>[] => [
  { title: 'Attempt', show: (attempt) => <TaskLink {...attempt} /> },
  { title: 'Last step done', show: ({ step }) => nameStep(step) },
  { title: 'Running', show: ({ started_at }) => <Since at={started_at} /> },
  { title: 'Age of its lease', show: (attempt) => <Lease attempt={attempt} worker={worker} /> },
]

interface TaskLinkProps {
  readonly task_id: string
  readonly workflow_id: string
  readonly task_type: string
  readonly attempt: number
}

function TaskLink({ task_id, workflow_id, task_type, attempt }: TaskLinkProps) {
  const name = <code>{task_type}</code>
  const shows: readonly string[] = session.value?.shows ?? []
  return (
    <>
      {shows.includes('workflows') ? (
        <a href={addressOf(['runs', workflow_id, 'tasks', task_id])}>{name}</a>
      ) : (
        name
      )}
      {attempt > 0 && `, try ${String(attempt + 1)}`}
    </>
  )
}

function Since({ at }: { readonly at: string }) {
  const now = useNow(1_000)
  return <>{showLength(Math.max(0, now - Date.parse(at)))}</>
}

function Lease({
  attempt,
  worker,
}: {
  readonly attempt: Worker['attempts'][number]
  readonly worker: Worker
}) {
  return (
    <>
      {showLength(Math.max(0, Date.parse(worker.written_at) - Date.parse(attempt.renewed_at)))}{' '}
      <span class="faint">of {showLength(attempt.lease_ms)}</span>{' '}
      {isThere(worker.state) && isLate(attempt, worker) && (
        <State state="warn" title="It was not renewed in time: the task is given to another worker" />
      )}
    </>
  )
}
