/** The checkpoints of an execution, and where a rollback to one would move each branch. */

import { get, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Branch, Commit } from '../../parts/data-links.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf, type ViewProps } from '../../route.ts'
import { mayOperate } from '../../session.ts'
import { isEnded, type Execution } from './execution-state.ts'
import { Preview, RollBack } from './rollback.tsx'

type Checkpoint = Schemas['CheckpointState']

interface Snapshot {
  readonly finished_phases?: readonly string[]
  readonly branches?: readonly {
    readonly repository: string
    readonly branch: string
    readonly ref: string
  }[]
}

export interface CheckpointsProps {
  readonly execution: Execution
  readonly query: ViewProps['query']
  readonly reload: () => void
}

export function Checkpoints({ execution, query, reload }: CheckpointsProps) {
  const { execution_id: id, run, attempt } = execution
  const {
    data,
    error,
    reload: again,
  } = useLoaded(
    (signal) => get('/executions/{execution_id}/checkpoints', { path: { execution_id: id }, signal }),
    ['checkpoints', id, run, attempt, execution.checkpoints.length],
  )
  if (error !== undefined) return <Problem error={error} retry={again} />
  if (data === undefined) return <Loading />
  const checkpoints = data.checkpoints.toReversed()
  if (checkpoints.length === 0)
    return (
      <Empty>
        There is none. <code>perago dev</code> and <code>perago serve --engine</code> take one at the start
        and after each phase.
      </Empty>
    )
  const chosen = query['checkpoint'] ?? checkpoints[0]?.checkpoint_id
  return (
    <ol class="checkpoints" aria-label="Checkpoints, newest first">
      {checkpoints.map((checkpoint) => (
        <li key={checkpoint.checkpoint_id} class="card">
          <Head {...{ id, checkpoint }} />
          {checkpoint.checkpoint_id === chosen && (
            <>
              <h3>What a rollback to it would do{isEnded(execution) ? ', now that it has ended' : ''}</h3>
              <Preview id={id} scope={{ level: 'checkpoint', checkpoint_id: chosen }} />
              {mayOperate() && <RollBack execution={execution} checkpoint={chosen} onDone={reload} />}
            </>
          )}
        </li>
      ))}
    </ol>
  )
}

function Head({ id, checkpoint }: { readonly id: string; readonly checkpoint: Checkpoint }) {
  const { checkpoint_id: name, phase_id: phase, timestamp, state_snapshot: snapshot } = checkpoint
  const { finished_phases: finished = [], branches = [] } = (snapshot ?? {}) as Snapshot
  return (
    <>
      <h2>
        <a href={addressOf(['executions', id, 'checkpoints'], { checkpoint: name })}>
          {phase === 'start' ? 'At the start' : `After ${phase}`}
        </a>{' '}
        <Time at={timestamp} />
      </h2>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <code>{name}</code>
        </dd>
        <dt>Finished phases</dt>
        <dd>{finished.length === 0 ? 'none' : finished.join(', ')}</dd>
        <dt>Branches then</dt>
        <dd>
          {branches.length === 0 && 'none'}
          <ul class="plain">
            {branches.map(({ repository, branch, ref }) => (
              <li key={`${repository} ${branch}`}>
                <Branch {...{ repository, branch }} /> at <Commit {...{ repository, id: ref }} />
              </li>
            ))}
          </ul>
        </dd>
      </dl>
    </>
  )
}
