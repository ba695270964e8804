// Goal: a template gives the value it names, of its own type, and reaches nothing but own members of variables.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../base/json.ts'
import { parseTemplate } from './parse-template.ts'
import { resolveTemplates } from './resolve-templates.ts'

const VALUES: Readonly<Record<string, Json>> = {
  'extract.path': 's3://bucket/a',
  'extract.rows': 1_000_000,
  'extract.ok': true,
  'extract.nothing': null,
  'extract.empty': '',
  'extract.list': [1, 'two', { id: 3 }],
  'extract.result': { 'odd name': { deep: [10, 20] }, length: 5 },
  'pipeline.input.start_date': '2025-01-01',
}

function resolve(template: Json): Promise<Json> {
  return resolveTemplates(template, (name) =>
    Promise.resolve(Object.hasOwn(VALUES, name) ? VALUES[name] : undefined),
  )
}

test.each<[string, Json]>([
  ['{{ extract.rows }}', 1_000_000],
  ['{{extract.ok}}', true],
  ['{{ extract.nothing }}', null],
  ['{{ extract.list }}', [1, 'two', { id: 3 }]],
  ['{{ extract.list[2]["id"] }}', 3],
  ['{{ extract.result["odd name"]["deep"][1] }}', 20],
  ['{{ extract.result["length"] }}', 5],
  ['{{ pipeline.input.start_date }}', '2025-01-01'],
  [' {{ extract.rows }}', ' 1000000'],
  ['from {{ extract.path }}/x to {{ extract.list }}', 'from s3://bucket/a/x to [1,"two",{"id":3}]'],
  ['{{ extract.ok }}{{ extract.nothing }}', 'truenull'],
  ['no places } }} here', 'no places } }} here'],
  ['', ''],
  ['{{ "{{" }} and {{ "}}" }}', '{{ and }}'],
  ['{{ extract.missing | default(7) }}', 7],
  ['{{ extract.missing | default("a|b}}") }}', 'a|b}}'],
  ['{{ extract.missing | default(null) }}', null],
  ['{{ extract.list[9] | default(false) }}', false],
  ['{{ extract.nothing | default(7) }}', null],
  ['{{ extract.empty | default("x") }}', ''],
  ['{{ extract.path | upper }}', 'S3://BUCKET/A'],
  ['{{ extract.missing | default(" A ") | trim | lower }}', 'a'],
  ['{{ extract.list | length }}', 3],
  ['{{ extract.path | length }}', 13],
  ['{{ extract.list | join("; ") }}', '1; two; {"id":3}'],
  ['{{ extract.list | first }}', 1],
  ['{{ extract.list | last }}', { id: 3 }],
  ['{{ extract.list | json }}', '[1,"two",{"id":3}]'],
  ['{{ extract.rows | string }}', '1000000'],
  ['{{ extract.missing | default("42") | number }}', 42],
])('N-32 %j becomes %j', async (template, value) => {
  expect(await resolve(template)).toEqual(value)
})

test('N-32 every text of a value is filled in, keys are left alone, and the result is a copy of its own', async () => {
  const template = {
    file: '{{ extract.path }}',
    '{{ k }}': [{ rows: '{{ extract.rows }}' }],
    list: '{{ extract.list }}',
  }
  const value = await resolve(template)
  expect(value).toEqual({
    file: 's3://bucket/a',
    '{{ k }}': [{ rows: 1_000_000 }],
    list: [1, 'two', { id: 3 }],
  })
  expect(Object.isFrozen((value as { list: unknown }).list)).toBe(true)
})

test.each([
  ['{{ extract.missing }}', 'extract.missing', 'is not set'],
  ['a {{ other.path | upper }} b', 'other.path', 'is not set'],
  ['{{ extract.list[3] }}', 'extract.list', 'has no value at this path'],
  ['{{ extract.list["length"] }}', 'extract.list', 'has no value at this path'],
  ['{{ extract.list["0"] }}', 'extract.list', 'has no value at this path'],
  ['{{ extract.path[0] }}', 'extract.path', 'has no value at this path'],
  ['{{ extract.path["length"] }}', 'extract.path', 'has no value at this path'],
  ['{{ extract.result["constructor"] }}', 'extract.result', 'has no value at this path'],
  ['{{ extract.result["__proto__"] }}', 'extract.result', 'has no value at this path'],
  ['{{ extract.result["toString"]["name"] }}', 'extract.result', 'has no value at this path'],
  ['{{ extract.constructor }}', 'extract.constructor', 'is not set'],
])('N-36 %j is an error that names the variable', async (template, variable, why) => {
  const expected = { code: 'core/missing-variable', kind: 'missing', details: { variable } }
  await expect(resolve(template)).rejects.toMatchObject({
    ...expected,
    message: expect.stringContaining(`"${variable}" ${why}`) as string,
  })
})

