/** The drawing of a graph: only what is in sight is in the document. */

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { kindOf } from '../state.tsx'
import { moveByKey, useDrag, useScrolledPlace, useWheel, type Place } from './box.ts'
import {
  firstZoom,
  isNodeInSight,
  limitZoom,
  scrollAfterZoom,
  sightOf,
  zoomToFit,
  type DrawnGraph,
  type Layout,
  type Point,
  type Size,
} from './graph.ts'
import { Lines, LinesAsOne, Node } from './pieces.tsx'

const STEP = 1.25
const MARGIN_PX = 120
/** Below this, letters are too small to be read, and are left out. */
const ZOOM_OF_TEXT = 0.35

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
    const first = firstZoom(layout, roomOf(element))
    wanted.current = placeToBegin(graph, layout, first, roomOf(element))
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
          onClick={() => box.current !== null && zoomTo(zoomToFit(layout, roomOf(box.current)))}
        >
          All
        </button>
        <span class="faint">Ctrl and the wheel zoom; arrow keys go from step to step.</span>
      </p>
      <div
        class="graph-box"
        ref={box}
        onKeyDown={onKeyDown}
        style={{ height: heightOf(layout, zoom, place.width) }}
      >
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

/** Of the height of the window. */
const TALLEST = 0.65
const BORDERS_PX = 2
const SCROLL_BAR_PX = 16

/** What a drawing may take: its box is as tall as it needs. */
function roomOf(element: HTMLElement): Size {
  return { width: element.clientWidth, height: Math.floor(window.innerHeight * TALLEST) }
}

function heightOf({ width, height }: Size, zoom: number, boxWidth: number): string {
  const isScrolled = width * zoom > boxWidth
  const needed = Math.ceil(height * zoom) + BORDERS_PX + (isScrolled ? SCROLL_BAR_PX : 0)
  return `min(${String(100 * TALLEST)}vh, ${String(needed)}px)`
}
