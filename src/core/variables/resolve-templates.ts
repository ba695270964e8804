/** Fills in templates from the variables of one execution. */

import { MissingError } from '../../base/errors.ts'
import { VARIABLE_MAX_BYTES } from '../limits.ts'
import { encodeJson, freezeDeeply } from '../json.ts'
import type { Json } from '../../base/json.ts'
import { parseTemplate, type Template, type TemplatePlace } from './parse-template.ts'
import { applyFilter, textOf } from './template-filters.ts'

/** `undefined` for a variable that is not there. */
export type ReadVariable = (name: string) => Promise<Json | undefined>

/**
 * Fills in every text of a value, however deep; keys are left alone. A text that is one place and nothing else becomes the
 * value itself, of whatever type; otherwise values are written into the text. The result is a copy.
 *
 * ```ts
 * await resolveTemplates({ file: '{{ extract.path }}', note: 'from {{ extract.path }}' }, read)
 * ```
 */
export async function resolveTemplates(template: Json, read: ReadVariable): Promise<Json> {
  // Its depth is bounded from here on, and it is what it says it is.
  encodeJson(template, { what: 'template', bytesMax: VARIABLE_MAX_BYTES })
  const parsed = new Map<string, Template>()
  collectTexts(template, parsed)
  const names = new Set<string>()
  for (const { parts } of parsed.values()) {
    for (const part of parts)
      if (typeof part !== 'string' && 'variable' in part.of) names.add(part.of.variable)
  }
  const values = new Map(await Promise.all([...names].map(async (name) => [name, await read(name)] as const)))
  return freezeDeeply(fill(template, parsed, values))
}

function collectTexts(value: Json, parsed: Map<string, Template>): void {
  if (typeof value === 'string') {
    if (value.includes('{{')) parsed.set(value, parseTemplate(value))
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values<Json>(value)) collectTexts(member, parsed)
  }
}

type Values = ReadonlyMap<string, Json | undefined>

function fill(value: Json, parsed: ReadonlyMap<string, Template>, values: Values): Json {
  if (typeof value === 'string') {
    const template = parsed.get(value)
    return template === undefined ? value : fillText(template, values)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((member) => fill(member, parsed, values))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member, parsed, values)]))
}

function fillText({ parts }: Template, values: Values): Json {
  const [only] = parts
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') return fillPlace(only, values)
  return parts.map((part) => (typeof part === 'string' ? part : textOf(fillPlace(part, values)))).join('')
}

function fillPlace({ of, filters, shown }: TemplatePlace, values: Values): Json {
  let value = 'literal' in of ? of.literal : step(values.get(of.variable), of.path)
  for (const { name, args } of filters) {
    if (name === 'default') value ??= value === null ? null : args[0]
    else if (value === undefined) break
    else value = applyFilter(name, args, { value, shown })
  }
  if (value !== undefined) return value
  const named = 'literal' in of ? shown : of.variable
  const isSet = !('literal' in of) && values.get(of.variable) !== undefined
  throw new MissingError(
    'core/missing-variable',
    isSet
      ? `fill in ${shown}: variable "${named}" has nothing there`
      : `fill in ${shown}: variable "${named}" is not set`,
    {
      details: { variable: named },
      next: 'Set the variable first, or give a default: {{ NAME | default("") }}.',
    },
  )
}

/** Own members only: what a prototype offers is not there. */
function step(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  let found = value
  for (const at of path) {
    if (
      typeof found !== 'object' ||
      found === null ||
      typeof at === (Array.isArray(found) ? 'string' : 'number')
    ) {
      return undefined
    }
    found = Object.hasOwn(found, at) ? (found as Readonly<Record<string | number, Json>>)[at] : undefined
  }
  return found
}
