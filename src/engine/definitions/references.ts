/** The `${…}` expressions inside a JSON value: finding them, and putting other text or values in their place. */

import type { Json, JsonObject } from '../../base/json.ts'
import type { Path } from './shape.ts'

export interface Reference {
  /** Where the text is, inside the value that was searched. */
  readonly path: Path
  /** `workflow`, or the name of a unit. */
  readonly root: string
  /** What follows the root, such as `.output.result`. */
  readonly rest: string
}

const WHOLE = /^\s*\$\{([^{}]+)\}\s*$/
const EMBEDDED = /(\$?)\$\{([^{}]*)\}/g
const PARTS = /^\s*([^.[\s]+)(.*?)\s*$/s

export function findReferences(value: Json, path: Path = []): readonly Reference[] {
  if (typeof value === 'string')
    return [...value.matchAll(EMBEDDED)].flatMap(([, escape, inner = '']) =>
      escape === '$' ? [] : [{ path, ...splitInner(inner) }],
    )
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((item, index) => findReferences(item, [...path, index]))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value as JsonObject).flatMap(([key, item]) => findReferences(item, [...path, key]))
  return []
}

export type InnerReplacement = (
  inner: Pick<Reference, 'root' | 'rest'>,
) =>
  { readonly by: 'value'; readonly value: Json } | { readonly by: 'name'; readonly inner: string } | undefined

/** Every expression for which `replace` gives something is replaced; a value in the middle of a text becomes text. */
export function replaceReferences(value: Json, replace: InnerReplacement): Json {
  if (typeof value === 'string') return replaceInText(value, replace)
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => replaceReferences(item, replace))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value as JsonObject).map(([key, item]) => [key, replaceReferences(item, replace)]),
    )
  return value
}

/** What `rest` reaches inside a value that is known before the start: a member, or a longer expression. */
export function followRest(value: Json, rest: string): Json | undefined {
  if (rest === '') return value
  if (typeof value === 'string') {
    const [, inner] = WHOLE.exec(value) ?? []
    return inner === undefined ? undefined : `\${${inner.trim()}${rest}}`
  }
  const [matched = '', name = '', index = ''] = /^\.([^.[\]]+)|^\[(\d+)\]/.exec(rest) ?? []
  if (matched === '' || typeof value !== 'object' || value === null) return undefined
  const member = name === '' ? index : name
  if (!Object.hasOwn(value, member)) return undefined
  const inner = (value as Readonly<Record<string, Json>>)[member]
  return inner === undefined ? undefined : followRest(inner, rest.slice(matched.length))
}

function replaceInText(text: string, replace: InnerReplacement): Json {
  const [, alone] = WHOLE.exec(text) ?? []
  if (alone !== undefined) {
    const found = replace(splitInner(alone))
    if (found === undefined) return text
    return found.by === 'value' ? found.value : `\${${found.inner}}`
  }
  return text.replace(EMBEDDED, (match, escape: string, inner: string) => {
    const found = escape === '$' ? undefined : replace(splitInner(inner))
    if (found === undefined) return match
    if (found.by === 'name') return `\${${found.inner}}`
    return typeof found.value === 'string' ? found.value : JSON.stringify(found.value)
  })
}

function splitInner(inner: string): { readonly root: string; readonly rest: string } {
  const [, root = inner.trim(), rest = ''] = PARTS.exec(inner) ?? []
  return { root, rest }
}
