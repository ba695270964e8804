/** What was written to a variable, the latest first. */

import { get, unlessGone } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { describeValue, describeWriter, type VariableWrite } from './describe-write.ts'

interface VariableHistoryProps {
  readonly id: string
  readonly name: string
  readonly everyMs: number | undefined
}

export function VariableHistory({ id, name, everyMs }: VariableHistoryProps) {
  const path = { execution_id: id, name }
  const { data, error } = useLoaded(
    (signal) => get('/executions/{execution_id}/variables/{name}/history', { path, signal }),
    ['history', id, name],
    { everyMs },
  )
  return (
    <>
      <h3>History</h3>
      <Problem error={unlessGone(error)} />
      {data !== undefined && (
        <ol class="seen" aria-label="What was written, the latest first">
          {data.writes.map((write) => (
            <li key={`${write.at ?? ''} ${String(write.revision ?? write.kind)}`}>
              <Write write={write} name={name} />
            </li>
          ))}
        </ol>
      )}
      {data?.may_lack === true && <p class="faint">Earlier writes may have been left out.</p>}
    </>
  )
}

function Write({ write, name }: { readonly write: VariableWrite; readonly name: string }) {
  const line = (
    <>
      <Time at={write.at} /> <code>{describeValue(write)}</code> {describeWriter(write)}
      {write.withheld === true && <span class="faint"> · parts that look like a secret are left out</span>}
    </>
  )
  if (write.kind === 'removed' || write.bytes !== undefined) return <p>{line}</p>
  return (
    <details>
      <summary>{line}</summary>
      <JsonTree value={write.value} label={`Earlier value of ${name}`} />
    </details>
  )
}
