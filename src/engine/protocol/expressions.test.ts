import { expect, test } from 'vitest'
import type { Json } from '../../base/json.ts'
import { evaluateTemplate } from './expressions.ts'

const VALUES: Readonly<Record<string, Json>> = {
  workflow: {
    input: { s: 'S', n: 1.5, b: false, nul: null, o: { list: [{ k: 'x' }, { k: 'y' }] }, 'with-dash': 'D' },
  },
  a: { output: { ok: true } },
}
const ROOTS = (name: string): Json | undefined => VALUES[name]

test.each<[Json, Json]>([
  ['${workflow.input.n}', 1.5],
  ['${workflow.input.b}', false],
  ['${workflow.input.o}', { list: [{ k: 'x' }, { k: 'y' }] }],
  ['${workflow.input.o.list[1].k}', 'y'],
  ['${workflow.input.o.list[-1].k}', 'y'],
  ["${workflow.input['with-dash']}", 'D'],
  ['${workflow.input.with-dash}', 'D'],
  ['${workflow.input.missing}', null],
  ['${workflow.input.missing.deeper}', null],
  ['${workflow.input.s.length}', null],
  ['${workflow.input.constructor}', null],
  ['${a.output.ok}', true],
  [
    'pre ${workflow.input.s} mid ${workflow.input.n} ${workflow.input.o} post',
    'pre S mid 1.5 {list=[{k=x}, {k=y}]} post',
  ],
  ['<${workflow.input.missing}>', '<null>'],
  ['$${workflow.input.s}', '${workflow.input.s}'],
  ['${workflow.input.s', '${workflow.input.s'],
  [
    [1, { z: '${workflow.input.s}' }, null],
    [1, { z: 'S' }, null],
  ],
  [12, 12],
])('CO-53 %j is evaluated to %j', (template, value) => {
  expect(evaluateTemplate({ x: template }, ROOTS)).toEqual({ x: value })
})

test('CO-53 a path it cannot follow is refused instead of read as nothing', () => {
  expect(() => evaluateTemplate({ x: "${a.output[?(@.k=='y')]}" }, ROOTS)).toThrow('only names and [index]')
})
