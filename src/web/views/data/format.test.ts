import { describe, expect, test } from 'vitest'
import { imageTypeOf, promisedFormat, textOf } from './format.ts'

describe('formats', () => {
  test.each([
    ['a/b.CSV', 'csv'],
    ['b.tsv', 'csv'],
    ['b.json', 'json'],
    ['b.parquet', 'parquet'],
    ['b.svg', 'image'],
    ['b.html', undefined],
    ['a.csv/b', undefined],
    ['constructor', undefined],
    ['x.constructor', undefined],
  ])('WB-30 %s is shown by its ending', (path, format) => {
    expect(promisedFormat(path)).toBe(format)
  })

  test('WB-30 only images get a type, from a fixed list', () => {
    const paths = ['a.png', 'a.svg', 'a.html', 'a.js', 'a.toString']
    expect(paths.map(imageTypeOf)).toEqual(['image/png', 'image/svg+xml', undefined, undefined, undefined])
  })

  test('WB-30 bytes that are no UTF-8 are no text, and a cut inside a character is none of its faults', () => {
    const bytes = new TextEncoder().encode('größe')
    expect(textOf(bytes, false)).toBe('größe')
    expect([textOf(bytes.subarray(0, 3), true), textOf(bytes.subarray(0, 3), false)]).toEqual([
      'gr',
      undefined,
    ])
    expect(textOf(Uint8Array.of(97, 0, 98), false)).toBeUndefined()
  })
})
