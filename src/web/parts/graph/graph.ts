/** Graphs to be drawn, and what of a drawing is in sight. Pure. */

export interface GraphNode {
  readonly id: string
  readonly title: string
  /** What kind of step it is, and how often it ran; a short line below the title. */
  readonly note: string
  readonly state: string
  /** The address of the node's page. */
  readonly to: string
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly label?: string | undefined
  /** Of a loop to what it repeats. */
  readonly isLoop?: boolean | undefined
}

export interface DrawnGraph {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

export const NODE_WIDTH = 220
export const NODE_HEIGHT = 50

export interface Point {
  readonly x: number
  readonly y: number
}

export interface Layout {
  /** The middle of each node, by its id. */
  readonly places: Readonly<Record<string, Point>>
  /** In the order of the edges. */
  readonly lines: readonly (readonly Point[])[]
  readonly width: number
  readonly height: number
}

/** A part of the drawing, in its own units. */
export interface Sight {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Where a box was scrolled to and how large it is, as a part of the drawing. */
export function sightOf(
  box: { readonly left: number; readonly top: number; readonly width: number; readonly height: number },
  zoom: number,
  marginPx: number,
): Sight {
  return {
    left: (box.left - marginPx) / zoom,
    top: (box.top - marginPx) / zoom,
    right: (box.left + box.width + marginPx) / zoom,
    bottom: (box.top + box.height + marginPx) / zoom,
  }
}

export function isNodeInSight({ x, y }: Point, sight: Sight): boolean {
  return (
    x + NODE_WIDTH / 2 >= sight.left &&
    x - NODE_WIDTH / 2 <= sight.right &&
    y + NODE_HEIGHT / 2 >= sight.top &&
    y - NODE_HEIGHT / 2 <= sight.bottom
  )
}

/** Whether the box around a line meets what is in sight. */
export function isLineInSight(points: readonly Point[], sight: Sight): boolean {
  const xs = points.map(({ x }) => x)
  const ys = points.map(({ y }) => y)
  return (
    Math.max(...xs) >= sight.left &&
    Math.min(...xs) <= sight.right &&
    Math.max(...ys) >= sight.top &&
    Math.min(...ys) <= sight.bottom
  )
}

const ZOOM_MIN = 0.1
const ZOOM_MAX = 2
/** Below this nothing could be read: a drawing is not opened smaller. */
const ZOOM_READABLE = 0.6

export function limitZoom(zoom: number): number {
  return Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, zoom))
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** All of it, but never larger than it is. */
export function zoomToFit(layout: Size, box: Size): number {
  return limitZoom(Math.min(1, box.width / layout.width, box.height / layout.height))
}

/** All of it, as far as it can be read then. */
export function firstZoom(layout: Size, box: Size): number {
  return Math.max(ZOOM_READABLE, zoomToFit(layout, box))
}

/** Where a box is scrolled to so that what is below the pointer stays there. */
export function scrollAfterZoom(scrolled: Point, pointer: Point, factor: number): Point {
  return {
    x: (scrolled.x + pointer.x) * factor - pointer.x,
    y: (scrolled.y + pointer.y) * factor - pointer.y,
  }
}

export type Direction = 'left' | 'right' | 'up' | 'down'

/** The next node in a direction: what lies sideways of it counts double. */
export function neighbourOf(
  places: Layout['places'],
  from: string,
  direction: Direction,
): string | undefined {
  const here = places[from]
  if (here === undefined) return undefined
  const isAcross = direction === 'left' || direction === 'right'
  const sign = direction === 'right' || direction === 'down' ? 1 : -1
  let best: { readonly id: string; readonly distance: number } | undefined
  for (const [id, { x, y }] of Object.entries(places)) {
    const [ahead, aside] = isAcross ? [x - here.x, y - here.y] : [y - here.y, x - here.x]
    if (ahead * sign <= 0) continue
    const distance = ahead * sign + 2 * Math.abs(aside)
    if (best === undefined || distance < best.distance) best = { id, distance }
  }
  return best?.id
}

/** Without edges that lead nowhere, or back to where they came from. */
export function drawable({ nodes, edges }: DrawnGraph): DrawnGraph {
  const known = new Set(nodes.map(({ id }) => id))
  return { nodes, edges: edges.filter(({ from, to }) => from !== to && known.has(from) && known.has(to)) }
}

/** An SVG path through the points, with rounded corners. */
export function pathOf(points: readonly Point[]): string {
  const show = ({ x, y }: Point): string => `${x.toFixed(1)},${y.toFixed(1)}`
  const [first, ...rest] = points
  const last = rest.pop()
  if (first === undefined || last === undefined) return ''
  const corners = rest.map((corner, index) => {
    const next = rest[index + 1] ?? last
    return `Q${show(corner)} ${show({ x: (corner.x + next.x) / 2, y: (corner.y + next.y) / 2 })}`
  })
  return `M${show(first)}${corners.join('')}L${show(last)}`
}

/** What of a graph its layout depends on: a change of states is none. */
export function shapeOf({ nodes, edges }: DrawnGraph): string {
  return JSON.stringify([nodes.map(({ id }) => id), edges.map(({ from, to }) => [from, to])])
}

/** The nodes before each node. */
export function predecessorsOf(edges: readonly GraphEdge[]): ReadonlyMap<string, readonly string[]> {
  const before = new Map<string, string[]>()
  for (const { from, to } of edges) {
    const known = before.get(to)
    if (known === undefined) before.set(to, [from])
    else known.push(from)
  }
  return before
}
