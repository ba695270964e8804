/** One variable: its value, and what was written to it. */

import { get, unlessGone } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Problem } from '../../parts/problem.tsx'
import { VariableHistory } from './variable-history.tsx'

const EVERY_MS = 3_000

interface VariableCardProps {
  readonly id: string
  readonly name: string
  readonly isEnded: boolean
}

export function VariableCard({ id, name, isEnded }: VariableCardProps) {
  const path = { execution_id: id, name }
  const everyMs = isEnded ? undefined : EVERY_MS
  const { data, error } = useLoaded(
    (signal) => get('/executions/{execution_id}/variables/{name}', { path, signal }),
    ['variable', id, name],
    { everyMs },
  )
  return (
    <section class="card" aria-label={`Variable ${name}`}>
      <h2>
        <code>{name}</code>
      </h2>
      <Problem error={unlessGone(error)} />
      {data !== undefined && <JsonTree value={data.value} label={`Value of ${name}`} />}
      <VariableHistory {...{ id, name, everyMs }} />
    </section>
  )
}
