/** When the attempts of a run waited and worked, and which of them made it take as long as it did. Pure. */

import type { Run, Task } from '../../parts/run-state.ts'

export interface TimelineRow {
  readonly task: Task
  /** In milliseconds; an attempt that has not ended goes on until now. */
  readonly scheduledMs: number
  /** `undefined`: it still waits. */
  readonly startedMs: number | undefined
  readonly endMs: number
  readonly isOpen: boolean
  /** Not the first of its task: it stands below that one. */
  readonly isFurther: boolean
  readonly isCritical: boolean
}

export interface Timeline {
  readonly fromMs: number
  readonly toMs: number
  readonly rows: readonly TimelineRow[]
}

type Span = Omit<TimelineRow, 'isFurther' | 'isCritical'>

/** `undefined` where no task has a time. */
export function readTimeline(run: Pick<Run, 'tasks' | 'graph'>, nowMs: number): Timeline | undefined {
  const spans = run.tasks.map((task) => spanOf(task, nowMs)).filter((span) => span !== undefined)
  if (spans.length === 0) return undefined
  const critical = criticalPath(spans, run.graph.edges)
  const rows = lanesOf(spans).flatMap((lane) =>
    lane.map((span, index): TimelineRow => {
      return { ...span, isFurther: index > 0, isCritical: critical.has(span.task.id) }
    }),
  )
  return {
    fromMs: Math.min(...spans.map(({ scheduledMs }) => scheduledMs)),
    toMs: Math.max(...spans.map(({ endMs }) => endMs)),
    rows,
  }
}

function spanOf(task: Task, nowMs: number): Span | undefined {
  const { scheduled_at: scheduled, started_at: started, ended_at: ended } = task
  const from = scheduled ?? started
  if (from === undefined) return undefined
  const scheduledMs = Date.parse(from)
  const isOpen = ended === undefined
  return {
    ...{ task, scheduledMs, isOpen },
    startedMs: started === undefined ? undefined : Date.parse(started),
    endMs: Math.max(scheduledMs, isOpen ? nowMs : Date.parse(ended)),
  }
}

/** The attempts of one task together, tasks in the order in which they were first scheduled. */
function lanesOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const lanes = new Map<string, Span[]>()
  for (const span of spans) {
    const lane = lanes.get(span.task.reference_name)
    if (lane === undefined) lanes.set(span.task.reference_name, [span])
    else lane.push(span)
  }
  const ordered = [...lanes.values()].map((lane) => lane.sort((one, other) => one.task.seq - other.task.seq))
  return ordered.sort(([one], [other]) => {
    if (one === undefined || other === undefined) return 0
    return one.scheduledMs - other.scheduledMs || one.task.seq - other.task.seq
  })
}

/** Of clocks that are read at different places. */
const TOLERANCE_MS = 5

/** From what ended last back to the beginning: each time to what was waited for longest. */
function criticalPath(spans: readonly Span[], edges: Run['graph']['edges']): ReadonlySet<string> {
  const before = nodesBefore(edges, new Set(spans.map(({ task }) => task.node)))
  const path = new Set<string>()
  let at = latest(spans)
  while (at !== undefined && !path.has(at.task.id)) {
    const { task, scheduledMs } = at
    path.add(task.id)
    const earlier = spans.filter(
      (span) => span.task.id !== task.id && !span.isOpen && span.endMs <= scheduledMs + TOLERANCE_MS,
    )
    const attempts = earlier.filter(({ task: { reference_name: name } }) => name === task.reference_name)
    const nodes = before.get(task.node)
    const waitedFor = nodes === undefined ? [] : earlier.filter((span) => nodes.has(span.task.node))
    // Of a graph that is not known, whatever ended last before it.
    const candidates = attempts.length > 0 ? attempts : edges.length === 0 ? earlier : waitedFor
    at = latest(candidates)
  }
  return path
}

function latest(spans: readonly Span[]): Span | undefined {
  return spans.reduce<Span | undefined>(
    (last, span) => (last === undefined || span.endMs > last.endMs ? span : last),
    undefined,
  )
}

/** The nodes before each node that have tasks; through those that have none. */
function nodesBefore(
  edges: Run['graph']['edges'],
  withTasks: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const direct = new Map<string, string[]>()
  for (const { from, to } of edges) direct.set(to, [...(direct.get(to) ?? []), from])
  const collect = (node: string, found: Set<string>, seen: Set<string>): Set<string> => {
    for (const from of direct.get(node) ?? []) {
      if (seen.has(from)) continue
      seen.add(from)
      if (withTasks.has(from)) found.add(from)
      else collect(from, found, seen)
    }
    return found
  }
  return new Map([...withTasks].map((node) => [node, collect(node, new Set(), new Set())]))
}

const STEPS_MS = [
  ...[10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].map((s) => s * 1_000),
]
const TICKS_MAX = 6

/** Round lengths of time since the beginning, for the axis. */
export function ticksOf(lengthMs: number): readonly number[] {
  const days = 86_400_000
  const stepMs =
    STEPS_MS.find((step) => lengthMs / step <= TICKS_MAX) ?? Math.ceil(lengthMs / TICKS_MAX / days) * days
  return Array.from({ length: Math.floor(lengthMs / stepMs) + 1 }, (_, index) => index * stepMs)
}
