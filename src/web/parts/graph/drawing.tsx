/** The drawing of a graph: only what is in sight is in the document. */

import { Component } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { kindOf, showState, signOf } from '../state.tsx'
import {
  firstZoom,
  isLineInSight,
  isNodeInSight,
  limitZoom,
  neighbourOf,
  NODE_HEIGHT,
  NODE_WIDTH,
  pathOf,
  scrollAfterZoom,
  sightOf,
  zoomToFit,
  type Direction,
  type DrawnGraph,
  type GraphNode,
  type Layout,
  type Point,
  type Sight,
  type Size,
} from './graph.ts'

const STEP = 1.25
const MARGIN_PX = 120
/** Below this, letters are too small to be read, and are left out. */
const ZOOM_OF_TEXT = 0.35
const KEYS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

interface DrawingProps {
  readonly graph: DrawnGraph
  readonly layout: Layout
  readonly label: string
}

export function Drawing({ graph, layout, label }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null)
  const [zoom, setZoom] = useState(0)
  const place = useScrolledPlace(box)
  const wanted = useRef<Point | undefined>(undefined)
  const zoomTo = (next: number, pointer?: Point): void => {
    const element = box.current
    if (element === null || zoom === 0) return
    const limited = limitZoom(next)
    const middle = { x: element.clientWidth / 2, y: element.clientHeight / 2 }
    const scrolled = { x: element.scrollLeft, y: element.scrollTop }
    wanted.current = scrollAfterZoom(scrolled, pointer ?? middle, limited / zoom)
    setZoom(limited)
  }
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const first = firstZoom(layout, sizeOf(element))
    wanted.current = placeToBegin(graph, layout, first, sizeOf(element))
    setZoom(first)
  }, [layout])
  useLayoutEffect(() => {
    const at = wanted.current
    wanted.current = undefined
    if (at !== undefined) box.current?.scrollTo({ left: at.x, top: at.y, behavior: 'instant' })
  }, [zoom])
  useWheel(box, (pointer, isNearer) => zoomTo(isNearer ? zoom * STEP : zoom / STEP, pointer))
  useDrag(box)
  const onKeyDown = (event: KeyboardEvent): void => moveByKey(event, layout, zoom, box.current)
  return (
    <>
      <div class="graph-box" ref={box} onKeyDown={onKeyDown} style={{ height: heightOf(layout) }}>
        {zoom > 0 && (
          <svg
            width={layout.width * zoom}
            height={layout.height * zoom}
            viewBox={`0 0 ${String(layout.width)} ${String(layout.height)}`}
            role="group"
            aria-label={`${label}: ${String(graph.nodes.length)} steps`}
          >
            <Insides {...{ graph, layout, place, zoom }} />
          </svg>
        )}
      </div>
      <p class="bar graph-zoom">
        <button type="button" aria-label="Zoom out" onClick={() => zoomTo(zoom / STEP)}>
          −
        </button>
        <span class="mono" aria-live="polite">
          {Math.round(zoom * 100)} %
        </span>
        <button type="button" aria-label="Zoom in" onClick={() => zoomTo(zoom * STEP)}>
          +
        </button>
        <button
          type="button"
          onClick={() => box.current !== null && zoomTo(zoomToFit(layout, sizeOf(box.current)))}
        >
          All
        </button>
        <span class="faint">Ctrl and the wheel zoom; arrow keys go from step to step.</span>
      </p>
    </>
  )
}

/** Where a drawing that does not fit is scrolled to: what failed, or what is going on. */
function placeToBegin({ nodes }: DrawnGraph, { places }: Layout, zoom: number, box: Size): Point | undefined {
  const node =
    nodes.find(({ state }) => kindOf(state) === 'bad') ??
    nodes.find(({ state }) => kindOf(state) === 'running')
  const at = node && places[node.id]
  return at && { x: at.x * zoom - box.width / 2, y: at.y * zoom - box.height / 2 }
}

interface InsidesProps extends Omit<DrawingProps, 'label'> {
  readonly place: Place
  readonly zoom: number
}

function Insides({ graph, layout, place, zoom }: InsidesProps) {
  const sight = sightOf(place, zoom, MARGIN_PX)
  const hasText = zoom >= ZOOM_OF_TEXT
  const inSight = graph.nodes.filter(({ id }) => {
    const at = layout.places[id]
    return at !== undefined && isNodeInSight(at, sight)
  })
  const drawn = useGradually(inSight.map(({ id }) => id))
  return (
    <>
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0,0L8,4L0,8z" class="arrow" />
        </marker>
      </defs>
      <g aria-hidden="true">
        {hasText ? <Lines {...{ graph, layout, sight }} /> : <LinesAsOne layout={layout} />}
      </g>
      {inSight.map((node) => {
        const at = layout.places[node.id]
        if (at === undefined || !drawn.has(node.id)) return null
        return <Node key={node.id} node={node} at={at} hasText={hasText} />
      })}
    </>
  )
}

const NEW_PER_FRAME = 60

