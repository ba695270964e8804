/** What an operator may do with an execution, and what each will do. */

import { useState } from 'preact/hooks'
import { post } from '../../api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { ReasonField } from '../../parts/reason-field.tsx'
import { mayOperate } from '../../session.ts'
import { isEnded, type Execution } from './execution-state.ts'
import { RollBack } from './rollback.tsx'

interface OperationsProps {
  readonly execution: Execution
  readonly onDone: () => void
}

export function Operations({ execution, onDone }: OperationsProps) {
  if (!mayOperate()) return null
  const { status, paused } = execution
  const path = { execution_id: execution.execution_id }
  const isOpen = !isEnded(execution)
  return (
    <div class="bar" role="group" aria-label="Operations">
      {isOpen && !paused && (
        <Confirm act="Pause" onDone={onDone} run={() => post('/executions/{execution_id}/pause', { path })}>
          <p>No further unit is handed out. Tasks in progress go on, and their results count.</p>
        </Confirm>
      )}
      {isOpen && paused && (
        <Confirm act="Resume" onDone={onDone} run={() => post('/executions/{execution_id}/resume', { path })}>
          <p>It goes on where it was paused: units that are ready are handed out.</p>
        </Confirm>
      )}
      {isEnded(execution) && status !== 'COMMIT' && (
        <Confirm act="Retry" onDone={onDone} run={() => post('/executions/{execution_id}/retry', { path })}>
          <p>
            What failed or was cancelled gets a new attempt, with the input that it had. What has completed
            stays; what was rolled back starts from the beginning.
          </p>
        </Confirm>
      )}
      <RollBack execution={execution} onDone={onDone} />
      {isOpen && <Cancel {...{ execution, onDone }} />}
      {status === 'ROLLBACK' && <Abandon {...{ execution, onDone }} />}
    </div>
  )
}

function Cancel({ execution, onDone }: OperationsProps) {
  const [reason, setReason] = useState('')
  const path = { execution_id: execution.execution_id }
  const query = reason === '' ? {} : { reason }
  return (
    <Confirm
      act="Cancel"
      isGrave
      onDone={onDone}
      run={() => post('/executions/{execution_id}/cancel', { path, query })}
    >
      <p>
        The execution ends, and its open tasks are taken from their workers: what they have not published is
        not published. What was published stays on its branches. It can be tried again.
      </p>
      <ReasonField reason={reason} setReason={setReason} />
    </Confirm>
  )
}

function Abandon({ execution, onDone }: OperationsProps) {
  const [reason, setReason] = useState('')
  const path = { execution_id: execution.execution_id }
  return (
    <Confirm
      act="Give the rollback up"
      isGrave
      isReady={reason !== ''}
      onDone={onDone}
      run={() => post('/executions/{execution_id}/rollback/abandon', { path, body: { reason } })}
    >
      <p>
        For a rollback that cannot end: branches stay where they are now, some moved and some not, and the
        execution is ended as it is.
      </p>
      <ReasonField reason={reason} setReason={setReason} />
    </Confirm>
  )
}
