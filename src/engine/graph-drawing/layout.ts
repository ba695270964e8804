/** Where the units of a graph are drawn: layers from left to right, loops as boxes around their units. Pure. */

import type { Unit } from '../graph/graph.ts'
import { layersOf } from '../graph/layers.ts'

export interface DrawnUnit {
  readonly unit: Unit
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** The units inside a loop, from the corner of the loop. */
  readonly inside: Drawing | undefined
}

export interface DrawnEdge {
  readonly from: string
  readonly to: string
  readonly points: readonly (readonly [x: number, y: number])[]
  /** The case of a SWITCH. */
  readonly label: string | undefined
}

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly units: readonly DrawnUnit[]
  readonly edges: readonly DrawnEdge[]
}

/** Of the widest usual fonts: a name is bold, what is below it small. */
const NAME_CHAR_WIDTH = 8.4
const CAPTION_CHAR_WIDTH = 6.4
const TEXT_PADDING = 24
const UNIT_HEIGHT = 46
const UNIT_MIN_WIDTH = 110
const COLUMN_GAP = 70
const ROW_GAP = 22
const LOOP_HEAD = 46
const LOOP_PADDING = 16
/** Two passes in each direction bring units near their neighbours; more change little. */
const SWEEPS = 4

/** What is written below the name of a unit. */
export type Caption = (unit: Unit) => string

export function layOut(units: readonly Unit[], caption: Caption = kindOf): Drawing {
  const { layers, left } = layersOf(units)
  const edges = withoutDetours(units)
  const columns = order(
    addBends(
      (left.length > 0 ? [...layers, left] : layers).map((layer) =>
        layer.map((unit) => cellOf(unit, caption)),
      ),
      edges,
    ),
    edges,
  )
  const cells = place(columns)
  return {
    ...sizeOf(cells),
    units: cells.flatMap(({ cell, x, y, width, height }) =>
      cell.unit === undefined ? [] : [{ x, y, width, height, unit: cell.unit, inside: cell.inside }],
    ),
    edges: edges.map((edge) => drawEdge(edge, cells)),
  }
}

interface Edge {
  readonly from: string
  readonly to: string
  readonly label: string | undefined
}

/** An edge is left out where a longer way leads to the same unit. */
function withoutDetours(units: readonly Unit[]): readonly Edge[] {
  const before = new Map<string, ReadonlySet<string>>()
  const names = new Set(units.map(({ taskReferenceName }) => taskReferenceName))
  for (const { taskReferenceName, after } of layersOf(units).layers.flat())
    before.set(taskReferenceName, new Set(after.flatMap((name) => [name, ...(before.get(name) ?? [])])))
  return units.flatMap(({ taskReferenceName: to, after, onlyIn }) =>
    [...new Set(after)]
      .filter((from) => names.has(from))
      .filter((from) => !after.some((other) => other !== from && before.get(other)?.has(from) === true))
      .map((from) => ({ from, to, label: onlyIn?.unit === from ? onlyIn.case : undefined })),
  )
}

/** A unit, or the bend of an edge that passes through this column. */
interface Cell {
  readonly name: string
  readonly unit: Unit | undefined
  readonly inside: Drawing | undefined
  readonly width: number
  readonly height: number
}

function addBends(layers: readonly (readonly Cell[])[], edges: readonly Edge[]): readonly Cell[][] {
  const columns = layers.map((layer) => [...layer])
  const columnOf = new Map(layers.flatMap((layer, index) => layer.map(({ name }) => [name, index] as const)))
  for (const { from, to } of edges) {
    const last = columnOf.get(to) ?? 0
    for (let column = (columnOf.get(from) ?? 0) + 1; column < last; column += 1)
      columns[column]?.push({
        name: bendName(from, to),
        unit: undefined,
        inside: undefined,
        width: 0,
        height: 8,
      })
  }
  return columns
}

function bendName(from: string, to: string): string {
  return `${from} → ${to}`
}

function cellOf(unit: Unit, caption: Caption): Cell {
  const name = unit.taskReferenceName
  const text = Math.max(name.length * NAME_CHAR_WIDTH, caption(unit).length * CAPTION_CHAR_WIDTH)
  const width = Math.max(UNIT_MIN_WIDTH, Math.ceil(text) + TEXT_PADDING)
  if (unit.type !== 'EACH' && unit.type !== 'DO_WHILE')
    return { name, unit, inside: undefined, width, height: UNIT_HEIGHT }
  const inside = layOut(unit.units, caption)
  return {
    name,
    unit,
    inside,
    width: Math.max(width, inside.width + 2 * LOOP_PADDING),
    height: inside.height + LOOP_HEAD + LOOP_PADDING,
  }
}

