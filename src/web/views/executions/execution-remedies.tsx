import { useEffect, useState } from 'preact/hooks'
import { get } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { failedPublicationsOf } from '../../parts/failed-publications.ts'
import { Remedies } from '../../parts/remedies.tsx'
import { hasRunFailed } from '../../parts/run-state.ts'
import { session } from '../../session.ts'
import type { Execution } from './execution-state.ts'

const TASKS_LOOK_MS = 1_000

/** What may be done about an execution that failed. Which repositories it worked on is known of its tasks. */
export function ExecutionRemedies({ execution }: { readonly execution: Execution }) {
  const { execution_id: id, status, run, attempt } = execution
  const hasFailed = status === 'FAILED' || status === 'CANCELLED'
  const isKnown = hasFailed && session.value?.shows.includes('workflows') === true
  const [isSettled, setIsSettled] = useState(false)
  const { data, error } = useLoaded(
    (signal) =>
      isKnown
        ? get('/workflows/{workflow_id}', { path: { workflow_id: id }, signal })
        : Promise.resolve(undefined),
    ['remedies', id, isKnown, run, attempt],
    // The end of an execution may be told before its tasks are.
    { everyMs: isKnown && !isSettled ? TASKS_LOOK_MS : undefined },
  )
  useEffect(
    () => setIsSettled(error !== undefined || (data !== undefined && hasRunFailed(data))),
    [data, error],
  )
  // Where its tasks cannot be read, the checks say why.
  if (!hasFailed || (isKnown && data === undefined && error === undefined)) return null
  return <Remedies publications={data === undefined ? [] : failedPublicationsOf(data)} />
}
