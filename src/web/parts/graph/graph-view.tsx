/** A graph with the states of its nodes, as a drawing or as a list. */

import { useEffect, useMemo, useState } from 'preact/hooks'
import { replaceQuery, route } from '../../route.ts'
import { Loading, Problem } from '../problem.tsx'
import { kindOf, showState, State } from '../state.tsx'
import { Drawing } from './drawing.tsx'
import { drawable, predecessorsOf, shapeOf, type DrawnGraph, type Layout } from './graph.ts'
import './graph.css'
import { layOut } from './layout.ts'

const WIDE_PX = 700

export function GraphView({ label, graph: given }: { readonly label: string; readonly graph: DrawnGraph }) {
  const graph = useMemo(() => drawable(given), [given])
  const isList = route.value.query['as'] === 'list'
  const { layout, error } = useLayout(graph, isList)
  return (
    <section class="graph" aria-label={label}>
      <p class="bar">
        <span class="tabs" role="group" aria-label="Shown as">
          <button type="button" aria-pressed={!isList} onClick={() => replaceQuery({ as: undefined })}>
            Drawing
          </button>
          <button type="button" aria-pressed={isList} onClick={() => replaceQuery({ as: 'list' })}>
            List
          </button>
        </span>
        <Legend graph={graph} />
      </p>
      <Problem error={error} />
      {isList ? (
        <List graph={graph} label={label} />
      ) : layout === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Drawing graph={graph} layout={layout} label={label} />
      )}
    </section>
  )
}

/** Laid out again when its shape changes; until then the last one is shown. */
function useLayout(
  graph: DrawnGraph,
  isList: boolean,
): { readonly layout?: Layout | undefined; readonly error?: unknown } {
  const [state, setState] = useState<{ layout?: Layout; error?: unknown }>({})
  const shape = shapeOf(graph)
  useEffect(() => {
    if (isList) return undefined
    const over = new AbortController()
    const direction = window.innerWidth >= WIDE_PX ? 'LR' : 'TB'
    layOut(graph, direction, over.signal).then(
      (layout) => setState({ layout }),
      (error: unknown) => setState({ error }),
    )
    return () => over.abort()
  }, [shape, isList])
  return state
}

/** How many nodes there are of each state. */
function Legend({ graph }: { readonly graph: DrawnGraph }) {
  const counts = new Map<string, number>()
  for (const { state } of graph.nodes) counts.set(state, (counts.get(state) ?? 0) + 1)
  return (
    <span class="legend">
      {[...counts].map(([state, count]) => (
        <span key={state}>
          {count} <State state={state} />
        </span>
      ))}
    </span>
  )
}

const LIST_MAX = 2_000

function List({ graph, label }: { readonly graph: DrawnGraph; readonly label: string }) {
  const before = useMemo(() => predecessorsOf(graph.edges), [graph.edges])
  const left = graph.nodes.length - LIST_MAX
  return (
    <ol class="graph-list" aria-label={label}>
      {graph.nodes.slice(0, LIST_MAX).map(({ id, title, note, state, to }) => (
        <li key={id} class={`kind-${kindOf(state)}`}>
          <a href={to}>{title}</a> <State state={state} title={showState(state)} />{' '}
          <span class="faint">
            {note}
            {before.has(id) && `, after ${(before.get(id) ?? []).join(', ')}`}
          </span>
        </li>
      ))}
      {left > 0 && <li class="faint">and {left} more</li>}
    </ol>
  )
}
