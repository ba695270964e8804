/** Replaces placeholders by the variables of one execution. */

import { MissingError } from '../../base/errors.ts'
import { VARIABLE_MAX_BYTES } from '../limits.ts'
import { encodeJson, freezeDeeply } from '../json.ts'
import type { Json } from '../../base/json.ts'
import { readPath } from '../expressions/json-values.ts'
import { parseTemplate, type Template, type TemplatePlace } from './parse-template.ts'
import { applyFilter, textOf } from './template-filters.ts'

/** `undefined` for a variable that is not set. */
export type ReadVariable = (name: string) => Promise<Json | undefined>

/**
 * Replaces placeholders in every string of a value, at any depth, but not in property names. A string that is just one
 * placeholder becomes the variable's value, of any type; otherwise values are inserted into the string. Returns a copy.
 *
 * ```ts
 * await resolveTemplates({ file: '{{ extract.path }}', note: 'from {{ extract.path }}' }, read)
 * ```
 */
export async function resolveTemplates(template: Json, read: ReadVariable): Promise<Json> {
  // Checks that it is JSON of bounded depth.
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
  let value = 'literal' in of ? of.literal : (readPath(values.get(of.variable), of.path) as Json | undefined)
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
      ? `fill in ${shown}: variable "${named}" has no value at this path`
      : `fill in ${shown}: variable "${named}" is not set`,
    {
      details: { variable: named },
      next: 'Set the variable first, or use a default: {{ NAME | default("") }}.',
    },
  )
}
