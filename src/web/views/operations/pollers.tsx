/** Which tasks wait, and who asks for them. */

import { get, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

const EVERY_MS = 3_000

export function Pollers() {
  const { data, error, reload } = useLoaded((signal) => get('/pollers', { signal }), [], {
    everyMs: EVERY_MS,
  })
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.pollers.length === 0 ? (
        <Empty run="npx perago start tasks.ts">
          No task waits, and nobody has asked for one yet. To start a worker:
        </Empty>
      ) : (
        <Table
          label="Table of queues"
          items={data.pollers}
          columns={COLUMNS}
          keyOf={({ task_type, domain }) => `${task_type} ${domain ?? ''}`}
        />
      )}
      {data?.whole === false && <p class="faint">There are more task types than are shown.</p>}
    </section>
  )
}

type Poller = Schemas['Pollers']['pollers'][number]

const COLUMNS: readonly TableColumn<Poller>[] = [
  { title: 'Task', show: ({ task_type }) => <code>{task_type}</code> },
  { title: 'Domain', show: ({ domain }) => domain ?? '–' },
  { title: 'Waiting', show: ({ waiting }) => waiting },
  {
    title: 'State',
    show: ({ nobody_polls }) =>
      nobody_polls ? (
        <State state="fail" title="Tasks wait, and nobody asks for them" />
      ) : (
        <State state="ok" />
      ),
  },
  {
    title: 'Last asked for',
    show: ({ polls }) =>
      polls.length === 0 ? (
        <span class="faint">never</span>
      ) : (
        polls.map(({ worker, last_polled_at, domain }) => (
          <div key={`${worker ?? ''} ${domain ?? ''}`}>
            <Ago at={last_polled_at} /> <span class="faint">{worker}</span>
          </div>
        ))
      ),
  },
]
