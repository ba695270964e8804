import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { compileDocument } from './compile-document.ts'
import { findSharers } from './graph-sharers.ts'

function sharersOf(text: string) {
  const { graph, problems } = compileDocument(parse(`name: p\n${text}`))
  expect(problems).toEqual([])
  if (graph === undefined) throw new Error('it was refused')
  return Object.fromEntries([...findSharers(graph)].map(([name, sharers]) => [name, sharers]))
}

test('DO-184 a unit of the type set shares its values; a value, a condition, a loop and an undo use them', () => {
  expect(
    sharersOf(`
units:
  keep: { set: { rows: 7, day: '\${workflow.input.day}' } }
  more: { set: { rows: '\${workflow.variables.rows}' }, after: [keep] }
  load: { task: load, params: { at: 'on \${workflow.variables.day}' }, onlyIf: 'shared.rows > 3', after: [keep] }
  late: { human: {}, startWhen: 'shared.isOpen == true' }
  again: { while: 'shared.rows < 9', max: 3, units: { part: { task: load, params: { n: '\${workflow.variables.rows.first[0]}' } } } }
`),
  ).toEqual({
    rows: { setBy: ['keep', 'more'], usedBy: ['more', 'load', 'again', 'part'], isUsedAtEnd: false },
    day: { setBy: ['keep'], usedBy: ['load'], isUsedAtEnd: false },
    isOpen: { setBy: [], usedBy: ['late'], isUsedAtEnd: false },
  })
})

test('DO-184 what the output or the final check uses is said to be used at the end, and an escaped text uses nothing', () => {
  expect(
    sharersOf(`
policy: { verify: { condition: 'shared.good == true' } }
output: { rows: '\${workflow.variables.rows}' }
units:
  keep: { set: { rows: 7 } }
  say: { task: say, params: { text: '$\${workflow.variables.rows}' } }
`),
  ).toEqual({
    rows: { setBy: ['keep'], usedBy: [], isUsedAtEnd: true },
    good: { setBy: [], usedBy: [], isUsedAtEnd: true },
  })
})
