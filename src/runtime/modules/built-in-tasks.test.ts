// With the package as it is shipped: `npm test` builds dist/ first.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROJECT_ROOT } from '../../../test/support/source-tree.ts'
import { loadWithBuiltIns } from './built-in-tasks.ts'
import { readModule } from './task-modules.ts'

let directory: string
// Below the project, so that its packages are found.
beforeAll(async () => (directory = await mkdtemp(join(PROJECT_ROOT, 'node_modules/.built-in-'))))
afterAll(() => rm(directory, { recursive: true }))

const module = (more: string): string => `
import { z } from 'zod'
import { branchHead, defineTask, defineWorkflow } from '${PROJECT_ROOT}/dist/perago.js'
import { definePipeline } from '${PROJECT_ROOT}/dist/perago-engine.js'
const owner = 'data@example.org'
const params = { repository: 'lake', branch: 'main' }
export const own = defineTask({ name: 'own', owner, params: z.object({}), result: z.object({}), body: () => ({}) })
${more}
void [branchHead, defineWorkflow, definePipeline, params]
`

test.each([
  [
    'a workflow that has it',
    `export const w = defineWorkflow({ name: 'w', owner, steps: [{ task: branchHead, taskReferenceName: 'head', inputParameters: { params } }] })`,
  ],
  [
    'a workflow that has it by its name',
    `export const w = defineWorkflow({ name: 'w', owner, steps: [{ name: 'perago.branch_head', taskReferenceName: 'head', inputParameters: { params } }] })`,
  ],
  [
    'a pipeline that has it',
    `export const p = definePipeline({ name: 'p', input: z.object({}) }, (p) => ({ at: p.task('head', branchHead, { params }).result }))`,
  ],
  ['an export of it', 'export { branchHead }'],
])('CL-158 the built-in task belongs to a module with %s, once', async (what, more) => {
  const path = join(directory, `${what.replaceAll(' ', '-')}.mjs`)
  await writeFile(path, module(more))
  const { tasks } = await loadWithBuiltIns(path)
  expect(tasks.map(({ name }) => name).sort()).toEqual(['own', 'perago.branch_head'])
  expect((await readModule(path)).problems).toEqual([])
})

test('CL-158 a module that does not name it does without', async () => {
  const path = join(directory, 'without.mjs')
  await writeFile(path, module(''))
  expect((await loadWithBuiltIns(path)).tasks.map(({ name }) => name)).toEqual(['own'])
})
