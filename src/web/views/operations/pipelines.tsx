/** What is registered to be run, and when its schedules start it. */

import { ApiError, get, post, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { mayOperate } from '../../session.ts'

const EVERY_MS = 30_000
const SHOWN = 200

type Pipeline = Schemas['RegisteredPipeline']
type Schedule = Schemas['Schedule']

export function Pipelines() {
  const { data, error, reload } = useLoaded(load, [], { everyMs: EVERY_MS })
  // A server without an engine has other things to show.
  if (error instanceof ApiError && error.code === 'api/no-engine') return null
  return (
    <section aria-labelledby="pipelines">
      <h2 id="pipelines">Pipelines</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.pipelines.length === 0 ? (
        <Empty run="npx perago dev tasks.ts daily.yaml">
          None is registered. Name the files of pipelines at the start, or register them:
        </Empty>
      ) : (
        <Table
          label="Table of pipelines"
          items={data.pipelines}
          columns={columnsOf(data.schedules, reload)}
          keyOf={({ name, version }) => `${name} ${String(version)}`}
        />
      )}
      {data?.isCut === true && <p class="faint">There are more than are shown.</p>}
    </section>
  )
}

async function load(signal: AbortSignal) {
  const query = { limit: SHOWN }
  const [registered, scheduled] = await Promise.all([
    get('/pipelines', { query, signal }),
    get('/schedules', { query, signal }),
  ])
  const isCut = registered.next_after !== undefined || scheduled.next_after !== undefined
  return { pipelines: registered.pipelines, schedules: scheduled.schedules, isCut }
}

function columnsOf(schedules: readonly Schedule[], reload: () => void): readonly TableColumn<Pipeline>[] {
  return [
    {
      title: 'Pipeline',
      isName: true,
      show: ({ name }) => <a href={addressOf(['executions'], { name })}>{name}</a>,
    },
    { title: 'Version', show: ({ version }) => version },
    {
      title: 'Schedules',
      show: ({ name }) => {
        const own = schedules.filter(({ pipeline }) => pipeline === name)
        if (own.length === 0) return <span class="faint">none</span>
        return own.map((schedule) => <ScheduleItem key={schedule.name} {...{ schedule, reload }} />)
      },
    },
    { title: 'To start it', show: ({ name }) => <code>npx perago workflow start {name}</code> },
  ]
}

function ScheduleItem({ schedule, reload }: { readonly schedule: Schedule; readonly reload: () => void }) {
  const { pipeline, name, cron, time_zone: zone, paused, next_at: next, last } = schedule
  return (
    <div>
      {paused ? <State state="paused" /> : <State state="active" />} {name}: <code>{cron}</code>{' '}
      <span class="faint">{zone}</span>
      {next !== undefined && (
        <>
          , next <Time at={next} />
        </>
      )}
      {last !== undefined && (
        <>
          , last <Time at={last.at} />{' '}
          {last.execution_id !== undefined && (
            <a href={addressOf(['executions', last.execution_id])}>{last.execution_id.slice(0, 8)}</a>
          )}
          {last.problem !== undefined && <span class="faint">started nothing: {last.problem}</span>}
        </>
      )}{' '}
      {mayOperate() && <Switch {...{ pipeline, name, paused, reload }} />}
    </div>
  )
}

function Switch({
  pipeline,
  name,
  paused,
  reload,
}: Pick<Schedule, 'pipeline' | 'name' | 'paused'> & { readonly reload: () => void }) {
  const path = { name: pipeline, schedule: name }
  if (paused)
    return (
      <Confirm
        act="Resume"
        onDone={reload}
        run={() => post('/pipelines/{name}/schedules/{schedule}/resume', { path })}
      >
        <p>
          {name} starts {pipeline} again, from its next time on.
        </p>
      </Confirm>
    )
  return (
    <Confirm
      act="Pause"
      onDone={reload}
      run={() => post('/pipelines/{name}/schedules/{schedule}/pause', { path })}
    >
      <p>The times of {name} pass without a start, until it is resumed. What runs goes on.</p>
    </Confirm>
  )
}
