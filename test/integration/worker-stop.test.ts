// Goal: a worker that is asked to stop is gone in time, whatever its servers do; with the shipped command, and the time measured.
// It runs the package as it was built: `npm run build` comes first.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { branchName, repositoryName, type CommitRef } from '../../src/base/ids.ts'
import { startEmbeddedLakefs, type EmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { openProject, type Project, type Started } from '../support/cli/command.ts'
import { openCuttingProxy, type CuttingProxy } from '../support/servers/cutting-proxy.ts'
import { serveTestQueue } from '../support/worker/conductor-http.ts'

const modulePath = fileURLToPath(new URL('../support/worker/tasks.mjs', import.meta.url))
const MAIN = branchName('main')
// The promise is 2 s. This machine may have other things to do; before, it was 30 s.
const IDLE_MAX_MS = 6_000

let project: Project
let lakefs: EmbeddedLakefs
let queue: TestQueue
let conductorWay: CuttingProxy
let lakefsWay: CuttingProxy
let environment: Readonly<Record<string, string>>
let inputRef: CommitRef

beforeEach(async () => {
  project = await openProject()
  onTestFinished(() => project.close())
  lakefs = await startEmbeddedLakefs({})
  onTestFinished(() => lakefs.close())
  const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  await createRepository(client, {
    repository: repositoryName('lake'),
    storageNamespace: 'local://lake',
    defaultBranch: MAIN,
  })
  const head = await openLakefsRepo(client, repositoryName('lake')).readBranch(MAIN)
  if (head === undefined) throw new Error('there is no branch')
  inputRef = head.head
  await client.close()
  queue = openTestQueue()
  const defs: Record<string, object> = {}
  for (const task of await loadTasks(modulePath)) {
    defs[task.name] = declaredTaskDef(task)
    await queue.registerTask({ name: task.name, responseTimeoutSeconds: 60, timeoutPolicy: 'RETRY' })
    const inputParameters = {
      workspace: '${workflow.input.workspace}',
      params: '${workflow.input.params}',
    }
    const tasks = [{ name: task.name, taskReferenceName: 'it', inputParameters }]
    await queue.registerWorkflow({ name: `run-${task.name}`, tasks })
  }
  const front = await serveTestQueue(queue, defs)
  onTestFinished(() => front.close())
  conductorWay = await openCuttingProxy(Number(new URL(front.url).port))
  lakefsWay = await openCuttingProxy(Number(new URL(lakefs.url).port))
  environment = {
    CONDUCTOR_SERVER_URL: `http://127.0.0.1:${conductorWay.port}/api`,
    LAKEFS_ENDPOINT: `http://127.0.0.1:${lakefsWay.port}`,
    LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
  }
})
afterEach(async () => {
  await conductorWay.close()
  await lakefsWay.close()
})

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function start(...args: readonly string[]): Started {
  return project.start(['start', modulePath, ...args], environment)
}

/** How long the command and all its processes take to end. */
async function stopped(
  { child, ended }: Started,
  name: string,
): Promise<{ readonly ms: number; readonly code: number | null }> {
  const pids = descendantsOf(child.pid ?? 0)
  const startMs = performance.now()
  child.kill('SIGTERM')
  const { code } = await ended
  const ms = Math.round(performance.now() - startMs)
  await expect.poll(() => pids.filter(isAlive), { timeout: 5_000 }).toEqual([])
  process.stderr.write(`stop, ${name}: ${ms} ms\n`)
  return { ms, code }
}

function descendantsOf(pid: number): readonly number[] {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(Number(name)) === pid)
  return children.flatMap((name) => [Number(name), ...descendantsOf(Number(name))])
}

function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
  } catch {
    return []
  }
}

const parentOf = (pid: number): number => Number(statOf(pid)[1])
const isAlive = (pid: number): boolean => !['Z', 'X', undefined].includes(statOf(pid)[0])

async function begin(task: string, params: Readonly<Record<string, string | boolean>>): Promise<void> {
  const begun = join(project.directory, 'begun')
  const workspace = { repository: 'lake', branch: 'main', refType: 'commit', ref: inputRef }
  await queue.start({ name: `run-${task}`, input: { workspace, params: { text: 'x', begun, ...params } } })
  await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true)
}

describe('idle', () => {
  test('WK-262 a worker without tasks stops at once while its servers answer', async () => {
    const started = start('-j', '2')
    await started.firstLine
    await pause(1_500)
    const { ms, code } = await stopped(started, 'idle')
    expect(code).toBe(0)
    expect(ms).toBeLessThan(IDLE_MAX_MS)
  })

  test('WK-262 a worker without tasks stops at once while its servers accept and never answer', async () => {
    const started = start('-j', '2')
    await started.firstLine
    conductorWay.mode = 'silent'
    lakefsWay.mode = 'silent'
    await pause(1_500)
    const { ms, code } = await stopped(started, 'idle, silent servers')
    expect(code).toBe(0)
    expect(ms).toBeLessThan(IDLE_MAX_MS)
  }, 60_000)

  test('WK-263 a worker process that is starting again while its servers are silent stops at once', async () => {
    const started = start()
    await started.firstLine
    conductorWay.mode = 'silent'
    for (const pid of descendantsOf(started.child.pid ?? 0)) process.kill(pid, 'SIGKILL')
    await expect.poll(() => descendantsOf(started.child.pid ?? 0).length, { timeout: 20_000 }).toBe(1)
    await pause(1_500)
    const { ms, code } = await stopped(started, 'while it starts')
    expect(code).toBe(0)
    expect(ms).toBeLessThan(IDLE_MAX_MS)
  }, 90_000)
})

describe('with work', () => {
  test.each([
    ['a process that waits', 'child', {}],
    ['a body that never yields', 'here', { spin: true }],
  ])(
    'WK-264 %s: all has ended by the deadline, also with silent servers',
    async (_, task, params) => {
      const started = start('--stop-deadline', '12')
      await started.firstLine
      await begin(task, { go: join(project.directory, 'never'), ...params })
      conductorWay.mode = 'silent'
      lakefsWay.mode = 'silent'
      const { ms } = await stopped(started, task)
      expect(ms).toBeLessThan(15_000)
    },
    120_000,
  )

  test.each([
    ['a process that waits', 'child', {}],
    // It hears of nothing: only a signal to its process ends it.
    ['a body that never yields', 'here', { spin: true }],
  ])('WK-265 %s: a second signal ends the command and its processes at once', async (_, task, params) => {
    const started = start('-j', '2')
    await started.firstLine
    await begin(task, { go: join(project.directory, 'never'), ...params })
    const stopping = stopped(started, 'second signal')
    await pause(500)
    started.child.kill('SIGINT')
    const { ms, code } = await stopping
    expect(code).toBe(130)
    expect(ms).toBeLessThan(IDLE_MAX_MS)
  })
})
