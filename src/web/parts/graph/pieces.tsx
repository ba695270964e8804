/** The nodes and edges of a drawing, each drawn again only when it has changed. */

import { Component } from 'preact'
import { kindOf, showState, signOf } from '../state.tsx'
import {
  isLineInSight,
  NODE_HEIGHT,
  NODE_WIDTH,
  pathOf,
  type DrawnGraph,
  type GraphNode,
  type Layout,
  type Point,
  type Sight,
} from './graph.ts'

interface LinesProps {
  readonly graph: DrawnGraph
  readonly layout: Layout
  readonly sight: Sight
}

export function Lines({ graph, layout, sight }: LinesProps) {
  return (
    <>
      {graph.edges.map(({ from, to, label, isLoop = false }, index) => {
        const points = layout.lines[index] ?? []
        if (points.length < 2 || !isLineInSight(points, sight)) return null
        return <Line key={`${from} ${to} ${String(index)}`} {...{ points, label, isLoop }} />
      })}
    </>
  )
}

/** From afar: without arrows and labels, in one element. */
export class LinesAsOne extends Component<{ readonly layout: Layout }> {
  override shouldComponentUpdate({ layout }: { readonly layout: Layout }): boolean {
    return layout !== this.props.layout
  }

  override render({ layout }: { readonly layout: Layout }) {
    return <path d={layout.lines.map(pathOf).join('')} class="line" />
  }
}

interface LineProps {
  readonly points: readonly Point[]
  readonly label: string | undefined
  readonly isLoop: boolean
}

class Line extends Component<LineProps> {
  override shouldComponentUpdate({ points, label }: LineProps): boolean {
    return points !== this.props.points || label !== this.props.label
  }

  override render({ points, label, isLoop }: LineProps) {
    const middle = points[Math.floor(points.length / 2)]
    return (
      <>
        <path d={pathOf(points)} class={isLoop ? 'line line-loop' : 'line'} marker-end="url(#arrow)" />
        {label !== undefined && middle !== undefined && (
          <text x={middle.x} y={middle.y - 4} class="line-label">
            {shorten(label)}
          </text>
        )}
      </>
    )
  }
}

interface NodeProps {
  readonly node: GraphNode
  readonly at: Point
  readonly hasText: boolean
}

export class Node extends Component<NodeProps> {
  override shouldComponentUpdate({ node, at, hasText }: NodeProps): boolean {
    const { node: before, at: beforeAt, hasText: beforeText } = this.props
    const isSame = node.state === before.state && node.note === before.note && node.to === before.to
    return !isSame || at !== beforeAt || hasText !== beforeText
  }

  override render({ node: { id, title, note, state, to }, at, hasText }: NodeProps) {
    const told = `${title} ${showState(state)} · ${note}`
    const [left, top] = [at.x - NODE_WIDTH / 2, at.y - NODE_HEIGHT / 2]
    return (
      <a href={to} class={`node kind-${kindOf(state)}${hasText ? '' : ' afar'}`} data-node={id}>
        {/* Its name, also for who does not see it: what is drawn may be shortened. */}
        <title>{told}</title>
        <rect x={left} y={top} width={NODE_WIDTH} height={NODE_HEIGHT} rx={8} />
        {!hasText && !CALM.includes(kindOf(state)) && (
          <text aria-hidden="true" x={at.x} y={at.y + 22} class="node-far-sign">
            {signOf(state)}
          </text>
        )}
        {hasText && (
          <>
            <text aria-hidden="true" x={left + 12} y={at.y + 6} class="node-sign">
              {signOf(state)}
            </text>
            <text aria-hidden="true" x={left + 34} y={at.y - 4} class="node-title">
              {shorten(title)}
            </text>
            <text aria-hidden="true" x={left + 34} y={at.y + 14} class="node-note">
              {shorten(`${showState(state)} · ${note}`, NOTE_MAX_CHARS)}
            </text>
          </>
        )}
      </a>
    )
  }
}

/** From afar only what is wrong or going on has a sign. */
const CALM: readonly string[] = ['good', 'waiting', 'other']
const TITLE_MAX_CHARS = 23
const NOTE_MAX_CHARS = 28

function shorten(text: string, charsMax = TITLE_MAX_CHARS): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}
