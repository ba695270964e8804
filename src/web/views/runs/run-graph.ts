/** The graph of a workflow, with the states of its tasks, to be drawn. Pure. */

import type { DrawnGraph, GraphEdge, GraphNode } from '../../parts/graph/graph.ts'
import type { Run, Task } from '../../parts/run-state.ts'

type Node = Run['graph']['nodes'][number]

export interface RunGraph extends DrawnGraph {
  /** Its definition is not known: the edges follow from when tasks ended and were scheduled. */
  readonly isGuessed: boolean
}

export function drawRun(
  run: Pick<Run, 'tasks' | 'graph'>,
  addressOf: (task: Task | undefined) => string,
): RunGraph {
  const { tasks, graph } = run
  const isGuessed = graph.nodes.length === 0
  const known = isGuessed ? guessNodes(tasks) : graph.nodes
  const byNode = groupByNode(tasks)
  const nodes = known.map((node): GraphNode => {
    const own = byNode.get(node.reference_name) ?? []
    const last = own.at(-1)
    const state = last?.status ?? 'PENDING'
    return {
      id: node.reference_name,
      title: node.reference_name,
      state,
      note: noteOf(node, own),
      to: addressOf(last),
    }
  })
  const edges = isGuessed ? guessEdges(tasks) : [...graph.edges, ...loopEdges(graph)]
  return { nodes, edges, isGuessed }
}

/** In the order in which they were scheduled. */
function groupByNode(tasks: readonly Task[]): ReadonlyMap<string, readonly Task[]> {
  const groups = new Map<string, Task[]>()
  for (const task of tasks) {
    const group = groups.get(task.node)
    if (group === undefined) groups.set(task.node, [task])
    else group.push(task)
  }
  for (const group of groups.values()) group.sort((one, other) => one.seq - other.seq)
  return groups
}

function noteOf({ kind, name, inside }: Node, tasks: readonly Task[]): string {
  // The end of a long note is cut.
  const told: string[] = []
  const iterations = new Set(tasks.map(({ iteration }) => iteration)).size
  const last = tasks.at(-1)
  if (last !== undefined && last.retry > 0) told.push(`try ${String(last.retry + 1)}`)
  if (iterations > 1) told.push(`${String(iterations)} times`)
  told.push(kind === 'SIMPLE' ? name : kind.toLowerCase().replaceAll('_', ' '))
  if (inside !== undefined) told.push(`in ${inside}`)
  return told.join(' · ')
}

/** From a loop to what begins inside it. */
function loopEdges({ nodes, edges }: Run['graph']): readonly GraphEdge[] {
  const loops = new Map(nodes.map(({ reference_name: name, inside }) => [name, inside]))
  return nodes
    .filter(({ reference_name: name, inside }) => {
      if (inside === undefined) return false
      return !edges.some(({ from, to }) => to === name && (from === inside || loops.get(from) === inside))
    })
    .map(({ reference_name: to, inside = '' }) => ({ from: inside, to, isLoop: true }))
}

function guessNodes(tasks: readonly Task[]): readonly Node[] {
  return [...groupByNode(tasks)].map(([node, [first]]) => ({
    reference_name: node,
    name: first?.name ?? node,
    kind: first?.kind ?? 'SIMPLE',
  }))
}

/** What a task was scheduled after, without what that itself came after. */
function guessEdges(tasks: readonly Task[]): readonly GraphEdge[] {
  const spans = tasks.map((task) => ({ task, from: timeOf(task.scheduled_at), to: timeOf(task.ended_at) }))
  const edges = new Map<string, GraphEdge>()
  for (const { task, from } of spans) {
    const before = spans.filter((span) => span.to <= from && span.task.node !== task.node)
    const lastBegun = Math.max(...before.map((span) => span.from))
    for (const { task: earlier } of before.filter((span) => span.to > lastBegun)) {
      const edge = { from: earlier.node, to: task.node }
      if (!edges.has(`${edge.to} ${edge.from}`)) edges.set(`${edge.from} ${edge.to}`, edge)
    }
  }
  return [...edges.values()]
}

/** What has no time has not happened yet. */
function timeOf(at: string | undefined): number {
  return at === undefined ? Infinity : Date.parse(at)
}
