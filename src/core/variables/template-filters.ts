/** The filters of templates, except `default`. */

import { InvalidError } from '../../base/errors.ts'
import { decodeJson, encodeJson } from '../json.ts'
import type { Json } from '../../base/json.ts'

type Filter = (value: Json, args: readonly Json[]) => Json | undefined

const FILTERS = {
  upper: (value) => (typeof value === 'string' ? value.toUpperCase() : undefined),
  lower: (value) => (typeof value === 'string' ? value.toLowerCase() : undefined),
  trim: (value) => (typeof value === 'string' ? value.trim() : undefined),
  /** Characters of a string, elements of an array, properties of an object. */
  length: (value) => {
    if (typeof value === 'string') return Array.from(value).length
    return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined
  },
  join: (value, [between = ',']) => (isList(value) ? value.map(textOf).join(textOf(between)) : undefined),
  first: (value) => (isList(value) ? value[0] : undefined),
  last: (value) => (isList(value) ? value.at(-1) : undefined),
  json: (value) => encodeJson(value, { what: 'value of a template', bytesMax: Infinity }),
  string: textOf,
  number: (value) => {
    if (typeof value === 'number') return value
    return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
      ? Number(value)
      : undefined
  },
} as const satisfies Record<string, Filter>

export type FilterName = keyof typeof FILTERS | 'default'

export const FILTER_NAMES = ['default', ...(Object.keys(FILTERS) as (keyof typeof FILTERS)[])] as const

/** Throws `core/bad-template-value` for a value that the filter does not accept. */
export function applyFilter(
  name: Exclude<FilterName, 'default'>,
  args: readonly Json[],
  { value, shown }: { readonly value: Json; readonly shown: string },
): Json {
  const filter: Filter = FILTERS[name]
  const made = filter(value, args)
  if (made !== undefined)
    return decodeJson(encodeJson(made, { what: 'value of a template', bytesMax: Infinity }))
  const found = value === null ? 'null' : isList(value) ? 'an array' : `a value of type ${typeof value}`
  throw new InvalidError('core/bad-template-value', `fill in ${shown}: "${name}" does not accept ${found}`, {
    next: 'Remove the filter, or store another type of value.',
  })
}

/** A value inside a longer string: strings unchanged, everything else as JSON. */
export function textOf(value: Json): string {
  return typeof value === 'string'
    ? value
    : encodeJson(value, { what: 'value of a template', bytesMax: Infinity })
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
