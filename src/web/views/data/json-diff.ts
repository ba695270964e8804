/** What differs between two JSON documents, as one tree. */

export const NODES_MAX = 20_000
const DEPTH_MAX = 200

export interface JsonNode {
  /** The name in its object, or the place in its list; empty for the whole. */
  readonly key: string
  readonly kind: 'same' | 'changed' | 'added' | 'removed'
  /** `{` and `[` have children; a `value` has none. */
  readonly shape: '{' | '[' | 'value'
  /** As JSON; of what has children, how many. */
  readonly text: string
  /** What it was, where it was something else. */
  readonly was?: string
  readonly children: readonly JsonNode[]
  /** How many places in it differ. */
  readonly changes: number
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** `undefined`: not JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text.replace(/^\uFEFF/, '')) as unknown }
  } catch {
    return undefined
  }
}

/** `undefined`: larger than what is drawn as a tree. */
export function diffJson(before: unknown, after: unknown): JsonNode | undefined {
  const room = { left: NODES_MAX }
  const node = compare({ key: '', depth: 0, room }, before as Json | undefined, after as Json | undefined)
  return room.left < 0 ? undefined : node
}

interface Place {
  readonly key: string
  readonly depth: number
  /** Shared by the whole tree. */
  readonly room: { left: number }
}

function compare(place: Place, before: Json | undefined, after: Json | undefined): JsonNode {
  const { key, depth, room } = place
  room.left = depth > DEPTH_MAX ? -1 : room.left - 1
  const shown = after === undefined ? before : after
  const shape = shapeOf(shown)
  const own = { key, shape, text: textOf(shown) }
  if (room.left < 0) return { ...own, kind: 'same', children: [], changes: 0 }
  const inner = (name: string): Place => ({ key: name, depth: depth + 1, room })
  if (before === undefined || after === undefined) {
    const isNew = before === undefined
    const children = entriesOf(shown).map(([name, value]) =>
      isNew ? compare(inner(name), undefined, value) : compare(inner(name), value, undefined),
    )
    return { ...own, kind: isNew ? 'added' : 'removed', children, changes: 1 }
  }
  if (shape !== shapeOf(before) || (shape === 'value' && before !== after)) {
    const children = entriesOf(after).map(([name, value]) => compare(inner(name), value, value))
    return { ...own, kind: 'changed', was: wholeText(before), children, changes: 1 }
  }
  const children = pairsOf(before, after).map(([name, old, now]) => compare(inner(name), old, now))
  const changes = children.reduce((sum, child) => sum + child.changes, 0)
  return { ...own, kind: changes === 0 ? 'same' : 'changed', children, changes }
}

function pairsOf(
  before: Json,
  after: Json,
): readonly (readonly [string, Json | undefined, Json | undefined])[] {
  const old = new Map(entriesOf(before))
  const now = new Map(entriesOf(after))
  const names = [...new Set([...now.keys(), ...old.keys()])]
  return names.map((name) => [name, old.get(name), now.get(name)])
}

function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value as Record<string, Json>) : []
}

function shapeOf(value: Json | undefined): JsonNode['shape'] {
  if (Array.isArray(value)) return '['
  return typeof value === 'object' && value !== null ? '{' : 'value'
}

function textOf(value: Json | undefined): string {
  const shape = shapeOf(value)
  if (shape === 'value') return JSON.stringify(value)
  const count = entriesOf(value).length
  return shape === '[' ? `[ ${String(count)} ]` : `{ ${String(count)} }`
}

function wholeText(value: Json): string {
  const text = JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
