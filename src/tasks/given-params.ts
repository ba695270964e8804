/**
 * Parameters as a workflow gives them, before a task's schema reads them. Conductor gives null for an input of the workflow that was
 * not given, so null counts as absent where a parameter may be absent and does not take null itself.
 */

import type { z } from 'zod'
import type { Json, JsonObject } from '../base/json.ts'
import { unknownKey } from './known-keys.ts'
import {
  itemShapes,
  keyShape,
  knownKeys,
  shapesFor,
  shapesOf,
  takesNull,
  type KeyShape,
  type Shapes,
} from './params-shape.ts'

export interface GivenParams {
  /** Without the nulls that count as absent. */
  readonly params: Json
  /** The problem with each key that the schema does not know. */
  readonly unknown: readonly string[]
}

/** One key of the parameters, at any depth. */
export interface ParamKey extends Pick<KeyShape, 'isAbsentAsNull' | 'default'> {
  /** Such as `params.filter.day`. */
  readonly path: string
  readonly value: Json
  /** The problem with a key that the schema does not know. */
  readonly unknown: string | undefined
}

/**
 * ```ts
 * readGivenParams(z.object({ day: z.string(), limit: z.int().default(10) }), { day: 'today', limit: null, dya: 1 })
 * // { params: { day: 'today', dya: 1 }, unknown: ['params.dya is not known; did you mean "day"?'] }
 * ```
 */
export function readGivenParams(schema: z.ZodType, given: Json): GivenParams {
  const shapes = shapesOf(schema)
  if (given === null) return { params: rootFor(shapes), unknown: [] }
  const unknown: string[] = []
  const isKept = ({ value, unknown: problem, isAbsentAsNull }: ParamKey): boolean => {
    if (problem !== undefined) unknown.push(problem)
    return value !== null || !isAbsentAsNull
  }
  return { params: copy({ value: given, shapes, path: ROOT }, isKept), unknown }
}

/** Every key of the parameters that a step of a workflow declares. */
export function paramKeysOf(schema: z.ZodType, declared: Json): readonly ParamKey[] {
  const keys: ParamKey[] = []
  copy({ value: declared, shapes: shapesOf(schema), path: ROOT }, (key) => keys.push(key) > 0)
  return keys
}

const ROOT = 'params'

/** All of them may be absent, too. */
function rootFor({ root }: Shapes): Json {
  return root.default === undefined || takesNull(root, root) ? null : root.default
}

interface Place {
  readonly value: Json
  readonly shapes: Shapes
  readonly path: string
}

function copy({ value, shapes, path }: Place, isKept: (key: ParamKey) => boolean): Json {
  if (typeof value !== 'object' || value === null || shapes.alternatives.length === 0) return value
  if (Array.isArray(value)) {
    const items = value as readonly Json[]
    return items.map((item, index) =>
      copy({ value: item, shapes: itemShapes(shapes, index), path: `${path}[${index}]` }, isKept),
    )
  }
  const fitting = shapesFor(shapes, value as JsonObject)
  const kept = Object.entries(value as JsonObject).flatMap(([key, inner]) => {
    const { isKnown, inside, ...shape } = keyShape(fitting, key)
    const unknown = isKnown ? undefined : unknownKey(key, knownKeys(fitting), path)
    const place = { value: inner, shapes: inside, path: `${path}.${key}` }
    if (!isKept({ ...shape, value: inner, path: place.path, unknown })) return []
    return [[key, copy(place, isKept)] as const]
  })
  // Not by assignment: a key may be called `__proto__`.
  return Object.fromEntries(kept)
}
