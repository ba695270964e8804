import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareBytes } from '../../test/support/workspace/memory-source.ts'
import { KeyTable } from './key-table.ts'

const path = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => !/\p{Surrogate}/u.test(text)),
  fc.string({ unit: fc.constantFrom('a', 'b', '/', '\u00e9', '\uffff', '\u{10000}'), maxLength: 6 }),
)

test('WS-30 a table of paths gives back what was put in, and finds exactly that', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { maxLength: 200 }),
      fc.array(path, { maxLength: 20 }),
      (paths, others) => {
        const sorted = [...paths].sort(compareBytes)
        const table = new KeyTable()
        for (const each of sorted) expect(table.append(each)).toBe(true)
        table.trim()
        expect(sorted.map((_, index) => table.at(index))).toEqual(sorted)
        for (const each of [...sorted, ...others]) {
          expect(table.find(each)).toBe(sorted.indexOf(each))
          expect(table.firstBelow(each)).toBe(sorted.find((candidate) => candidate.startsWith(each)))
        }
      },
    ),
  )
})

test('WS-30 a path that does not come after the last one is not taken', () => {
  fc.assert(
    fc.property(path, path, (first, second) => {
      const table = new KeyTable()
      table.append(first)
      expect(table.append(second)).toBe(compareBytes(first, second) < 0)
    }),
  )
})
