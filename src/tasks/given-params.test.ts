// Goal: what a workflow gives is read as its author meant it, and a schema that says nothing is left alone.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Json } from '../base/json.ts'
import { readGivenParams } from './given-params.ts'

const tree = z.object({
  value: z.int(),
  get children() {
    return z.array(tree).optional()
  },
})
const SCHEMA = z.object({
  day: z.string(),
  limit: z.int().default(10),
  note: z.string().optional(),
  nullable: z.string().nullable().optional(),
  nullish: z.enum(['a', 'b']).nullish(),
  literal: z.literal([null, 'x']).optional(),
  anything: z.unknown().optional(),
  read: z.preprocess((value) => value ?? 'none', z.string()).optional(),
  coerced: z.coerce.number().default(5),
  needed: z.string().nullable(),
  filter: z
    .object({ from: z.string().optional(), sizes: z.array(z.object({ min: z.int().optional() })) })
    .optional(),
  open: z.looseObject({ a: z.int().optional() }).optional(),
  byName: z.record(z.string(), z.object({ n: z.int().optional() })).optional(),
  kind: z
    .union([
      z.object({ is: z.literal('file'), path: z.string().optional() }),
      z.object({ is: z.literal('table'), name: z.string().nullable().optional() }),
    ])
    .optional(),
  both: z
    .object({ a: z.int() })
    .and(z.object({ b: z.int().optional() }))
    .optional(),
  tree: tree.optional(),
})

const read = (given: Json) => readGivenParams(SCHEMA, given)

describe('keys that a schema does not know', () => {
  test.each<[string, Json, readonly string[]]>([
    ['misspelt', { dya: 'x' }, ['params.dya is not known; did you mean "day"?']],
    ['without a likeness', { whatever: 1 }, ['params.whatever is not known']],
    ['nested', { filter: { form: 'x' } }, ['params.filter.form is not known; did you mean "from"?']],
    [
      'in an array',
      { filter: { sizes: [{}, { mni: 1 }] } },
      ['params.filter.sizes[1].mni is not known; did you mean "min"?'],
    ],
    ['in a record', { byName: { any: { m: 1 } } }, ['params.byName.any.m is not known; did you mean "n"?']],
    [
      'of another member of the union',
      { kind: { is: 'file', name: 'x' } },
      ['params.kind.name is not known'],
    ],
    [
      'in a recursive object',
      { tree: { value: 1, children: [{ valeu: 2 }] } },
      ['params.tree.children[0].valeu is not known; did you mean "value"?'],
    ],
    ['named __proto__', JSON.parse('{"__proto__": 1}') as Json, ['params.__proto__ is not known']],
  ])('WK-283 a key is told with its path: %s', (_, given, unknown) => {
    expect(read(given).unknown).toEqual(unknown)
  })

  test.each<[string, Json]>([
    ['all that are declared', { day: 'x', limit: 1, needed: null, both: { a: 1, b: 2 } }],
    ['in an open object', { open: { b: 1 } }],
    ['in a value that may be anything', { anything: { b: 1 }, read: { b: 1 } }],
    ['the names of a record', { byName: { a: { n: 1 }, b: {} } }],
    ['where another type is wanted, which the schema itself refuses', { day: { a: 1 } }],
  ])('WK-283 a key that is taken is not told: %s', (_, given) => {
    expect(read(given)).toEqual({ params: given, unknown: [] })
  })

  test.each([z.unknown(), z.custom<string>(), z.string(), z.record(z.string(), z.int())])(
    'WK-283 a schema that names no keys takes all of them',
    (schema) => {
      expect(readGivenParams(schema, { a: null, b: 1 })).toEqual({ params: { a: null, b: 1 }, unknown: [] })
    },
  )
})

describe('null for what was not given', () => {
  test('WK-284 null counts as absent where a param has a default or is optional and does not take null', () => {
    const given = { limit: null, note: null, coerced: null, filter: { from: null, sizes: [{ min: null }] } }
    expect(read({ day: 'x', ...given, kind: { is: 'file', path: null }, tree: null }).params).toEqual({
      ...{ day: 'x', filter: { sizes: [{}] }, kind: { is: 'file' } },
    })
    expect(SCHEMA.parse(read({ day: 'x', needed: null, ...given }).params)).toMatchObject({
      limit: 10,
      coerced: 5,
    })
  })

  test('WK-284 null stays where it is taken, needed or not known', () => {
    const taken = { nullable: null, nullish: null, literal: null, anything: null, read: null, needed: null }
    const given = { ...taken, day: null, kind: { is: 'table', name: null }, open: { b: null } }
    expect(read(given).params).toEqual(given)
  })

  test('WK-284 all parameters may be absent where the schema has a default', () => {
    expect(readGivenParams(z.object({ a: z.int() }).default({ a: 1 }), null).params).toEqual({ a: 1 })
    expect(readGivenParams(z.object({ a: z.int() }).nullable().default({ a: 1 }), null).params).toBeNull()
    expect(readGivenParams(z.object({}), null).params).toBeNull()
  })
})
