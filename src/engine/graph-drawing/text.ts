/** Draws a graph as text: one line for each unit, layer by layer. */

import type { Graph, Unit } from '../graph/graph.ts'
import { layersOf } from '../graph/layers.ts'
import { kindOf } from './layout.ts'
import { nameState, type UnitStates } from './svg.ts'

/**
 * ```text
 * orders.daily, version 1
 *
 * 1  ingest    orders.ingest
 * 2  validate  orders.validate  after ingest
 * ```
 */
export function drawText(graph: Graph, states: UnitStates = {}): string {
  const rows = rowsOf(graph.units, states, 0)
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      // Where no state is known there is no column for it.
      .filter((_, column) => column !== 3 || widths[3] !== 0)
      .join('  ')
      .trimEnd(),
  )
  return `${graph.name}, version ${graph.version}\n\n${lines.join('\n')}\n`
}

type Row = readonly [layer: string, name: string, kind: string, state: string, order: string]

function rowsOf(units: readonly Unit[], states: UnitStates, depth: number): readonly Row[] {
  const { layers, left } = layersOf(units)
  const indent = '  '.repeat(depth)
  return [...layers, left].flatMap((layer, index) =>
    layer.flatMap((unit): readonly Row[] => {
      const name = unit.taskReferenceName
      const row: Row = [
        `${indent}${index + 1}`,
        `${indent}${name}`,
        kindOf(unit),
        nameState(states[name]),
        orderOf(unit),
      ]
      const isLoop = unit.type === 'EACH' || unit.type === 'DO_WHILE'
      return [row, ...(isLoop ? rowsOf(unit.units, states, depth + 1) : [])]
    }),
  )
}

function orderOf({ after, onlyIn, onlyIf, startWhen, optional }: Unit): string {
  const others = after.filter((name) => name !== onlyIn?.unit)
  return [
    ...(onlyIn === undefined ? [] : [`case ${onlyIn.case} of ${onlyIn.unit}`]),
    ...(others.length === 0 ? [] : [`after ${others.join(', ')}`]),
    ...(startWhen === undefined ? [] : [`when ${startWhen}`]),
    ...(onlyIf === undefined ? [] : [`if ${onlyIf}`]),
    ...(optional === true ? ['optional'] : []),
  ].join('; ')
}
