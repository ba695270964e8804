/** Prints shapes as a JSON Schema (draft 2020-12), for editors and other tools. */

import type { JsonObject } from '../../base/json.ts'
import type { ChoiceShape, Field, FieldsShape, MapShape, NamedShapes, Shape } from './shape.ts'

export interface SchemaHead {
  readonly id: string
  readonly title: string
  readonly description: string
}

export function printJsonSchema(head: SchemaHead, top: Shape, named: NamedShapes): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: head.id,
    title: head.title,
    description: head.description,
    ...print(top),
    $defs: Object.fromEntries(Object.entries(named).map(([name, shape]) => [name, print(shape)])),
  }
}

function print(shape: Shape): JsonObject {
  switch (shape.is) {
    case 'text':
      return { type: 'string', pattern: shape.pattern.source }
    case 'number':
      return { type: shape.whole === true ? 'integer' : 'number', minimum: shape.min, maximum: shape.max }
    case 'boolean':
      return { type: 'boolean' }
    case 'one-of':
      return { enum: shape.values }
    case 'json':
      return {}
    case 'object':
      return { type: 'object' }
    case 'named':
      return { $ref: `#/$defs/${shape.name}` }
    case 'either':
      return { anyOf: shape.of.map(print) }
    case 'list':
      return { type: 'array', items: print(shape.of), minItems: shape.min ?? 0 }
    case 'map':
      return printMap(shape)
    case 'fields':
      return printFields(shape)
    case 'choice':
      return printChoice(shape)
  }
}

function printMap({ of, keys, min }: MapShape): JsonObject {
  return {
    type: 'object',
    propertyNames: { pattern: keys.pattern.source },
    additionalProperties: print(of),
    minProperties: min ?? 0,
  }
}

function printFields({ fields }: FieldsShape, alsoRequired: readonly string[] = []): JsonObject {
  const required = Object.entries(fields)
    .filter(([, field]) => field.required === true)
    .map(([key]) => key)
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, printField(field)])),
    required: [...new Set([...alsoRequired, ...required])],
    additionalProperties: false,
  }
}

function printField({ about, shape }: Field): JsonObject {
  return { description: about, ...print(shape) }
}

function printChoice({ options }: ChoiceShape): JsonObject {
  return { oneOf: Object.entries(options).map(([key, fields]) => printFields(fields, [key])) }
}
