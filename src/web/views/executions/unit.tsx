/** One unit of an execution. */

import { useState } from 'preact/hooks'
import { get, post } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Branch, Commit, workspaceOf } from '../../parts/data-links.tsx'
import { Fact, Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import type { Task } from '../../parts/run-state.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { readReason } from '../../parts/reason.ts'
import { State } from '../../parts/state.tsx'
import { Told } from '../../parts/told.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { mayOperate, session } from '../../session.ts'
import type { Execution } from './execution-state.ts'
import { ReasonField } from '../../parts/reason-field.tsx'

interface UnitPageProps {
  readonly execution: Execution
  readonly unit: string
  readonly reload: () => void
}

type Unit = Execution['plan_units'][number]

export function UnitPage({ execution, unit: name, reload }: UnitPageProps) {
  const unit = execution.plan_units.find(({ id }) => id === name)
  const task = useLatestTask(execution, unit)
  const isLeftOut = execution.left_out?.includes(`plan_units.${name}.result`) === true
  if (unit === undefined)
    return <Empty>There is no unit “{name}” in it yet: an iteration of a loop is there once it begins.</Empty>
  return (
    <section aria-label={`Unit ${name}`}>
      <h2>
        Unit {name} <State state={unit.status} />
      </h2>
      <UnitFacts id={execution.execution_id} unit={unit} task={task} />
      {!isSaidAbove(execution, unit) && <Failure reason={unit.reason} />}
      {unit.status === 'EXECUTING' && task?.kind === 'HUMAN' && (
        <p>It waits until somebody completes or fails it.</p>
      )}
      {mayOperate() && unit.status === 'EXECUTING' && task?.kind !== 'SIMPLE' && (
        <Complete {...{ execution, unit: name, reload }} />
      )}
      <div class="columns">
        <section>
          <h3>Result</h3>
          {isLeftOut ? (
            <Empty>It is too large for this answer; look at the variables {name}.….</Empty>
          ) : unit.result === undefined ? (
            <Empty>There is one once the unit is complete.</Empty>
          ) : (
            <JsonTree value={unit.result} label={`Result of ${name}`} />
          )}
        </section>
        <UnitEvents id={execution.execution_id} unit={name} status={unit.status} />
      </div>
    </section>
  )
}

/** The execution that failed by it tells the same reason. */
function isSaidAbove(execution: Execution, { reason }: Unit): boolean {
  const { reason: above } = execution
  return above !== undefined && reason !== undefined && readReason(above).what === readReason(reason).what
}

interface UnitFactsProps {
  readonly id: string
  readonly unit: Unit
  readonly task: Task | undefined
}

function UnitFacts({ id, unit, task }: UnitFactsProps) {
  const { attempts, started_at: at, result, child_execution_id: child } = unit
  const published = workspaceOf(result)
  return (
    <Facts>
      <Fact name="Tries">{attempts}</Fact>
      <Fact name="Last started">
        <Time at={at} />
      </Fact>
      {task?.kind === 'SIMPLE' && (
        <Fact name="Task">
          <a href={addressOf(['runs', id, 'tasks', task.id])}>log, steps and publication</a>
        </Fact>
      )}
      {child !== undefined && (
        <Fact name="Runs">
          <a href={addressOf(['executions', child])}>the execution {child.slice(0, 8)}</a>
        </Fact>
      )}
      {published !== undefined && (
        <Fact name="Passes on">
          <Branch {...published} /> at <Commit repository={published.repository} id={published.ref} />
        </Fact>
      )}
    </Facts>
  )
}

/** Of its latest attempt, where this server shows tasks. */
function useLatestTask({ execution_id: id }: Execution, unit: Unit | undefined): Task | undefined {
  const { id: name, attempts = 0 } = unit ?? {}
  const isShown = attempts > 0 && session.value?.shows.includes('workflows') === true
  const { data } = useLoaded(
    (signal) =>
      isShown
        ? get('/workflows/{workflow_id}', { path: { workflow_id: id }, signal })
        : Promise.resolve(undefined),
    ['task of unit', id, name, attempts, isShown],
  )
  return data?.tasks.findLast(({ reference_name: of }) => of === name)
}

function UnitEvents({
  id,
  unit,
  status,
}: {
  readonly id: string
  readonly unit: string
  readonly status: string
}) {
  const query = { type: [`${unit}.**`], limit: 100 }
  const { data, error } = useLoaded(
    (signal) => get('/executions/{execution_id}/events', { path: { execution_id: id }, query, signal }),
    ['unit events', id, unit, status],
  )
  return (
    <section>
      <h3>Events</h3>
      <Problem error={error} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <ol class="unit-events">
          {data.events.map(({ sequence, type, timestamp, payload }) => (
            <li key={sequence}>
              <Time at={timestamp} />{' '}
              <a href={addressOf(['executions', id, 'events'], { event: String(sequence) })}>{type}</a>{' '}
              <span class="faint">
                {typeof payload['reason'] === 'string' && <Told text={payload['reason']} />}
              </span>
            </li>
          ))}
        </ol>
      )}
      <p>
        <a href={addressOf(['executions', id, 'events'], { type: `${unit}.**` })}>All events of {unit}</a>
      </p>
    </section>
  )
}

/** Units that wait for somebody; the server refuses others. */
function Complete({ execution, unit, reload }: UnitPageProps) {
  const [reason, setReason] = useState('')
  const path = { execution_id: execution.execution_id, unit }
  const end = (body: {
    readonly status: 'COMPLETED' | 'FAILED'
    readonly reason?: string
  }): Promise<unknown> =>
    post('/executions/{execution_id}/units/{unit}/complete', { path, body: { ...body, output: {} } })
  return (
    <div class="bar" role="group" aria-label="Decide">
      <Confirm act="Complete" onDone={reload} run={() => end({ status: 'COMPLETED' })}>
        <p>
          A unit that waits for somebody, or for a time, ends as complete, without an output; what depends on
          it may start.
        </p>
      </Confirm>
      <Confirm
        act="Fail"
        isGrave
        onDone={reload}
        run={() => end({ status: 'FAILED', ...(reason !== '' && { reason }) })}
      >
        <p>
          A unit that waits for somebody, or for a time, ends as failed, and with it the execution, unless it
          is optional.
        </p>
        <ReasonField reason={reason} setReason={setReason} />
      </Confirm>
    </div>
  )
}
