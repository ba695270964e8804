/** What an operator may do with a run, and what each will do. */

import { useState } from 'preact/hooks'
import { post } from '../../api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { ReasonField } from '../../parts/reason-field.tsx'
import { mayOperate } from '../../session.ts'
import { isRunOpen, type Run } from '../../parts/run-state.ts'

interface OperationsProps {
  readonly run: Run
  readonly onDone: () => void
}

const OPEN: readonly string[] = ['SCHEDULED', 'IN_PROGRESS']

export function Operations({ run, onDone }: OperationsProps) {
  if (!mayOperate()) return null
  const { id, status, tasks } = run
  const path = { workflow_id: id }
  const isOpen = isRunOpen(run)
  const failed = tasks.filter((task) => !task.retried && /^FAILED|^TIMED_OUT|^CANCELED/.test(task.status))
  return (
    <div class="bar" role="group" aria-label="Operations">
      {status === 'RUNNING' && (
        <Confirm act="Pause" onDone={onDone} run={() => post('/workflows/{workflow_id}/pause', { path })}>
          <p>No further task is handed out. Those in progress go on, and their results count.</p>
        </Confirm>
      )}
      {status === 'PAUSED' && (
        <Confirm act="Resume" onDone={onDone} run={() => post('/workflows/{workflow_id}/resume', { path })}>
          <p>It goes on where it was paused: tasks that are ready are handed out.</p>
        </Confirm>
      )}
      {!isOpen && status !== 'COMPLETED' && (
        <Confirm act="Retry" onDone={onDone} run={() => post('/workflows/{workflow_id}/retry', { path })}>
          <p>
            {failed.length === 0 ? 'What failed last' : failed.map((task) => task.reference_name).join(', ')}{' '}
            gets a new attempt, with the input that it had. What has completed stays.
          </p>
          <p>
            After a refused publication this is refused again, since the input names the same commit: start a
            new run from the head of the branch then.
          </p>
        </Confirm>
      )}
      {isOpen && <Terminate {...{ run, onDone }} />}
    </div>
  )
}

function Terminate({ run: { id, tasks }, onDone }: OperationsProps) {
  const [reason, setReason] = useState('')
  const path = { workflow_id: id }
  const body = reason === '' ? {} : { reason }
  const open = tasks.filter(({ status }) => OPEN.includes(status))
  return (
    <Confirm
      act="Terminate"
      isGrave
      onDone={onDone}
      run={() => post('/workflows/{workflow_id}/terminate', { path, body })}
    >
      <p>
        The run ends.{' '}
        {open.length === 0
          ? 'No task is open.'
          : `${open.map((task) => task.reference_name).join(', ')} will be cancelled: what was not published is not published.`}{' '}
        What was published stays on its branches.
      </p>
      <ReasonField reason={reason} setReason={setReason} />
    </Confirm>
  )
}
