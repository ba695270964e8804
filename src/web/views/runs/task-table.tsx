import { Empty } from '../../parts/problem.tsx'
import { readReason } from '../../parts/reason.ts'
import { Rows, type Column } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { showLength, Time } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import type { Run, Task } from '../../parts/run-state.ts'

/** Every attempt, in the order in which they were scheduled. */
export function TaskTable({ run }: { readonly run: Run }) {
  if (run.tasks.length === 0)
    return (
      <Empty run="npx perago doctor">
        It has no tasks yet. If that stays so, see whether a worker polls:
      </Empty>
    )
  return <Rows label="Tasks" items={run.tasks} columns={columnsOf(run.id)} keyOf={({ id }) => id} />
}

function columnsOf(run: string): readonly Column<Task>[] {
  return [
    {
      title: 'Task',
      width: 'w-name',
      show: ({ id, reference_name: name }) => <a href={addressOf(['runs', run, 'tasks', id])}>{name}</a>,
    },
    { title: 'State', width: 'w-state', show: ({ status }) => <State state={status} /> },
    { title: 'Try', width: 'w-short', show: ({ retry }) => retry + 1 },
    {
      title: 'Type',
      width: 'w-name w-optional',
      show: ({ kind, name }) => (kind === 'SIMPLE' ? name : kind),
    },
    { title: 'Started', width: 'w-time w-optional', show: ({ started_at: at }) => <Time at={at} /> },
    {
      title: 'Waited',
      width: 'w-number w-optional',
      show: (task) => between(task.scheduled_at, task.started_at),
    },
    {
      title: 'Worked',
      width: 'w-number w-optional',
      show: (task) => between(task.started_at, task.ended_at),
    },
    {
      title: 'What became of it',
      width: 'w-text w-optional',
      show: (task) => <span class="faint">{tellEnd(task)}</span>,
    },
  ]
}

function between(from: string | undefined, to: string | undefined): string {
  return from === undefined || to === undefined ? '' : showLength(Date.parse(to) - Date.parse(from))
}

function tellEnd({ reason, publication, status }: Task): string {
  if (status !== 'COMPLETED' && reason !== undefined) return readReason(reason).what
  const { outcome, branch } = publication ?? {}
  return outcome === undefined || branch === undefined ? '' : `${outcome}: ${branch}`
}
