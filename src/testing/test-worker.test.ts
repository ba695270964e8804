import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { branchName } from '../base/ids.ts'
import { openTestQueue } from './open-test-queue.ts'
import { ScriptedRepo, calmScript } from './scripted-repo.ts'
import { openTestWorker, registerModule } from './test-worker.ts'

const MAIN = branchName('main')

const MODULE = `
import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { defineWorkspaceTask } from ${JSON.stringify(pathToFileURL(resolve('src/tasks/task-definition.ts')).href)}

export const clean = defineWorkspaceTask({
  name: 'orders.clean',
  owner: 'data@example.org',
  params: z.object({}),
  result: z.object({ rows: z.int() }),
  workspace: { prefix: 'orders' },
  body: async ({ workspace }) => {
    await writeFile(workspace.path('b.csv'), 'cleaned')
    return { rows: 1 }
  },
})
`

test('CO-89 a test worker publishes to a scripted repository, also where the answer to the merge is lost', async () => {
  const root = await mkdtemp(join(tmpdir(), 'perago-test-worker-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  // Beside the sources, where its imports are found.
  const module = resolve(`src/testing/.test-worker-${process.pid}.ts`)
  await writeFile(module, MODULE)
  onTestFinished(() => rm(module, { force: true }))
  let merges = 0
  const repo = new ScriptedRepo({
    script: {
      ...calmScript,
      arrive: ({ request }) =>
        Promise.resolve(request === 'merge' && ++merges === 1 ? 'lose-answer' : 'none'),
    },
  })
  const ref = repo.commitDirectly(MAIN, { 'orders/a.csv': 'a' })
  const queue = openTestQueue()
  await registerModule(queue, module)
  const inputParameters = { workspace: '${workflow.input.workspace}', params: {} }
  const tasks = [{ name: 'orders.clean', taskReferenceName: 'clean', inputParameters }]
  await queue.registerWorkflow({ name: 'daily', tasks })
  const worker = await openTestWorker({
    queue,
    module,
    lakefs: () => repo.connect('worker'),
    root,
    workerId: 'worker',
  })
  onTestFinished(async () => {
    await worker.close({ deadlineMs: 0 })
  })

  const workspace = { repository: 'scripted', branch: 'main', refType: 'commit', ref }
  const workflow = await queue.start({ name: 'daily', input: { workspace } })
  await expect
    .poll(async () => (await queue.readWorkflow(workflow))?.status, { timeout: 20_000 })
    .toBe('COMPLETED')

  expect(repo.model.treeAt(MAIN)?.has('orders/b.csv')).toBe(true)
  expect(repo.updates.filter(({ branch, how }) => branch === MAIN && how === 'merge')).toHaveLength(1)
})