/** What was drawn stays; of what is new only so much is added in each frame, so that none takes long. */
function useGradually(ids: readonly string[]): ReadonlySet<string> {
  const before = useRef<ReadonlySet<string>>(new Set())
  const [, setTurn] = useState(0)
  const added = ids.filter((id) => !before.current.has(id)).slice(0, NEW_PER_FRAME)
  const shown = new Set([...ids.filter((id) => before.current.has(id)), ...added])
  useEffect(() => {
    before.current = shown
    if (shown.size === ids.length) return undefined
    const frame = requestAnimationFrame(() => setTurn((turn) => turn + 1))
    return () => cancelAnimationFrame(frame)
  })
  return shown
}

function Lines({ graph, layout, sight }: Omit<DrawingProps, 'label'> & { readonly sight: Sight }) {
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
class LinesAsOne extends Component<{ readonly layout: Layout }> {
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

class Node extends Component<NodeProps> {
  override shouldComponentUpdate({ node, at, hasText }: NodeProps): boolean {
    const { node: before, at: beforeAt, hasText: beforeText } = this.props
    const isSame = node.state === before.state && node.note === before.note && node.to === before.to
    return !isSame || at !== beforeAt || hasText !== beforeText
  }

  override render({ node: { id, title, note, state, to }, at, hasText }: NodeProps) {
    const [left, top] = [at.x - NODE_WIDTH / 2, at.y - NODE_HEIGHT / 2]
    return (
      <a
        href={to}
        class={`node kind-${kindOf(state)}${hasText ? '' : ' afar'}`}
        data-node={id}
        aria-label={`${title}, ${showState(state)}, ${note}`}
      >
        <title>{`${title}: ${showState(state)}. ${note}`}</title>
        <rect x={left} y={top} width={NODE_WIDTH} height={NODE_HEIGHT} rx={8} />
        {!hasText && !CALM.includes(kindOf(state)) && (
          <text x={at.x} y={at.y + 22} class="node-far-sign">
            {signOf(state)}
          </text>
        )}
        {hasText && (
          <>
            <text x={left + 12} y={at.y + 6} class="node-sign">
              {signOf(state)}
            </text>
            <text x={left + 34} y={at.y - 4} class="node-title">
              {shorten(title)}
            </text>
            <text x={left + 34} y={at.y + 14} class="node-note">
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

interface Place {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

type Box = { readonly current: HTMLDivElement | null }

/** Read once per frame, however often it is scrolled. */
function useScrolledPlace(box: Box): Place {
  const [place, setPlace] = useState<Place>({ left: 0, top: 0, width: 0, height: 0 })
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    let frame = 0
    const look = (): void => {
      frame = 0
      setPlace({ left: element.scrollLeft, top: element.scrollTop, ...sizeOf(element) })
    }
    const plan = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    look()
    const watcher = new ResizeObserver(plan)
    watcher.observe(element)
    element.addEventListener('scroll', plan, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      watcher.disconnect()
      element.removeEventListener('scroll', plan)
    }
  }, [])
  return place
}

/** With Ctrl, which is also how browsers tell of two fingers; without it the wheel scrolls. */
function useWheel(box: Box, zoom: (pointer: Point, isNearer: boolean) => void): void {
  const last = useRef(zoom)
  last.current = zoom
  useEffect(() => {
    const element = box.current
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const { left = 0, top = 0 } = element?.getBoundingClientRect() ?? {}
      last.current({ x: event.clientX - left, y: event.clientY - top }, event.deltaY < 0)
    }
    element?.addEventListener('wheel', turn, { passive: false })
    return () => element?.removeEventListener('wheel', turn)
  }, [])
}

/** A mouse moves the drawing by its ground. */
function useDrag(box: Box): void {
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const over = new AbortController()
    const { signal } = over
    const move = (event: PointerEvent): void => {
      if ((event.buttons & 1) === 1) element.scrollBy(-event.movementX, -event.movementY)
    }
    const begin = (event: PointerEvent): void => {
      const isOfNode = (event.target as Element).closest('a') !== null
      if (event.pointerType !== 'mouse' || event.button !== 0 || isOfNode) return
      element.setPointerCapture(event.pointerId)
      element.addEventListener('pointermove', move, { signal })
    }
    element.addEventListener('pointerdown', begin, { signal })
    element.addEventListener('pointerup', () => element.removeEventListener('pointermove', move), { signal })
    return () => over.abort()
  }, [])
}

/** The next node is brought into sight, and has the focus when it is drawn. */
function moveByKey(event: KeyboardEvent, layout: Layout, zoom: number, box: HTMLDivElement | null): void {
  const direction = KEYS[event.key]
  const from = (event.target as Element).getAttribute('data-node')
  const next =
    direction === undefined || from === null ? undefined : neighbourOf(layout.places, from, direction)
  const at = next === undefined ? undefined : layout.places[next]
  if (next === undefined || at === undefined || box === null) return
  event.preventDefault()
  const { width, height } = sizeOf(box)
  box.scrollTo({ left: at.x * zoom - width / 2, top: at.y * zoom - height / 2, behavior: 'instant' })
  // One frame for reading where it was scrolled to, one for drawing.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => box.querySelector<SVGAElement>(`[data-node="${CSS.escape(next)}"]`)?.focus()),
  )
}

function sizeOf(element: HTMLElement): { readonly width: number; readonly height: number } {
  return { width: element.clientWidth, height: element.clientHeight }
}

/** A small graph gets no large box. */
function heightOf({ height }: Layout): string {
  return `min(65vh, ${String(Math.ceil(height) + 20)}px)`
}
