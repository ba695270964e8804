// Goal: the fast reader never reads anything that the parser of all YAML reads differently, or finds an error in.
// Method: texts of the forms that it knows and of others, changed at random places; both read them.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { readPlainText } from './plain-text.ts'

const key = fc.constantFrom(
  'a',
  'b',
  'units',
  'x-1',
  '_k',
  'null',
  'True',
  '__proto__',
  "'q'",
  '1',
  'a b',
  '<<',
  '~',
)
const scalar = fc.oneof(
  fc.constantFrom(
    ...[
      'text',
      'two words',
      '12',
      '007',
      '1.50',
      '1e5',
      '0x1F',
      '0o7',
      '-3',
      '+3',
      '.5',
      '1.',
      '.inf',
      '1_000',
    ],
    ...[
      '2026-01-15',
      '12:30',
      '12 GiB',
      'true',
      'False',
      'NULL',
      '~',
      'yes',
      'NaN',
      'Infinity',
      '${a.output}',
    ],
    ...[
      "'single'",
      "'it''s'",
      '"double"',
      '"esc\\n"',
      '"a: b"',
      "''",
      '""',
      'http://x/y',
      'a:b',
      'a: b',
      'a #b',
      'a#b',
    ],
    ...[
      '# comment',
      '*alias',
      '&anchor x',
      '!tag x',
      '|',
      '>',
      '- x',
      '@x',
      '`x`',
      '%x',
      'x:',
      "it's",
      'a, b',
      'ü',
    ],
    ...[
      '{ a: 1 }',
      '{a: 1, b: [x, y]}',
      '[]',
      '{}',
      '[a, b]',
      '[ \'a\' , "b" ]',
      '[a: b]',
      '{ a }',
      '[a,]',
      '{a:b}',
    ],
    ...[
      '[a b]',
      '{ a: 1, a: 2 }',
      '[1, 2.5, null, true]',
      '{ a: { b: { c: [] } } }',
      '[a]: b',
      "'x'y",
      '[a] # note',
    ],
  ),
  fc.string({ maxLength: 6 }),
)
const indent = fc.constantFrom('', '', '  ', '  ', '    ', '   ', '\t')
const line = fc.oneof(
  fc.tuple(indent, key, scalar).map((parts) => `${parts[0]}${parts[1]}: ${parts[2]}`),
  fc.tuple(indent, key).map(([before, name]) => `${before}${name}:`),
  fc.tuple(indent, scalar).map(([before, value]) => `${before}- ${value}`),
  fc.tuple(indent, key, scalar).map((parts) => `${parts[0]}- ${parts[1]}: ${parts[2]}`),
  fc.tuple(indent, scalar).map(([before, value]) => `${before}${value}`),
  fc.constantFrom('', '   ', '# note', '  # note', '---', '...', '-', '?', 'a', '%YAML 1.2', '\r'),
)
const lines = fc.array(line, { maxLength: 7 }).map((all) => all.join('\n'))

const usual = fc.constantFrom(
  ...[
    'text',
    'two words',
    '12',
    '2.5',
    'true',
    '5m',
    '2026-01-15',
    "'it''s'",
    '"a: b"',
    '[a, b]',
    '{ a: 1, b: [] }',
  ],
)
const mostlyUsual = fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: scalar })

/** What a text of a block is made of, with its lines where they belong. */
const { block } = fc.letrec<{ block: string[] }>((tie) => ({
  block: fc.oneof(
    { depthSize: 'small' },
    fc.array(
      fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), mostlyUsual).map(([name, value]) => `${name}: ${value}`),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    fc.array(
      scalar.map((value) => `- ${value}`),
      { minLength: 1, maxLength: 3 },
    ),
    fc
      .tuple(tie('block'), tie('block'))
      .map(([one, other]) => [
        ...['first:', ...one.map((each) => `  ${each}`)],
        ...['second:', ...other.map((each) => `  ${each}`)],
      ]),
    tie('block').map((inner) => inner.map((each, index) => `${index === 0 ? '- ' : '  '}${each}`)),
  ),
}))

function expectSame(text: string): boolean {
  const fast = readPlainText(text)
  if (fast === undefined) return false
  const document = parseDocument(text, { version: '1.2', prettyErrors: false })
  expect([text, ...document.errors, ...document.warnings]).toEqual([text])
  expect([text, document.toJS()]).toEqual([text, fast])
  expect(JSON.stringify(fast)).toBe(JSON.stringify(document.toJS()))
  return true
}

test('EN-505 what is read fast is read as the parser of all YAML reads it: lines of any kind', () => {
  fc.assert(
    fc.property(lines, (text) => void expectSame(text)),
    { numRuns: 3_000 },
  )
})

test('EN-505 … blocks, also with characters that are in the wrong place', () => {
  let fast = 0
  fc.assert(
    fc.property(
      block,
      fc.nat(),
      fc.constantFrom('', ' ', ':', '-', '"', '\n', '#', ','),
      (all, at, wrong) => {
        const text = all.join('\n')
        if (expectSame(text)) fast++
        expectSame(`${text.slice(0, at % (text.length + 1))}${wrong}${text.slice(at % (text.length + 1))}`)
      },
    ),
    { numRuns: 2_000 },
  )
  // Otherwise this would prove nothing.
  expect(fast).toBeGreaterThan(200)
})

test('EN-505 … JSON, also with keys that come twice', () => {
  let fast = 0
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 4 }),
      fc.constantFrom('', '"a":1,', ' ', '"', '":'),
      fc.nat(),
      (json, more, at) => {
        if (expectSame(json)) fast++
        const place = at % (json.length + 1)
        const text = `${json.slice(0, place)}${more}${json.slice(place)}`
        // YAML may refuse what JSON allows, such as a tab; it never reads it as another value.
        const value = readPlainText(text)
        if (value !== undefined) expect(value).toEqual(JSON.parse(text))
      },
    ),
    { numRuns: 1_000 },
  )
  expect(fast).toBeGreaterThan(200)
  for (const twice of ['{"a":1,"a":2}', '{"a":{"b":1,"b":1}}', '{"x":["y", ":"],"a":1,"a":1}'])
    expect(readPlainText(twice)).toBeUndefined()
  expect(readPlainText('{"x":["y", ":"],"a":"\\":"}')).toEqual({ x: ['y', ':'], a: '":' })
})

test('EN-505 … a line break that is none in YAML', () => {
  // Found by the first property.
  expect(readPlainText('[1, 2.5, null, true]\n\r')).toBeUndefined()
  expect(readPlainText('a: 1\r')).toBeUndefined()
})

test('EN-505 a pipeline as people write it is read fast', () => {
  for (const path of ['examples/one-task/day.yaml', 'examples/orders-etl/pipeline.yaml'])
    expect([path, expectSame(readFileSync(path, 'utf8'))]).toEqual([path, true])
})
