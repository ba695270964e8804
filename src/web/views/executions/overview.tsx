/** The units of an execution: their graph, and a table. */

import { useMemo } from 'preact/hooks'
import { get } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { GraphView } from '../../parts/graph/graph-view.tsx'
import { Loading, Problem } from '../../parts/problem.tsx'
import { readReason, shortenIds } from '../../parts/reason.ts'
import { Rows, type Column } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import type { Execution } from './execution-state.ts'
import { drawExecution } from './execution-graph.ts'

type Unit = Execution['plan_units'][number]

export function Overview({ execution }: { readonly execution: Execution }) {
  const { execution_id: id, version, run, name, plan_units: units } = execution
  const { data, error, reload } = useLoaded(
    (signal) => get('/executions/{execution_id}/graph', { path: { execution_id: id }, signal }),
    ['graph', id, version, run],
  )
  const graph = useMemo(
    () => data && drawExecution(data.graph, units, (unit) => addressOf(['executions', id, 'units', unit])),
    [data, units],
  )
  return (
    <>
      <Problem error={error} retry={reload} />
      {graph !== undefined ? (
        <GraphView label={`Graph of ${name}`} graph={graph} />
      ) : (
        error === undefined && <Loading />
      )}
      <h2>Units</h2>
      <Rows label="Units" items={units} columns={columnsOf(id)} keyOf={({ id: unit }) => unit} />
    </>
  )
}

function columnsOf(id: string): readonly Column<Unit>[] {
  return [
    {
      title: 'Unit',
      width: 'w-name',
      show: ({ id: unit }) => <a href={addressOf(['executions', id, 'units', unit])}>{unit}</a>,
    },
    { title: 'State', width: 'w-state', show: ({ status }) => <State state={status} /> },
    { title: 'Started', width: 'w-time w-optional', show: ({ started_at: at }) => <Time at={at} /> },
    { title: 'Tries', width: 'w-short', show: ({ attempts }) => attempts },
    {
      title: 'Last failure',
      width: 'w-text w-optional',
      show: ({ reason }) => reason !== undefined && shortenIds(readReason(reason).what),
    },
  ]
}
