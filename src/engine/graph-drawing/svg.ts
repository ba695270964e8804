/** Draws a graph as SVG, with the state of each unit where it is given. */

import type { Graph, Unit } from '../graph/graph.ts'
import { kindOf, layOut, LOOP_INSIDE, type Drawing, type DrawnEdge, type DrawnUnit } from './layout.ts'

type UnitState = 'PENDING' | 'EXECUTING' | 'COMPLETED' | 'FAILED' | 'ROLLED_BACK' | 'SKIPPED'

/** By the name of the unit. */
export type UnitStates = Readonly<Record<string, UnitState>>

/** A state as text: not everybody can tell the colours apart. */
export function nameState(state: UnitState | undefined): string {
  return state === undefined ? '' : state.toLowerCase().replace('_', ' ')
}

const MARGIN = 24
const TITLE_HEIGHT = 34

const COLOURS: Readonly<Record<UnitState, { readonly fill: string; readonly line: string }>> = {
  PENDING: { fill: '#ffffff', line: '#757575' },
  EXECUTING: { fill: '#e3effc', line: '#1565c0' },
  COMPLETED: { fill: '#e3f5e6', line: '#2e7d32' },
  FAILED: { fill: '#fde7e7', line: '#c62828' },
  ROLLED_BACK: { fill: '#fff4e0', line: '#b26a00' },
  SKIPPED: { fill: '#f3f3f3', line: '#9e9e9e' },
}
const PLAIN = { fill: '#ffffff', line: '#455a64' }

/**
 * ```ts
 * await writeFile('daily.svg', drawSvg(daily.graph, { ingest: 'COMPLETED', validate: 'EXECUTING' }))
 * ```
 */
export function drawSvg(graph: Graph, states: UnitStates = {}): string {
  const drawing = layOut(graph.units, (unit) => captionOf(unit, states))
  const title = `${graph.name}, version ${graph.version}`
  const width = Math.ceil(Math.max(drawing.width, title.length * 8) + 2 * MARGIN)
  const height = Math.ceil(drawing.height + TITLE_HEIGHT + 2 * MARGIN)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#607d8b"/></marker></defs>',
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    `<text x="${MARGIN}" y="${MARGIN + 8}" font-size="16" font-weight="600" fill="#263238">${escapeXml(title)}</text>`,
    group(MARGIN, MARGIN + TITLE_HEIGHT, drawParts(drawing, states)),
    '</svg>',
    '',
  ].join('\n')
}

function drawParts({ edges, units }: Drawing, states: UnitStates): string {
  return [...edges.map(drawEdge), ...units.map((unit) => drawUnit(unit, states))].join('\n')
}

function captionOf(unit: Unit, states: UnitStates): string {
  const state = states[unit.taskReferenceName]
  return state === undefined ? kindOf(unit) : `${kindOf(unit)} · ${nameState(state)}`
}

function drawUnit({ unit, x, y, width, height, inside }: DrawnUnit, states: UnitStates): string {
  const name = unit.taskReferenceName
  const state = states[name]
  const { fill, line } = state === undefined ? PLAIN : COLOURS[state]
  const isDashed = unit.optional === true ? ' stroke-dasharray="5 3"' : ''
  const round = unit.type === 'SWITCH' || unit.type === 'JOIN' ? height / 2 : 6
  const label = (text: string, at: number, style: string): string =>
    inside === undefined
      ? `<text x="${width / 2}" y="${at}" text-anchor="middle" ${style}>${escapeXml(text)}</text>`
      : `<text x="${LOOP_INSIDE.x}" y="${at - 4}" ${style}>${escapeXml(text)}</text>`
  return group(
    x,
    y,
    [
      `<rect width="${width}" height="${height}" rx="${round}" fill="${fill}" stroke="${line}" stroke-width="1.5"${isDashed}/>`,
      label(name, 20, 'font-weight="600" fill="#263238"'),
      label(captionOf(unit, states), 36, 'font-size="11" fill="#455a64"'),
      ...(inside === undefined ? [] : [group(LOOP_INSIDE.x, LOOP_INSIDE.y, drawParts(inside, states))]),
    ].join('\n'),
    ` data-unit="${escapeXml(name)}"${state === undefined ? '' : ` data-state="${state}"`}`,
  )
}

function drawEdge({ points, label, from, to }: DrawnEdge): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let [x, y] = first
  const curves = rest.map(([nextX, nextY]) => {
    const middle = (x + nextX) / 2
    const curve = nextY === y ? `H${nextX}` : `C${middle} ${y} ${middle} ${nextY} ${nextX} ${nextY}`
    ;[x, y] = [nextX, nextY]
    return curve
  })
  const path = `<path d="M${first[0]} ${first[1]} ${curves.join(' ')}" fill="none" stroke="#607d8b" stroke-width="1.5" marker-end="url(#head)" data-edge="${escapeXml(`${from} ${to}`)}"/>`
  if (label === undefined) return path
  return `${path}\n<text x="${x - 12}" y="${y - 6}" text-anchor="end" font-size="11" fill="#37474f" stroke="#ffffff" stroke-width="4" paint-order="stroke">${escapeXml(label)}</text>`
}

function group(x: number, y: number, inner: string, attributes = ''): string {
  return `<g transform="translate(${x} ${y})"${attributes}>\n${inner}\n</g>`
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
