/** From method and path to a named operation. A wrong method is an unknown route, never a 405, as in lakeFS. */

import { OPERATIONS, type ApiOperationName, type Operation } from './operations.ts'

export const API_BASE = '/api/v1'

export interface Route {
  readonly operation: ApiOperationName
  readonly open: boolean
  /** The values of the `{…}` segments, decoded. */
  readonly segments: Readonly<Record<string, string>>
}

interface Node {
  readonly literal: Map<string, Node>
  variable: Node | undefined
  readonly byMethod: Map<string, { operation: ApiOperationName; names: readonly string[]; open: boolean }>
}

const ROOT = buildTree()

/** Finds the operation; undefined when there is none. `path` is still percent-encoded and has no query. */
export function findRoute(method: string, path: string): Route | undefined {
  if (!path.startsWith(`${API_BASE}/`)) return undefined
  let node = ROOT
  const values: string[] = []
  for (const raw of path.slice(API_BASE.length + 1).split('/')) {
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
  const found = node.byMethod.get(method)
  if (found === undefined) return undefined
  const segments = Object.fromEntries(found.names.map((name, index) => [name, values[index] ?? '']))
  return { operation: found.operation, open: found.open, segments }
}

function buildTree(): Node {
  const root = newNode()
  for (const [name, operation] of Object.entries(OPERATIONS) as [ApiOperationName, Operation][]) {
    let node = root
    const names: string[] = []
    for (const segment of operation.path.slice(1).split('/')) {
      const variable = /^\{(.+)\}$/.exec(segment)?.[1]
      if (variable === undefined) {
        const next = node.literal.get(segment) ?? newNode()
        node.literal.set(segment, next)
        node = next
      } else {
        names.push(variable)
        node.variable ??= newNode()
        node = node.variable
      }
    }
    node.byMethod.set(operation.method, { operation: name, names, open: operation.open === true })
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
