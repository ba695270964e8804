import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv, separatorOf } from './csv.ts'

const field = fc.string({
  unit: fc.constantFrom('a', '1', ' ', '"', ',', ';', '\n', '\r', 'é'),
  maxLength: 6,
})
const records = fc
  .integer({ min: 2, max: 4 })
  .chain((width) =>
    fc.array(fc.array(field, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
  )

describe('CSV', () => {
  test('WB-22 what was written with quotes is read back, whatever stands in the fields', () => {
    fc.assert(
      fc.property(
        records,
        fc.constantFrom(',', ';'),
        fc.constantFrom('\n', '\r\n'),
        (given, separator, end) => {
          const text = given.map((fields) => fields.map(quote).join(separator)).join(end) + end
          const [columns, ...rows] = given
          expect(readCsv(text, separator)).toEqual({ columns, rows, isBroken: false, isCut: false })
        },
      ),
    )
  })

  test('WB-22 any text at all is read', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r') }), (text) => {
        expect(() => readCsv(text, ',')).not.toThrow()
      }),
    )
  })

  test.each([
    ['a,b\n1,2', [['1', '2']], false],
    ['\uFEFFa,b\n1,2\n', [['1', '2']], false],
    ['a,b\r\n"1\r\n2",3\r\n', [['1\r\n2', '3']], false],
    ['a,b\n"say ""yes""",', [['say "yes"', '']], false],
    ['a,b\n\n1,2\n', [['1', '2']], false],
    ['a,b\n"1"x,2', [['1x', '2']], true],
    ['a,b\n"1,2', [['1,2']], true],
  ])('WB-22 %j has its rows', (text, rows, isBroken) => {
    expect(readCsv(text, ',')).toEqual({ columns: ['a', 'b'], rows, isBroken, isCut: false })
  })

  test('WB-22 a table is cut after its largest number of rows, and said to be so', () => {
    expect(readCsv('a\nb\nc\n', ',', 1)).toMatchObject({ rows: [['b']], isCut: true })
    expect(readCsv('a\nb\n', ',', 1)).toMatchObject({ isCut: false })
  })

  test.each([
    ['a,b;c,d\n1;2;3;4;5', 'x.csv', ','],
    ['a;b\n', 'x.csv', ';'],
    ['"a,b,c";d\n', 'x.csv', ';'],
    ['a|b|c\n', 'x.csv', '|'],
    ['a,b\n', 'x.tsv', '\t'],
    ['a\n', 'x.csv', ','],
  ])('WB-22 the separator of %j in %s is found', (text, path, separator) => {
    expect(separatorOf(text, path)).toBe(separator)
  })
})

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
