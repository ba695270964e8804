/** Whether all that is needed is there, who works, and what could not be delivered. */

import { get } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { showsRecoveries, toRecovery } from '../../parts/recovery.tsx'
import { useSectionInSight } from '../../parts/section-in-sight.ts'
import { State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import type { ViewProps } from '../../route.ts'
import { session } from '../../session.ts'
import { Pipelines } from './pipelines.tsx'
import { Pollers } from './pollers.tsx'
import { Recover } from './recover.tsx'
import { Store } from './store.tsx'
import { Webhooks } from './webhooks.tsx'
import { Workers } from './workers.tsx'
import './operations.css'

const EXAMINE_MS = 30_000

export function OperationsView({ parts, query }: ViewProps) {
  const shows: readonly string[] = session.value?.shows ?? []
  useSectionInSight(query['at'])
  if (parts[0] === 'recover') return <Recover {...query} />
  return (
    <>
      <h1>Operations</h1>
      {shows.includes('examination') && <Examination />}
      {shows.includes('workers') && <Workers />}
      {shows.includes('workflows') && <Pollers />}
      {shows.includes('executions') && <Pipelines />}
      {shows.includes('store') && <Store />}
      {shows.includes('executions') && <Webhooks />}
      {!shows.includes('workflows') && !shows.includes('executions') && (
        <Empty run="npx perago ui">
          This server shows data alone. With the Conductor that is configured there is more:
        </Empty>
      )}
    </>
  )
}

function Examination() {
  const { data, error, at, reload } = useLoaded((signal) => get('/examination', { signal }), [], {
    everyMs: EXAMINE_MS,
  })
  return (
    <section aria-labelledby="examined">
      <h2 id="examined">Checks</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <ul class="checks">
          {data.checks.map(({ name, state, text, next }) => (
            <li key={name}>
              <State state={state} />
              <strong>
                <CheckName name={name} />
              </strong>
              <span class="said">{text}</span>
              {next !== undefined && <span class="next">→ {next}</span>}
            </li>
          ))}
        </ul>
      )}
      {at !== undefined && (
        <p class="faint">
          Looked <Ago at={at} />
        </p>
      )}
    </section>
  )
}

/** `branch lake/main` leads to what can be done about it. */
function CheckName({ name }: { readonly name: string }) {
  const [, repository, branch] = /^branch ([^/]+)\/(.+)$/.exec(name) ?? []
  if (repository === undefined || branch === undefined || !showsRecoveries()) return <>{name}</>
  return <a href={toRecovery({ repository, branch })}>{name}</a>
}
