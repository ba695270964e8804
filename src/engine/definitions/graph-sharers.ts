/** Finds which units of a graph set and use its shared values: `shared.NAME` in conditions, `${workflow.variables.NAME}` elsewhere. */

import type { Json } from '../../base/json.ts'
import { walkUnits, type Graph, type Unit } from '../graph/graph.ts'
import { readCondition } from './conditions.ts'
import { findReferences } from './references.ts'

/** Of one value; names of units in the order of the graph. */
export interface Sharers {
  readonly setBy: readonly string[]
  readonly usedBy: readonly string[]
  /** The output or the final check uses it. */
  readonly isUsedAtEnd: boolean
}

/** By the name of the value, without `shared.`. */
export function findSharers(graph: Graph): ReadonlyMap<string, Sharers> {
  const found = new Map<string, { setBy: string[]; usedBy: string[]; isUsedAtEnd: boolean }>()
  const sharersOf = (name: string) => {
    const known = found.get(name) ?? { setBy: [], usedBy: [], isUsedAtEnd: false }
    found.set(name, known)
    return known
  }
  for (const unit of walkUnits(graph.units)) {
    for (const name of namesSetBy(unit)) sharersOf(name).setBy.push(unit.taskReferenceName)
    for (const name of namesUsedBy(unit)) sharersOf(name).usedBy.push(unit.taskReferenceName)
  }
  for (const name of namesUsedAtEnd(graph)) sharersOf(name).isUsedAtEnd = true
  return found
}

function namesSetBy({ type, inputParameters }: Unit): ReadonlySet<string> {
  return new Set(type === 'SET_VARIABLE' ? Object.keys(inputParameters) : [])
}

function namesUsedBy(unit: Unit): ReadonlySet<string> {
  // What is inside a loop is walked on its own.
  const { startWhen, onlyIf, ...rest } = { ...unit, units: undefined, loopCondition: undefined }
  const loop = unit.type === 'DO_WHILE' ? unit.loopCondition : undefined
  return new Set([...namesIn(rest), ...[startWhen, onlyIf, loop].flatMap(namesInCondition)])
}

function namesUsedAtEnd({ outputParameters, policy }: Graph): ReadonlySet<string> {
  const { verify } = policy ?? {}
  const expression = verify !== undefined && 'expression' in verify ? verify.expression : undefined
  return new Set([...namesIn({ outputParameters, verify }), ...namesInCondition(expression)])
}

function namesIn(value: object): readonly string[] {
  return findReferences(JSON.parse(JSON.stringify(value)) as Json).flatMap(({ root, rest }) => {
    const [, name] = /^\.variables\.([^.[\s]+)/.exec(rest) ?? []
    return root === 'workflow' && name !== undefined ? [name] : []
  })
}

function namesInCondition(text: string | undefined): readonly string[] {
  const read = text === undefined ? undefined : readCondition(text)
  if (read?.isRead !== true) return []
  return read.variables.flatMap((dotted) => {
    const [first, ...rest] = dotted.split('.')
    return first === 'shared' && rest.length > 0 ? [rest.join('.')] : []
  })
}