test.each([
  ['{{ }}', 4],
  ['{{', 3],
  ['{{ extract.path', 16],
  ['{{ extract.path }', 17],
  ['{{ path }}', 4],
  ['{{ extract.path | }}', 19],
  ['{{ extract.path | shout }}', 19],
  ['{{ extract.path | default }}', 27],
  ['{{ extract.path | default() }}', 27],
  ['{{ extract.path | default(1, 2) }}', 32],
  ['{{ extract.path | upper("x") }}', 29],
  ['{{ extract.path[ }}', 18],
  ['{{ extract.path[-1] }}', 17],
  ['{{ extract.path["a] }}', 17],
  ['{{ 1 + 1 }}', 4],
  ['{{ extract.path + "x" }}', 17],
  ['{{ extract.path() }}', 16],
  ['ab {{ extract.path | default("\\x") }}', 34],
])('N-32 %j is refused at its character %i', async (template, at) => {
  await expect(resolve(template)).rejects.toMatchObject({
    code: 'core/bad-template',
    message: expect.stringContaining(`at character ${String(at)}:`) as string,
  })
})

test('N-32 a filter that can do nothing with its value says so', async () => {
  for (const template of [
    '{{ extract.rows | upper }}',
    '{{ extract.path | join }}',
    '{{ extract.path | number }}',
  ]) {
    await expect(resolve(template)).rejects.toMatchObject({ code: 'core/bad-template-value' })
  }
})

const name = fc.constantFrom('a.b', 'extract.rows', 'pipeline.input.x', 'node-1.some_name')

test('N-32 a place that is the whole text gives its value back, whatever it is', async () => {
  await fc.assert(
    fc.asyncProperty(name, fc.jsonValue(), async (variable, value) => {
      const found = await resolveTemplates(`{{ ${variable} }}`, () => Promise.resolve(value as Json))
      expect(found).toEqual(value)
    }),
  )
})

test('N-32 texts without two opening braces are left as they are, and any text is filled in or refused, nothing else', async () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    ' ',
    'a.b',
    '|',
    'default',
    '(',
    ')',
    '"',
    '\\',
    '[',
    ']',
    '0',
    'upper',
    '{',
    '}',
    '__proto__.x',
    '\n',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
  )
  await fc.assert(
    fc.asyncProperty(text, async (template) => {
      try {
        const found = await resolveTemplates(template, () => Promise.resolve('value'))
        if (!template.includes('{{')) expect(found).toBe(template)
      } catch (error) {
        expect(template).toContain('{{')
        expect((error as { code: string }).code).toMatch(
          /^core\/(bad-template|missing-variable|bad-template-value)$/,
        )
      }
    }),
    { numRuns: 2000 },
  )
})

test('N-32 pieces of text and places come back in their order', () => {
  const part = fc.oneof(
    fc.stringMatching(/^[a-z .}]{1,8}$/).filter((text) => !text.includes('{{')),
    name.map((variable) => ({ variable })),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const text = parts.map((one) => (typeof one === 'string' ? one : `{{ ${one.variable} }}`)).join('')
      const found = parseTemplate(text).parts.map((one) => (typeof one === 'string' ? one : one.of))
      const merged = parts.reduce<unknown[]>((list, one) => {
        const last = list.at(-1)
        if (typeof one === 'string' && typeof last === 'string') return [...list.slice(0, -1), last + one]
        return [...list, typeof one === 'string' ? one : { variable: one.variable, path: [] }]
      }, [])
      expect(found).toEqual(merged.length === 0 ? [''] : merged)
    }),
  )
})
