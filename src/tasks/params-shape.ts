/**
 * The shape that a schema gives to parameters, as far as Zod does not judge it: keys that it does not know, which Zod leaves out
 * without a word, and keys that may be absent and do not take null. Read from its JSON Schema.
 */

import { z } from 'zod'
import type { Json, JsonObject } from '../base/json.ts'

/** A JSON Schema, as far as it is read here. */
export interface Shape {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: Json
  readonly enum?: readonly Json[]
  readonly default?: Json
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly allOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Shape
  readonly items?: Shape | readonly Shape[]
  readonly definitions?: Readonly<Record<string, Shape>>
}

/** What a value may be, each alternative by itself: none of them is a reference or a choice. */
export interface Shapes {
  readonly root: Shape
  readonly alternatives: readonly Shape[]
}

/** What a key of an object is. */
export interface KeyShape {
  readonly isKnown: boolean
  /** It may be left out, and does not take null. */
  readonly isAbsentAsNull: boolean
  readonly default: Json | undefined
  readonly inside: Shapes
}

const shapesOfSchemas = new WeakMap<z.ZodType, Shapes>()

export function shapesOf(schema: z.ZodType): Shapes {
  const known = shapesOfSchemas.get(schema)
  if (known !== undefined) return known
  const root = readShape(schema)
  const shapes = { root, alternatives: alternativesOf(root, [root]) }
  shapesOfSchemas.set(schema, shapes)
  return shapes
}

/** A schema that cannot be written as JSON Schema says nothing here; a registration refuses it. */
function readShape(schema: z.ZodType): Shape {
  try {
    return z.toJSONSchema(schema, {
      ...{ target: 'draft-7', io: 'input', unrepresentable: 'any' },
      override: ({ zodSchema, jsonSchema }) => {
        // Its author reads the value first, and may take anything.
        if (isPreprocessing(zodSchema))
          for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
      },
    }) as Shape
  } catch {
    return {}
  }
}

function isPreprocessing({ _zod: { def } }: z.core.$ZodTypes): boolean {
  return def.type === 'pipe' && def.in._zod.def.type === 'transform'
}

function alternativesOf(root: Shape, shapes: readonly Shape[]): readonly Shape[] {
  const found = new Set<Shape>()
  const left = [...shapes]
  for (let shape = left.shift(); shape !== undefined; shape = left.shift()) {
    if (found.has(shape)) continue
    found.add(shape)
    const inner = [shape.anyOf, shape.oneOf, shape.allOf].flatMap((some) => some ?? [])
    const target = shape.$ref === undefined ? undefined : resolve(root, shape.$ref)
    left.push(...inner, ...(target === undefined ? [] : [target]))
  }
  return [...found].filter((shape) => !isChoice(shape))
}

function isChoice({ $ref, anyOf, oneOf, allOf }: Shape): boolean {
  return [$ref, anyOf, oneOf, allOf].some((part) => part !== undefined)
}

function resolve(root: Shape, reference: string): Shape | undefined {
  if (reference === '#') return root
  const name = /^#\/definitions\/(.+)$/.exec(reference)?.[1]
  return name === undefined ? undefined : root.definitions?.[name]
}

/** Those that an object may be by what it says of itself, as the members of a union do; all where it says nothing. */
export function shapesFor({ root, alternatives }: Shapes, value: JsonObject): Shapes {
  const objects = alternatives.filter(isOfObjects)
  const fitting = objects.filter(({ properties = {} }) =>
    Object.entries(properties).every(
      ([key, shape]) => shape.const === undefined || shape.const === value[key],
    ),
  )
  return { root, alternatives: fitting.length > 0 ? fitting : objects }
}

/** What describes the items of an array, at one place. */
export function itemShapes({ root, alternatives }: Shapes, index: number): Shapes {
  const items = alternatives.flatMap(({ items: all }) => {
    if (all === undefined) return []
    const own = isList(all) ? all[index] : all
    return own === undefined ? [] : [own]
  })
  return { root, alternatives: alternativesOf(root, items) }
}

export function keyShape({ root, alternatives }: Shapes, key: string): KeyShape {
  const knowing = alternatives.flatMap((shape) => {
    const own = propertyOf(shape, key)
    return own === undefined ? [] : [{ shape, own }]
  })
  const isAbsentAsNull =
    knowing.length > 0 && knowing.every(({ shape, own }) => mayBeAbsent(shape, key) && !takesNull(root, own))
  const shapes = knowing.map(({ own }) => own)
  return {
    isKnown: knowing.length > 0 || alternatives.length === 0 || alternatives.some(takesAnyKey),
    isAbsentAsNull: isAbsentAsNull && !alternatives.some((shape) => isAnything(shape)),
    default: shapes.find((shape) => shape.default !== undefined)?.default,
    inside: { root, alternatives: alternativesOf(root, shapes) },
  }
}

/** The keys that the alternatives name. */
export function knownKeys({ alternatives }: Shapes): readonly string[] {
  return [...new Set(alternatives.flatMap(({ properties = {} }) => Object.keys(properties)))]
}

function propertyOf({ properties, additionalProperties }: Shape, key: string): Shape | undefined {
  const own = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined
  return own ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
}

/** By its name: what a record holds is there or is not. */
function mayBeAbsent({ properties = {}, required = [] }: Shape, key: string): boolean {
  return Object.hasOwn(properties, key) && !required.includes(key)
}

/** Zod writes nothing for an object that leaves unknown keys out, and says so where they are kept or refused. */
function takesAnyKey({ properties, additionalProperties }: Shape): boolean {
  return properties === undefined || (additionalProperties !== undefined && additionalProperties !== false)
}

export function takesNull(root: Shape, shape: Shape): boolean {
  return alternativesOf(root, [shape]).some(
    (one) =>
      isAnything(one) ||
      one.const === null ||
      one.enum?.includes(null) === true ||
      (isList(one.type) ? one.type.includes('null') : one.type === 'null'),
  )
}

function isAnything({ type, const: only, enum: choices }: Shape): boolean {
  return type === undefined && only === undefined && choices === undefined
}

function isOfObjects(shape: Shape): boolean {
  return isAnything(shape) || (isList(shape.type) ? shape.type.includes('object') : shape.type === 'object')
}

function isList<Item>(value: Item | readonly Item[] | undefined): value is readonly Item[] {
  return Array.isArray(value)
}
