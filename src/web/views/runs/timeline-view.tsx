/** The timeline of a run: an attempt a row. */

import { useMemo } from 'preact/hooks'
import { Empty } from '../../parts/problem.tsx'
import { Rows, type Column } from '../../parts/rows.tsx'
import { kindOf, showState, State } from '../../parts/state.tsx'
import { showLength, useNow } from '../../parts/time.tsx'
import { addressOf, replaceQuery, route } from '../../route.ts'
import { isRunOpen, type Run } from '../../parts/run-state.ts'
import { readTimeline, ticksOf, type Timeline, type TimelineRow } from './timeline.ts'

const ENDED_MS = 3_600_000

export function TimelineOf({ run }: { readonly run: Run }) {
  const now = useNow(isRunOpen(run) ? 1_000 : ENDED_MS)
  const timeline = useMemo(() => readTimeline(run, now), [run, now])
  if (timeline === undefined)
    return (
      <Empty run="npx perago doctor">
        No task has a time yet. If that stays so, see whether a worker polls:
      </Empty>
    )
  const isCritical = route.value.query['only'] === 'critical'
  const rows = isCritical ? timeline.rows.filter((row) => row.isCritical) : timeline.rows
  return (
    <>
      <p class="bar timeline-key">
        <Key part="wait" /> waits for a worker <Key part="work" /> works <Key part="critical" /> ◆ on the
        critical path: what the run waited for
        <button
          type="button"
          aria-pressed={isCritical}
          onClick={() => replaceQuery({ only: isCritical ? undefined : 'critical' })}
        >
          Only the critical path
        </button>
      </p>
      <Rows
        label="Timeline"
        items={rows}
        columns={columnsOf(run.id, timeline)}
        keyOf={({ task }) => task.id}
      />
    </>
  )
}

function Key({ part }: { readonly part: 'wait' | 'work' | 'critical' }) {
  return (
    <svg class="bars kind-good" width="34" height="22" viewBox="0 0 34 22" aria-hidden="true">
      {part === 'wait' && <rect class="bar-wait" x={2} y={8} width={30} height={6} />}
      {part === 'work' && <rect class="bar-work" x={2} y={4} width={30} height={14} />}
      {part === 'critical' && <rect class="bar-critical" x={2} y={18} width={30} height={3} />}
    </svg>
  )
}

function columnsOf(run: string, timeline: Timeline): readonly Column<TimelineRow>[] {
  return [
    {
      title: 'Task',
      width: 'w-name',
      show: ({ task: { id, reference_name: name, retry }, isFurther, isCritical }) => (
        <a href={addressOf(['runs', run, 'tasks', id])} class={isFurther ? 'further' : ''}>
          {isCritical && <span aria-label="critical">◆ </span>}
          {isFurther ? `try ${String(retry + 1)}` : name}
        </a>
      ),
    },
    { title: 'State', width: 'w-state w-optional', show: ({ task }) => <State state={task.status} /> },
    {
      title: 'Time',
      width: 'w-bars',
      head: <Axis timeline={timeline} />,
      show: (row) => <Bars row={row} timeline={timeline} />,
    },
    { title: 'Took', width: 'w-number', show: ({ scheduledMs, endMs }) => showLength(endMs - scheduledMs) },
  ]
}

const WIDTH = 1_000

function placeIn({ fromMs, toMs }: Timeline): (ms: number) => number {
  return (ms) => ((ms - fromMs) / Math.max(1, toMs - fromMs)) * WIDTH
}

function Axis({ timeline }: { readonly timeline: Timeline }) {
  const lengthMs = timeline.toMs - timeline.fromMs
  return (
    <span class="axis">
      {ticksOf(lengthMs)
        .filter((tick) => tick < lengthMs * 0.93)
        .map((tick) => (
          <span key={tick} style={{ left: `${String((tick / Math.max(1, lengthMs)) * 100)}%` }}>
            {tick === 0 ? '0' : showLength(tick)}
          </span>
        ))}
    </span>
  )
}

/** At least so wide that it can be seen. */
const NARROWEST = 3

function Bars({ row, timeline }: { readonly row: TimelineRow; readonly timeline: Timeline }) {
  const { task, scheduledMs, startedMs, endMs, isCritical } = row
  const at = placeIn(timeline)
  const lengthMs = timeline.toMs - timeline.fromMs
  const [begin, middle, end] = [at(scheduledMs), at(startedMs ?? endMs), at(endMs)]
  return (
    <svg
      class={`bars kind-${kindOf(task.status)}`}
      viewBox={`0 0 ${String(WIDTH)} 22`}
      preserveAspectRatio="none"
      role="img"
      aria-label={tellRow(row)}
    >
      <title>{tellRow(row)}</title>
      {ticksOf(lengthMs).map((tick) => (
        <line
          key={tick}
          class="tick"
          x1={(tick / Math.max(1, lengthMs)) * WIDTH}
          x2={(tick / Math.max(1, lengthMs)) * WIDTH}
          y1={0}
          y2={22}
        />
      ))}
      <rect class="bar-wait" x={begin} y={8} width={Math.max(0, middle - begin)} height={6} />
      {startedMs !== undefined && (
        <rect class="bar-work" x={middle} y={4} width={Math.max(NARROWEST, end - middle)} height={14} />
      )}
      {isCritical && (
        <rect class="bar-critical" x={begin} y={19} width={Math.max(NARROWEST, end - begin)} height={3} />
      )}
    </svg>
  )
}

function tellRow({ task, scheduledMs, startedMs, endMs, isCritical }: TimelineRow): string {
  const waited = showLength((startedMs ?? endMs) - scheduledMs)
  const worked = startedMs === undefined ? 'not started' : `worked ${showLength(endMs - startedMs)}`
  const path = isCritical ? ', on the critical path' : ''
  return `${task.reference_name}: ${showState(task.status)}, waited ${waited}, ${worked}${path}`
}
