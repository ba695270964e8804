import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffTables, keysOf, type Table } from './table-diff.ts'

const orders: Table = {
  columns: ['id', 'country', 'total'],
  rows: [
    ['1', 'DE', '10'],
    ['2', 'FR', '20'],
    ['3', 'DE', '30'],
  ],
}

const cell = fc.constantFrom('1', '2', '3', '')
const table = fc
  .array(fc.array(cell, { minLength: 2, maxLength: 2 }), { maxLength: 8 })
  .map((rows): Table => ({ columns: ['a', 'b'], rows }))

describe('differences of tables', () => {
  test('WB-23 rows are matched by their key: a changed cell is marked with what it was', () => {
    const after = {
      ...orders,
      rows: [
        ['3', 'DE', '31'],
        ['1', 'DE', '10'],
        ['4', 'IT', '5'],
      ],
    }
    expect(keysOf(orders, after)).toEqual(['id'])
    const { rows, counts } = diffTables(orders, after, 'id')
    expect(rows.map(({ kind, cells }) => [kind, ...cells.map(({ value, was }) => was ?? value)])).toEqual([
      ['removed', '2', 'FR', '20'],
      ['changed', '3', 'DE', '30'],
      ['same', '1', 'DE', '10'],
      ['added', '4', 'IT', '5'],
    ])
    expect(counts).toEqual({ same: 1, changed: 1, added: 1, removed: 1 })
    expect(rows[1]?.cells[2]).toEqual({ value: '31', was: '30' })
  })

  test('WB-23 a column that is different in most rows is no key, even if no value repeats', () => {
    const after = {
      ...orders,
      rows: orders.rows.map(([id = '', country = ''], at) => [id, country, `9${String(at)}`]),
    }
    expect(keysOf(orders, after)).toEqual(['id'])
  })

  test('WB-23 without a key a row that came in between changes no other', () => {
    const after = { ...orders, rows: [['0', 'ES', '1'], ...orders.rows] }
    expect(diffTables(orders, after).counts).toEqual({ same: 3, changed: 0, added: 1, removed: 0 })
  })

  test('WB-23 a new column and one that is gone are marked once, and change no row', () => {
    const after = {
      columns: ['id', 'total', 'vat'],
      rows: orders.rows.map(([id = '', , total = '']) => [id, total, '1']),
    }
    const { columns, counts } = diffTables(orders, after, 'id')
    expect(columns.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      ...['id same', 'total same', 'vat added', 'country removed'],
    ])
    expect(counts).toMatchObject({ same: 3, changed: 0 })
  })

  test('WB-23 two columns of one name are told apart by their place', () => {
    const before = { columns: ['a', 'a'], rows: [['1', '2']] }
    const { rows } = diffTables(before, { columns: ['a', 'a'], rows: [['1', '3']] })
    expect(rows[0]?.cells).toEqual([{ value: '1' }, { value: '3', was: '2' }])
  })

  test('WB-23 every row of both tables is shown once, matched or not', () => {
    fc.assert(
      fc.property(table, table, fc.boolean(), (before, after, byKey) => {
        const key = byKey ? keysOf(before, after)[0] : undefined
        const { rows, counts } = diffTables(before, after, key)
        expect(rows).toHaveLength(Object.values(counts).reduce((sum, count) => sum + count))
        expect(counts.same + counts.changed + counts.added).toBe(after.rows.length)
        expect(counts.same + counts.changed + counts.removed).toBe(before.rows.length)
        const now = rows.filter(({ kind }) => kind !== 'removed')
        expect(now.map(({ cells }) => cells.map(({ value }) => value))).toEqual(after.rows)
      }),
    )
  })
})
