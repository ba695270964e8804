/** From method and path to an operation. A wrong method is an unknown route, never a 405, as in lakeFS. */

import { OPERATIONS, type Operation, type OperationName } from './operations.ts'

export interface Route {
  readonly name: OperationName
  readonly operation: Operation
  /** The values of the `{…}` segments, decoded. */
  readonly segments: Readonly<Record<string, string>>
}

interface Node {
  readonly literal: Map<string, Node>
  variable: Node | undefined
  readonly byMethod: Map<string, Omit<Route, 'segments'> & { readonly variables: readonly string[] }>
}

const ROOT = buildTree()

/** Finds the operation; undefined when there is none. `path` is still percent-encoded and has no query. */
export function findRoute(method: string, path: string): Route | undefined {
  let node = ROOT
  const values: string[] = []
  for (const raw of path.slice(1).split('/')) {
    const segment = decodeSegment(raw)
    if (segment === undefined) return undefined
    const next = node.literal.get(segment)
    if (next !== undefined) {
      node = next
    } else if (node.variable !== undefined && segment !== '') {
      values.push(segment)
      node = node.variable
    } else {
      return undefined
    }
  }
  const found = node.byMethod.get(method) ?? node.byMethod.get('*')
  if (found === undefined) return undefined
  const { name, operation, variables } = found
  const segments = Object.fromEntries(variables.map((variable, index) => [variable, values[index] ?? '']))
  return { name, operation, segments }
}

function buildTree(): Node {
  const root = newNode()
  for (const [name, operation] of Object.entries(OPERATIONS) as [OperationName, Operation][]) {
    let node = root
    const variables: string[] = []
    for (const segment of operation.path.slice(1).split('/')) {
      const variable = /^\{(.+)\}$/.exec(segment)?.[1]
      if (variable === undefined) {
        const next = node.literal.get(segment) ?? newNode()
        node.literal.set(segment, next)
        node = next
      } else {
        variables.push(variable)
        node.variable ??= newNode()
        node = node.variable
      }
    }
    node.byMethod.set(operation.method, { name, operation, variables })
  }
  return root
}

function newNode(): Node {
  return { literal: new Map(), variable: undefined, byMethod: new Map() }
}

function decodeSegment(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}