/** What a unit does, in a few words. */
export function kindOf(unit: Unit): string {
  switch (unit.type) {
    case 'SIMPLE':
      return unit.name
    case 'SUB_WORKFLOW':
      return `pipeline ${unit.subWorkflowParam.name}`
    case 'EACH':
      return `for each item, ${unit.atOnce} at once`
    case 'DO_WHILE':
      return `while ${unit.loopCondition.length > 40 ? `${unit.loopCondition.slice(0, 40)}…` : unit.loopCondition}`
    case 'TERMINATE':
      return `end: ${unit.terminationStatus}`
    case 'WAIT':
      return 'wait'
    case 'HUMAN':
      return 'human'
    case 'SWITCH':
      return 'switch'
    case 'JOIN':
      return 'barrier'
    case 'SET_VARIABLE':
      return 'set variables'
  }
}

/** Moves each cell near the middle of its neighbours, so that fewer edges cross. */
function order(columns: readonly Cell[][], edges: readonly Edge[]): readonly Cell[][] {
  const neighbours = neighboursOf(edges, columns)
  let ordered = columns
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const rows = new Map(ordered.flatMap((column) => column.map(({ name }, row) => [name, row] as const)))
    ordered = ordered.map((column) => {
      const weights = new Map(
        column.map(({ name }, row) => {
          const near = (neighbours.get(name) ?? []).map((other) => rows.get(other) ?? row)
          return [name, near.length === 0 ? row : near.reduce((sum, one) => sum + one, 0) / near.length]
        }),
      )
      return [...column].sort((a, b) => (weights.get(a.name) ?? 0) - (weights.get(b.name) ?? 0))
    })
  }
  return ordered
}

function neighboursOf(
  edges: readonly Edge[],
  columns: readonly Cell[][],
): ReadonlyMap<string, readonly string[]> {
  const bends = new Set(
    columns.flatMap((column) => column.filter(({ unit }) => unit === undefined)).map(({ name }) => name),
  )
  const found = new Map<string, string[]>()
  const add = (one: string, other: string): void => {
    found.set(one, [...(found.get(one) ?? []), other])
    found.set(other, [...(found.get(other) ?? []), one])
  }
  for (const { from, to } of edges) {
    const bend = bendName(from, to)
    if (bends.has(bend)) {
      add(from, bend)
      add(bend, to)
    } else add(from, to)
  }
  return found
}

interface PlacedCell {
  readonly cell: Cell
  /** Of its column, which may be wider. */
  readonly left: number
  readonly right: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function place(columns: readonly (readonly Cell[])[]): readonly PlacedCell[] {
  const heights = columns.map(
    (column) => column.reduce((sum, { height }) => sum + height + ROW_GAP, 0) - ROW_GAP,
  )
  const tallest = Math.max(0, ...heights)
  let x = 0
  return columns.flatMap((column, index) => {
    const width = Math.max(0, ...column.map((cell) => cell.width))
    // Each column is centred.
    let y = (tallest - (heights[index] ?? 0)) / 2
    const placed = column.map((cell) => {
      const column = { left: x, right: x + width }
      const at = {
        cell,
        ...column,
        x: x + (width - cell.width) / 2,
        y,
        width: cell.width,
        height: cell.height,
      }
      y += cell.height + ROW_GAP
      return at
    })
    x += width + COLUMN_GAP
    return placed
  })
}

function sizeOf(cells: readonly PlacedCell[]): { readonly width: number; readonly height: number } {
  return {
    width: Math.max(0, ...cells.map(({ x, width }) => x + width)),
    height: Math.max(0, ...cells.map(({ y, height }) => y + height)),
  }
}

/** Straight where it is in a column, so that it meets no other unit of it; bent between columns. */
function drawEdge({ from, to, label }: Edge, cells: readonly PlacedCell[]): DrawnEdge {
  const across = ({ y, height }: PlacedCell, [one, other]: readonly [number, number]) =>
    [...new Set([one, other])].map((x) => [x, y + height / 2] as const)
  const [start] = cells.filter(({ cell }) => cell.name === from)
  const [end] = cells.filter(({ cell }) => cell.name === to)
  const bends = cells.filter(({ cell }) => cell.name === bendName(from, to))
  return {
    ...{ from, to, label },
    points: [
      ...(start === undefined ? [] : across(start, [start.x + start.width, start.right])),
      ...bends.flatMap((bend) => across(bend, [bend.left, bend.right])),
      ...(end === undefined ? [] : across(end, [end.left, end.x])),
    ],
  }
}

/** Where the units of a loop begin, from its corner. */
export const LOOP_INSIDE = { x: LOOP_PADDING, y: LOOP_HEAD } as const
