/** One attempt of a task. */

import { Commit } from '../../parts/data-links.tsx'
import { Id } from '../../parts/copy.tsx'
import { Fact, Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Empty } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { showLength, Time, useNow } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { session } from '../../session.ts'
import { LogOf } from './log.tsx'
import { PublicationOf } from './publication.tsx'
import { Remedies } from '../../parts/remedies.tsx'
import { failedPublicationOf } from '../../parts/failed-publications.ts'
import type { Run, Task } from '../../parts/run-state.ts'
import { StepTable } from './step-table.tsx'

interface TaskPageProps {
  readonly run: Run
  readonly id: string
}

export function TaskPage({ run, id }: TaskPageProps) {
  const task = run.tasks.find((one) => one.id === id)
  if (task === undefined)
    return (
      <Empty>
        There is no task {id} in this run. <a href={addressOf(['runs', run.id, 'tasks'])}>Its tasks</a>
      </Empty>
    )
  const { publication } = task
  const failed = failedPublicationOf(run, task)
  return (
    <>
      <h1>
        {task.reference_name} <State state={task.status} />
      </h1>
      <TaskFacts run={run} task={task} />
      <Attempts run={run} task={task} />
      <TaskFailure task={task} />
      {failed !== undefined && <Remedies publications={[failed]} />}
      <div class="columns">
        <div>
          <h2>Steps</h2>
          <Steps task={task} />
          <StepTable task={task} />
          {publication !== undefined && <PublicationOf task={task} publication={publication} />}
        </div>
        <LogOf run={run.id} task={task} />
      </div>
      <div class="columns">
        <section>
          <h2>Input</h2>
          <JsonTree value={task.input ?? {}} label="Input" />
        </section>
        <section>
          <h2>Output</h2>
          <JsonTree value={task.output ?? {}} label="Output" />
        </section>
      </div>
    </>
  )
}

function TaskFacts({ run, task }: { readonly run: Run; readonly task: Task }) {
  const hasExecutions = session.value?.shows.includes('executions') === true
  const { id, name, kind, retry, iteration, worker, child_id: child, publication } = task
  return (
    <Facts>
      <Fact name="Type">{kind === 'SIMPLE' ? name : kind}</Fact>
      <Fact name="Try">{retry + 1}</Fact>
      {iteration > 0 && <Fact name="Iteration">{iteration}</Fact>}
      {worker !== undefined && <Fact name="Worker">{worker}</Fact>}
      {publication?.commit !== undefined && (
        <Fact name="Commit">
          <Commit repository={publication.repository} id={publication.commit} />
        </Fact>
      )}
      {child !== undefined && (
        <Fact name="Runs">
          <a href={addressOf(['runs', child])}>the workflow {child.slice(0, 8)}</a>
        </Fact>
      )}
      {hasExecutions && (
        <Fact name="Unit">
          <a href={addressOf(['executions', run.id, 'units', task.reference_name])}>
            events and result of the unit
          </a>
        </Fact>
      )}
      <Fact name="Id">
        <Id id={id} digits={36} />
      </Fact>
    </Facts>
  )
}

function Attempts({ run, task }: { readonly run: Run; readonly task: Task }) {
  const all = run.tasks.filter((one) => one.reference_name === task.reference_name)
  if (all.length < 2) return null
  return (
    <nav class="bar" aria-label="Tries">
      {all.map((one) => (
        <a
          key={one.id}
          href={addressOf(['runs', run.id, 'tasks', one.id])}
          aria-current={one.id === task.id ? 'page' : undefined}
        >
          Try {one.retry + 1} <State state={one.status} />
        </a>
      ))}
    </nav>
  )
}

/** A new attempt has the reason of the one before it until it has its own. */
function TaskFailure({ task: { status, reason, code } }: { readonly task: Task }) {
  if (status === 'COMPLETED' || status === 'SKIPPED') return null
  if (status !== 'SCHEDULED' && status !== 'IN_PROGRESS') return <Failure reason={reason} code={code} />
  if (reason === undefined) return null
  return (
    <details>
      <summary>Why the try before it failed</summary>
      <Failure reason={reason} code={code} />
    </details>
  )
}

const OPEN_MS = 1_000
const ENDED_MS = 3_600_000

function Steps({ task }: { readonly task: Task }) {
  const { scheduled_at: scheduled, started_at: started, ended_at: ended } = task
  const now = useNow(ended === undefined ? OPEN_MS : ENDED_MS)
  const lengthOf = (from: string | undefined, to: string | undefined): string =>
    from === undefined
      ? ''
      : showLength(Math.max(0, (to === undefined ? now : Date.parse(to)) - Date.parse(from)))
  const isWaiting = scheduled !== undefined && started === undefined && ended === undefined
  return (
    <ol class="steps">
      <Step name="Scheduled" at={scheduled}>
        {isWaiting
          ? `waits for a worker for ${lengthOf(scheduled, undefined)}`
          : lengthOf(scheduled, started ?? ended) && `waited ${lengthOf(scheduled, started ?? ended)}`}
      </Step>
      <Step name="Started" at={started}>
        {started !== undefined &&
          (ended === undefined
            ? `works for ${lengthOf(started, undefined)}`
            : `worked ${lengthOf(started, ended)}`)}
      </Step>
      <Step name="Ended" at={ended}>
        {task.retried && 'another try took over'}
      </Step>
    </ol>
  )
}

function Step({
  name,
  at,
  children,
}: {
  readonly name: string
  readonly at: string | undefined
  readonly children: string | false
}) {
  return (
    <li class={at === undefined ? 'step-open' : 'step-done'}>
      <span aria-hidden="true">{at === undefined ? '○' : '●'}</span> <strong>{name}</strong> <Time at={at} />{' '}
      <span class="faint">{children}</span>
    </li>
  )
}
