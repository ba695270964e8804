// The commands about files of pipelines, as they are shipped: `npm test` builds dist/ first.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openProject, type Project } from '../../test/support/cli/command.ts'

let project: Project

beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

const GOOD = `name: orders.daily
units:
  ingest: { task: orders.ingest, workspace: '\${workflow.input.workspace}' }
  look: { task: orders.look, workspace: '\${ingest.output.workspace}' }
  count: { task: orders.count, workspace: '\${ingest.output.workspace}' }
`
const MODULE = `
import { defineWorkspaceTask } from 'perago'
import { definePipeline, workspaceInput } from 'perago/engine'
import { z } from 'zod'

const task = (name: string) => defineWorkspaceTask({
  name, owner: 'data@example.org', params: z.object({}), result: z.object({ rows: z.int() }),
  workspace: name === 'orders.ingest' ? {} : { readOnly: true }, body: () => ({ rows: 1 }),
})
export const [ingest, look, count] = ['orders.ingest', 'orders.look', 'orders.count'].map(task)
export const daily = definePipeline({ name: 'orders.typed', input: z.object({ workspace: workspaceInput }) }, (pipeline) => {
  const first = pipeline.task('ingest', ingest, { workspace: pipeline.input.workspace })
  return { rows: pipeline.task('look', look, { workspace: first.workspace }).result.rows }
})
`

test('EN-540 validate names every problem of every file, with its place, and ends with code 2', async () => {
  await project.write('bad.yaml', 'name: p\nunits:\n  a: { tsk: x }\n  b: { task: x, after: [c] }\n')
  await project.write('good.json', JSON.stringify({ name: 'q', units: { a: { barrier: true } } }))
  const { code, stdout, stderr } = await project.run(['validate', 'good.json', 'bad.yaml', 'gone.yaml'])
  expect([code, stdout]).toEqual([2, 'good.json  q  version 1  1 unit\n'])
  expect(stderr).toMatch(/validate "good.json", "bad.yaml", "gone.yaml": 2 problems/)
  expect(stderr).toMatch(/- bad\.yaml:3:8: units\.a\.tsk: there is no key "tsk" here; did you mean "task"\?/)
  expect(stderr).toMatch(/- gone\.yaml: read "gone\.yaml": /)

  const json = await project.run(['validate', 'good.json', 'bad.yaml', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    files: [
      { path: 'good.json', pipelines: [{ name: 'q', version: 1, units: 1 }], problems: [] },
      { path: 'bad.yaml', pipelines: [], problems: [expect.stringMatching(/^bad\.yaml:3:8/)] },
    ],
  })
})

test('EN-540 validate reads modules, and knows from them which tasks only read', async () => {
  await project.write('daily.yaml', GOOD)
  await project.write('tasks.ts', MODULE)
  const alone = await project.run(['validate', 'daily.yaml'])
  expect([alone.code, alone.stderr]).toEqual([
    2,
    expect.stringMatching(/daily\.yaml:4:3: units\.look: look and count may write one branch/),
  ])
  const together = await project.run(['validate', 'daily.yaml', 'tasks.ts', '--tasks', 'tasks.ts'])
  expect([together.code, together.stdout, together.stderr]).toEqual([
    0,
    'daily.yaml  orders.daily  version 1  3 units\ntasks.ts    orders.typed  version 1  2 units\n',
    '',
  ])
})

test('EN-552 graph draws a file or a module as text, JSON or SVG', async () => {
  await project.write('tasks.ts', MODULE)
  const text = await project.run(['graph', 'tasks.ts'])
  expect([text.code, text.stdout]).toEqual([
    0,
    'orders.typed, version 1\n\n1  ingest  orders.ingest\n2  look    orders.look    after ingest\n',
  ])
  const svg = await project.run(['graph', 'tasks.ts', '--svg', 'daily.svg'])
  expect([svg.code, svg.stdout]).toEqual([0, 'daily.svg\n'])
  expect(await readFile(join(project.directory, 'daily.svg'), 'utf8')).toMatch(/^<svg .*<\/svg>\n$/s)
  const json = await project.run(['graph', 'tasks.ts', '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    name: 'orders.typed',
    units: [{ after: [] }, { after: ['ingest'] }],
  })
  const wrong = await project.run(['graph', 'tasks.ts', '--pipeline', 'other'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/it has orders\.typed/)])
})
