/** Lays a graph out in a thread of its own: 500 nodes take longer than a frame may. */

import { Graph, layout } from '@dagrejs/dagre'
import type { Layout, Point } from './graph.ts'

export interface LayoutQuestion {
  readonly turn: number
  readonly ids: readonly string[]
  readonly edges: readonly (readonly [from: string, to: string])[]
  readonly direction: 'LR' | 'TB'
  readonly width: number
  readonly height: number
}

export type LayoutAnswer = { readonly turn: number } & (
  { readonly layout: Layout } | { readonly problem: string }
)

const GAP = 24
const RANK_GAP = 56
const MARGIN = 16

function layOut({ ids, edges, direction, width, height }: LayoutQuestion): Layout {
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: direction, nodesep: GAP, ranksep: RANK_GAP, marginx: MARGIN, marginy: MARGIN })
  for (const id of ids) graph.setNode(id, { width, height })
  edges.forEach(([from, to], index) => graph.setEdge(from, to, {}, String(index)))
  layout(graph)
  const { width: full = 0, height: tall = 0 } = graph.graph() as { width?: number; height?: number }
  const places = ids.map((id): [string, Point] => {
    const { x, y } = graph.node(id) as Point
    return [id, { x, y }]
  })
  const lines = edges.map(([from, to], index) => {
    const { points = [] } = graph.edge(from, to, String(index)) as { points?: readonly Point[] }
    return points.map(({ x, y }) => ({ x, y }))
  })
  return { places: Object.fromEntries(places), lines, width: full, height: tall }
}

addEventListener('message', ({ data }: MessageEvent<LayoutQuestion>) => {
  const { turn } = data
  const answer = (told: LayoutAnswer): void => postMessage(told)
  try {
    answer({ turn, layout: layOut(data) })
  } catch (error) {
    answer({ turn, problem: error instanceof Error ? error.message : String(error) })
  }
})
