/** Which tasks wait, and who asks for them. */

import { get, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'

const EVERY_MS = 3_000

export function Pollers() {
  const { data, error, reload } = useLoaded((signal) => get('/pollers', { signal }), [], {
    everyMs: EVERY_MS,
  })
  return (
    <section aria-labelledby="pollers">
      <h2 id="pollers">Queues</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.pollers.length === 0 ? (
        <Empty run="npx perago start tasks.ts">
          No task waits, and nobody has asked for one yet. To start a worker:
        </Empty>
      ) : (
        <PollerTable pollers={data.pollers} />
      )}
      {data?.whole === false && <p class="faint">There are more task types than are shown.</p>}
    </section>
  )
}

function PollerTable({ pollers }: { readonly pollers: Schemas['Pollers']['pollers'] }) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label="Table of queues">
      <table>
        <thead>
          <tr>
            {['Task', 'Domain', 'Waiting', 'State', 'Last asked for'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pollers.map(({ task_type, domain, waiting, nobody_polls, polls }) => (
            <tr key={`${task_type} ${domain ?? ''}`}>
              <td>
                <code>{task_type}</code>
              </td>
              <td>{domain ?? '–'}</td>
              <td>{waiting}</td>
              <td>
                {nobody_polls ? (
                  <State state="fail" title="Tasks wait, and nobody asks for them" />
                ) : (
                  <State state="ok" />
                )}
              </td>
              <td>
                {polls.length === 0 ? <span class="faint">never</span> : null}
                {polls.map(({ worker, last_polled_at, domain: of }) => (
                  <div key={`${worker ?? ''} ${of ?? ''}`}>
                    <Ago at={last_polled_at} /> <span class="faint">{worker}</span>
                  </div>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
