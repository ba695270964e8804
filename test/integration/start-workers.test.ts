// Goal: a program starts workers as `perago start` does, and gets them stopped again, over an embedded lakeFS.
// Worker processes and the guide use the package as it was built: `npm run build` comes first.
import { writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { branchName, repositoryName } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import {
  defineWorkspaceTask,
  startWorkers,
  type StartWorkersOptions,
  type Workers,
} from '../../src/perago.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { openProject, type Project } from '../support/cli/command.ts'
import { filesOf } from '../support/publication-world.ts'
import { readText } from '../support/source-tree.ts'
import { serveTestQueue, type ConductorFront } from '../support/worker/conductor-http.ts'

const MAIN = branchName('main')
const MODULE = `
import { writeFileSync } from 'node:fs'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'

export const write = defineWorkspaceTask({
  name: 'notes.write',
  owner: 'data@example.org',
  params: z.object({ text: z.string() }),
  result: z.null(),
  workspace: {},
  body: ({ workspace, params: { text } }) => {
    writeFileSync(workspace.path('note.txt'), text)
    return null
  },
})
`
const write = defineWorkspaceTask({
  name: 'notes.write',
  owner: 'data@example.org',
  params: z.object({ text: z.string() }),
  result: z.null(),
  workspace: {},
  body: ({ workspace, params: { text } }) => {
    writeFileSync(workspace.path('note.txt'), text)
    return null
  },
})

let project: Project
let lakefs: EmbeddedLakefs
let client: LakefsClient
let repo: VersionedRepo
let queue: TestQueue
let front: ConductorFront
let settings: NonNullable<StartWorkersOptions['settings']>

beforeEach(async () => {
  project = await openProject()
  await project.write('tasks.ts', MODULE)
  lakefs = await startEmbeddedLakefs({})
  client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  const repository = repositoryName('lake')
  await createRepository(client, { repository, storageNamespace: 'local://lake', defaultBranch: MAIN })
  repo = openLakefsRepo(client, repository)
  queue = openTestQueue()
  await queue.registerTask({ name: write.name, responseTimeoutSeconds: 60, timeoutPolicy: 'RETRY' })
  await queue.registerWorkflow({
    name: 'note',
    tasks: [
      {
        name: write.name,
        taskReferenceName: 'write',
        inputParameters: { workspace: '${workflow.input.workspace}', params: '${workflow.input.params}' },
      },
    ],
  })
  front = await serveTestQueue(queue, { [write.name]: declaredTaskDef(write) })
  const { url: endpoint, accessKeyId, secretAccessKey } = lakefs
  settings = { lakefs: { endpoint, accessKeyId, secretAccessKey }, conductor: { serverUrl: front.url } }
})
afterEach(async () => {
  await front.close()
  await client.close()
  await lakefs.close()
  await project.close()
})

async function start(options: Partial<StartWorkersOptions>): Promise<Workers> {
  const root = join(project.directory, 'work')
  const workers = await startWorkers({ tasks: [write], settings, root, ...options })
  onTestFinished(() => workers.stop({ deadlineMs: 0 }))
  return workers
}

/** Runs a workflow of one task, and gives the file that it published. */
async function note(text: string): Promise<string | undefined> {
  const ref = (await repo.readBranch(MAIN))?.head
  const workspace = { repository: 'lake', branch: 'main', refType: 'commit', ref: ref! }
  const workflow = await queue.start({ name: 'note', input: { workspace, params: { text } } })
  const status = async (): Promise<string | undefined> => (await queue.readWorkflow(workflow))?.status
  await expect.poll(status, { timeout: 60_000, interval: 20 }).toBe('COMPLETED')
  return (await filesOf(repo))['note.txt']
}

test('WK-145 a worker in this process takes tasks given as definitions, until it is stopped', async () => {
  const workers = await start({ health: { port: 0 }, slots: 2 })
  await workers.ready
  expect(workers.health()).toEqual({ ok: true, problems: [] })
  expect(await note('from code')).toBe('from code')
  expect((await fetch(`${workers.healthUrls[0]!}/readyz`)).status).toBe(200)

  await expect(start({})).rejects.toMatchObject({ code: 'runtime/root-taken' })
  await workers.stop()
  await workers.closed
  expect(workers.health()).toMatchObject({ ok: false, problems: ['the worker is stopped'] })
  await (await start({})).stop()
})

test('WK-145 an aborted signal stops the worker', async () => {
  const stop = new AbortController()
  const workers = await start({ signal: stop.signal })
  stop.abort()
  await workers.closed
  await expect(start({ signal: stop.signal })).rejects.toThrow('aborted')
})

test('WK-146 worker processes run the tasks of a module, each restarted when it ends', async () => {
  const tasks = join(project.directory, 'tasks.ts')
  const workers = await start({ tasks, processes: 2, health: { port: 0 } })
  await workers.ready
  expect(workers.healthUrls).toHaveLength(2)
  expect(workers.health().ok).toBe(true)
  expect(await note('from a process')).toBe('from a process')
  await workers.stop()
  await workers.closed
  expect(workers.health()).toEqual({ ok: false, problems: ['2 of 2 worker processes do not run'] })
})

test('WK-147 what keeps the workers from starting is thrown', async () => {
  const inThread = defineWorkspaceTask({
    ...{ name: 'notes.write', owner: 'data@example.org', workspace: {}, runIn: 'thread' },
    params: z.object({}),
    result: z.null(),
    body: () => null,
  })
  await expect(start({ tasks: [inThread] })).rejects.toMatchObject({ code: 'worker/no-module' })
  await expect(start({ processes: 1 })).rejects.toMatchObject({ code: 'worker/no-module' })
  await expect(start({ settings: { lakefs: { endpoint: 'nowhere' } } })).rejects.toMatchObject({
    code: 'runtime/bad-configuration',
    details: { problems: [expect.stringContaining('settings.lakefs.endpoint')] },
  })
})

test('WK-148 the program in the guide works on tasks until SIGTERM', async () => {
  const [, program = ''] =
    /^```js\n([\s\S]*?)^```$/m.exec(readText('docs/guides/start-workers-from-code.md')) ?? []
  await project.write('start.mjs', program)
  const child = spawn(process.execPath, ['start.mjs'], {
    cwd: project.directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      LAKEFS_ENDPOINT: lakefs.url,
      LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
      LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
      CONDUCTOR_SERVER_URL: front.url,
      HEALTH_PORT: '0',
    },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  )
  expect(line).toMatch(/^taking tasks; health at http:\/\/127\.0\.0\.1:\d+$/m)
  expect(await note('from the guide')).toBe('from the guide')
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
})
