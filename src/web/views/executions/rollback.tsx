/** A rollback: how far back, what would move, and what follows. */

import { useState } from 'preact/hooks'
import { post, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Loading, Problem } from '../../parts/problem.tsx'
import type { Execution } from './execution-state.ts'
import { ReasonField } from '../../parts/reason-field.tsx'
import { PreviewOf } from './preview.tsx'
import { LEVELS, scopeOf, type Chosen, type Level } from './rollback-scope.ts'

type Then = Schemas['Rollback']['then']
const THEN: Readonly<Record<Then, string>> = {
  continue: 'it runs on from there',
  pause: 'it waits there, paused',
  end: 'it ends there',
}

interface RollBackProps {
  readonly execution: Execution
  readonly onDone: () => void
  /** Where it is offered for one checkpoint. */
  readonly checkpoint?: string
}

export function RollBack({ execution, onDone, checkpoint }: RollBackProps) {
  const [chosen, choose] = useState<Chosen>(
    checkpoint === undefined ? { level: 'last-good', name: '' } : { level: 'checkpoint', name: checkpoint },
  )
  const [then, setThen] = useState<Then>('pause')
  const [reason, setReason] = useState('')
  const [isAllowed, setAllowed] = useState(false)
  const path = { execution_id: execution.execution_id }
  const scope = scopeOf(chosen)
  const run = (): Promise<unknown> => {
    const body = { ...scope, then, ...(reason !== '' && { reason }) }
    return post('/executions/{execution_id}/rollback', { path, body })
  }
  return (
    <Confirm act="Roll back" isGrave isReady={isAllowed} onDone={onDone} run={run}>
      <div class="rollback">
        {checkpoint === undefined ? (
          <Scope {...{ execution, chosen, choose }} />
        ) : (
          <p>
            Back to the checkpoint <code>{checkpoint}</code>.
          </p>
        )}
        <label>
          Then{' '}
          <select value={then} onChange={(event) => setThen(event.currentTarget.value as Then)}>
            {Object.entries(THEN).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <ReasonField reason={reason} setReason={setReason} />
        <h3>What it would do</h3>
        {scope === undefined ? (
          <p class="faint">Choose first what goes back.</p>
        ) : (
          <Preview id={execution.execution_id} scope={scope} allow={setAllowed} />
        )}
      </div>
    </Confirm>
  )
}

interface ScopeProps {
  readonly execution: Execution
  readonly chosen: Chosen
  readonly choose: (chosen: Chosen) => void
}

function Scope({ execution, chosen: { level, name }, choose }: ScopeProps) {
  const names = namesOf(execution, level)
  return (
    <p class="bar">
      <label>
        Back{' '}
        <select
          value={level}
          onChange={(event) => {
            const next = event.currentTarget.value as Level
            choose({ level: next, name: namesOf(execution, next)[0] ?? '' })
          }}
        >
          {Object.entries(LEVELS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {level === 'phase' ? (
        <label>
          Phase <input value={name} onInput={(event) => choose({ level, name: event.currentTarget.value })} />
        </label>
      ) : (
        names.length > 0 && (
          <select
            aria-label={level === 'checkpoint' ? 'Checkpoint' : 'Unit'}
            value={name}
            onChange={(event) => choose({ level, name: event.currentTarget.value })}
          >
            {names.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )
      )}
    </p>
  )
}

/** The newest checkpoint first; units as they are written. */
function namesOf({ plan_units: units, checkpoints, phase }: Execution, level: Level): readonly string[] {
  if (level === 'checkpoint') return checkpoints.map(({ checkpoint_id: id }) => id).reverse()
  if (level === 'unit' || level === 'artifact') return units.map(({ id }) => id)
  return level === 'phase' && phase !== undefined ? [phase] : []
}

export function Preview({
  id,
  scope,
  allow,
}: {
  readonly id: string
  readonly scope: Schemas['RollbackScope']
  readonly allow?: (isAllowed: boolean) => void
}) {
  const { data, error, reload } = useLoaded(
    async (signal) => {
      allow?.(false)
      const path = { execution_id: id }
      const preview = await post('/executions/{execution_id}/rollback/preview', { path, body: scope, signal })
      allow?.(preview.refusals.length === 0)
      return preview
    },
    [id, scope],
  )
  if (error !== undefined) return <Problem error={error} retry={reload} />
  return data === undefined ? <Loading /> : <PreviewOf preview={data} />
}
