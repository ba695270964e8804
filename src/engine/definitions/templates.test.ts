import { expect, test } from 'vitest'
import { readPipelineText } from './read-pipeline-file.ts'

const graphOf = (text: string) => {
  const { pipeline, problems } = readPipelineText(text)
  expect(problems).toEqual([])
  return pipeline?.graph
}

const problemsOf = (text: string): readonly string[] =>
  readPipelineText(text).problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)

const LOAD = `
templates:
  load:
    parameters: { table: {}, limit: { default: 100 }, day: { default: '\${workflow.input.day}' } }
    units:
      get: { task: get, params: { sql: 'SELECT * FROM \${template.table}', limit: '\${template.limit}', day: '\${template.day}' } }
      put: { task: put, params: '\${get.output.result.rows}', onlyIf: 'get.result["rows"] > 0 && event:get.completed' }
    output: { rows: '\${put.output.result}', table: '\${template.table}' }
`

test('X-166 a template is filled in twice, with different values', () => {
  const graph = graphOf(`
name: p
units:
  begin: { task: begin }
  orders: { template: load, with: { table: orders, limit: 5 }, after: [begin] }
  items: { template: load, with: { table: '\${begin.output.result}' } }
  join: { task: join, params: { a: '\${orders.output.rows.count}', from: '\${orders.output.table}' }, after: [items] }
output: { rows: 'of \${items.output.rows}' }
${LOAD}`)
  expect(graph?.outputParameters).toEqual({ rows: 'of ${items_put.output.result}' })
  expect(
    graph?.units.map(({ taskReferenceName, after, inputParameters, onlyIf }) => [
      taskReferenceName,
      after,
      inputParameters['params'],
      onlyIf,
    ]),
  ).toEqual([
    ['begin', [], {}, undefined],
    [
      'orders_get',
      ['begin'],
      { sql: 'SELECT * FROM orders', limit: 5, day: '${workflow.input.day}' },
      undefined,
    ],
    [
      'orders_put',
      ['orders_get'],
      '${orders_get.output.result.rows}',
      'orders_get.result["rows"] > 0 && event:orders_get.completed',
    ],
    [
      'items_get',
      ['begin'],
      { sql: 'SELECT * FROM ${begin.output.result}', limit: 100, day: '${workflow.input.day}' },
      undefined,
    ],
    [
      'items_put',
      ['items_get'],
      '${items_get.output.result.rows}',
      'items_get.result["rows"] > 0 && event:items_get.completed',
    ],
    [
      'join',
      ['items_put', 'orders_put'],
      { a: '${orders_put.output.result.count}', from: 'orders' },
      undefined,
    ],
  ])
})

test('X-166 templates may use templates, also inside loops and cases', () => {
  const graph = graphOf(
    `
name: p
units:
  outer: { template: twice, with: { list: [1, 2] } }
  end: { task: end, params: '\${outer.output.last}' }
templates:
  one: { parameters: { x: {} }, units: { run: { task: run, params: '\${template.x}' } }, output: { y: '\${run.output.result}' } }
  twice:
    parameters: { list: {} }
    units:
      all: { each: '\${template.list}', max: 9, units: { inner: { template: one, with: { x: '\${all.item}' } } } }
      last: { template: one, with: { x: 1 }, after: [all] }
    output: { last: '\${last.output.y}' }
`,
  )
  expect(graph?.units).toMatchObject([
    {
      taskReferenceName: 'outer_all',
      units: [{ taskReferenceName: 'outer_inner_run', inputParameters: { params: '${outer_all.item}' } }],
    },
    { taskReferenceName: 'outer_last_run', after: ['outer_all'] },
    {
      taskReferenceName: 'end',
      after: ['outer_last_run'],
      inputParameters: { params: '${outer_last_run.output.result}' },
    },
  ])
})

test('X-166 what is wrong about templates is told at the instance or in the template', () => {
  expect(
    problemsOf(`name: p
units:
  a: { template: lod }
  b: { template: load, with: { tabel: x } }
  c: { template: load, with: { table: x } }
  d: { template: self }
  e: { task: e, params: ['\${c.output.row}', '\${template.x}'] }
${LOAD}  self: { units: { again: { template: self }, t: { task: t, params: '\${template.x}' } } }
`),
  ).toEqual([
    '3:18: there is no template "lod"; did you mean "load"?',
    '4:6: the template needs a value for its parameter "table"',
    '4:32: the template has no parameter "tabel"; did you mean "table"?',
    '7:6: ${c.output.row} is no output of "c"; its template has rows, table; did you mean "rows"?',
    '7:45: ${template.x}: there is no unit "template"',
    expect.stringMatching(/^13:\d+: \$\{template\.table\}: there is no unit "template"/),
    expect.stringMatching(/^16:\d+: a template contains itself: self → self/),
    expect.stringMatching(/^16:\d+: \$\{template\.x\}: there is no unit "template"/),
  ])
})

test('X-166 a value becomes text where text is wanted, and a list is wanted for a loop', () => {
  const text = (list: string): string => `
name: p
units:
  a: { template: t, with: { list: ${list}, flag: true, min: 3 } }
templates:
  t:
    parameters: { list: {}, flag: {}, min: {} }
    units:
      get: { task: get }
      choose: { if: '\${template.flag}', then: { x: { task: x, target: '\${template.min}', onlyIf: 'get.result > \${template.min}' } } }
      all: { each: '\${template.list}', max: 9, units: { y: { task: y, params: '\${template.list}' } } }
`
  expect(graphOf(text('[1, 2]'))?.units).toMatchObject([
    {},
    { type: 'SWITCH', expression: 'true' },
    { target: '3', onlyIf: 'a_get.result > 3' },
    { items: [1, 2], units: [{ inputParameters: { params: [1, 2] } }] },
  ])
  expect(problemsOf(text('5'))).toEqual(['11:20: must be a list, or one expression: ${…}, and is 5'])
})
