// Goal: tasks go from a queue to commits of a lakeFS server and back, through worker processes that are killed meanwhile.
// Worker processes load the package as it was built: `npm run build` comes first.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn, type ChildProcess } from 'node:child_process'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { branchName, type CommitRef, type RepositoryName } from '../../src/base/ids.ts'
import { silentLogger } from '../../src/base/logger.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { createRepository } from '../../src/lakefs/administration.ts'
import { createLakefsClient, type LakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../src/publication/ports.ts'
import type { PeragoConfiguration } from '../../src/runtime/configuration/configuration.ts'
import { runTask, type RunTaskRequest } from '../../src/runtime/run-task.ts'
import { superviseWorkers, type Supervisor } from '../../src/runtime/processes/supervisor.ts'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { openWorker, type OpenedWorker, type OpenWorkerOptions } from '../../src/runtime/worker.ts'
import { spawnWorker, type WorkerOrder } from '../../src/runtime/processes/worker-processes.ts'
import type { WorkflowView } from '../../src/engine/protocol/control.ts'
import { openTestQueue, type QueueLink, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { adoptOutboxes } from '../../src/worker/results/outbox.ts'
import { filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { openSuiteLakefs, type SuiteLakefs } from '../support/servers/suite-lakefs.ts'
import { serveTestQueue, type ConductorFront } from '../support/worker/conductor-http.ts'

const modulePath = fileURLToPath(new URL('../support/worker/tasks.mjs', import.meta.url))
const main = branchName('main')

let lakefs: SuiteLakefs
let client: LakefsClient
beforeAll(async () => {
  lakefs = await openSuiteLakefs()
  client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
})
afterAll(async () => {
  await client.close()
  await lakefs.close()
})

let root: string
let link: QueueLink
let queue: TestQueue
let front: ConductorFront
let configuration: PeragoConfiguration
let repository: RepositoryName
let repo: VersionedRepo
let inputRef: CommitRef

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'perago-worker-'))
  link = {}
  queue = openTestQueue({
    link: { onRequest: (call) => link.onRequest?.(call), onAnswer: (call) => link.onAnswer?.(call) },
  })
  const defs: Record<string, object> = {}
  for (const task of await loadTasks(modulePath)) {
    defs[task.name] = declaredTaskDef(task)
    await queue.registerTask({
      name: task.name,
      retryCount: 3,
      retryDelaySeconds: 0,
      responseTimeoutSeconds: 3,
      timeoutPolicy: 'RETRY',
    })
    await queue.registerWorkflow({
      name: `run-${task.name}`,
      tasks: [
        {
          name: task.name,
          taskReferenceName: 'it',
          inputParameters: { workspace: '${workflow.input.workspace}', params: '${workflow.input.params}' },
        },
      ],
    })
  }
  front = await serveTestQueue(queue, defs)
  const { accessKeyId, secretAccessKey } = lakefs
  configuration = {
    lakefs: { endpoint: lakefs.url, credentials: { accessKeyId, secretAccessKey }, connections: 8 },
    conductor: { serverUrl: front.url, auth: undefined },
    log: { level: 'warn', format: 'json' },
  }
  const fresh = lakefs.newRepository('worker')
  repository = fresh.repository
  await createRepository(client, { ...fresh, defaultBranch: main })
  repo = openLakefsRepo(client, repository)
  await repo.write({
    branch: main,
    path: 'orders/in.txt',
    body: { sizeBytes: 2, open: () => Buffer.from('in') },
  })
  const outcome = await repo.commit({ branch: main, message: 'Input' })
  if (!outcome.committed) throw new Error(outcome.reason)
  inputRef = outcome.commit.ref
})
afterEach(async () => {
  await front.close()
  await rm(root, { recursive: true, force: true })
})

function start(
  task: string,
  params: { readonly text: string; readonly begun?: string; readonly go?: string; readonly spin?: boolean },
  branch = 'main',
): Promise<WorkflowId> {
  const workspace = { repository, branch, refType: 'commit', ref: inputRef }
  return queue.start({ name: `run-${task}`, input: { workspace, params } })
}

async function ended(workflowId: WorkflowId): Promise<WorkflowView> {
  await expect
    .poll(async () => (await queue.readWorkflow(workflowId))?.status, { timeout: 60_000 })
    .not.toBe('RUNNING')
  const view = await queue.readWorkflow(workflowId)
  if (view === undefined) throw new Error('the workflow is gone')
  return view
}

async function until(happened: () => boolean): Promise<void> {
  await expect.poll(happened, { timeout: 60_000, interval: 10 }).toBe(true)
}

async function open(options: Partial<OpenWorkerOptions> = {}): Promise<OpenedWorker> {
  const opened = await openWorker(configuration, modulePath, { root, logger: silentLogger, ...options })
  onTestFinished(async () => {
    await opened.close({ deadlineMs: 0 })
  })
  await opened.worker.ready
  return opened
}

const readPid = (path: string): number | undefined =>
  existsSync(path) && readFileSync(path, 'utf8') !== '' ? Number(readFileSync(path, 'utf8')) : undefined

describe('one worker', () => {
  test.each(['here', 'thread', 'child', 'program'])(
    'WK-130 a body in its place (%s): published, completed, nothing left',
    async (task) => {
      const opened = await open()
      const { status, output, tasks } = await ended(await start(task, { text: 'hello' }))
      expect([status, tasks.length]).toEqual(['COMPLETED', 1])
      const [head, input] = await logOf(repo)
      expect(input?.ref).toBe(inputRef)
      expect(output).toEqual({
        workspace: { repository, branch: 'main', refType: 'commit', ref: head?.ref },
        result: { chars: 5 },
      })
      expect(await filesOf(repo)).toEqual({
        'orders/in.txt': 'in',
        'orders/out.txt': task === 'program' ? 'hello by a program' : 'hello by attempt 0',
      })
      await opened.close()
      expect(await stagingBranchesOf(repo)).toEqual([])
      expect((await readdir(join(root, 'outbox', '0'))).filter((name) => name.endsWith('.json'))).toEqual([])
      expect(await readdir(join(root, 'workers'))).toEqual([])
    },
  )

  test('WK-131 a body that never yields keeps its lease, and a lease that would end in the middle is renewed', async () => {
    const [begun, go] = [join(root, 'begun'), join(root, 'go')]
    let renewals = 0
    link = {
      onRequest: ({ operation }) => {
        if (operation === 'renewLease') renewals++
      },
    }
    const supervisor = await supervise(1)
    const workflow = await start('here', { text: 'spins', begun, go, spin: true })
    await until(() => readPid(begun) !== undefined)
    const before = renewals
    // More than its response timeout: without renewals another attempt would be handed out.
    await until(() => renewals >= before + 5)
    await writeFile(go, '')
    const { status, tasks } = await ended(workflow)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    await supervisor.stop()
  })

  test('WK-132 health, readiness and metrics are served while it runs', async () => {
    const opened = await open({ health: { port: 0 } })
    await ended(await start('here', { text: 'x' }))
    const get = async (path: string): Promise<string> =>
      (await fetch(`${opened.healthUrl ?? ''}${path}`)).text()
    expect(JSON.parse(await get('/readyz'))).toEqual({ ok: true, problems: [] })
    await expect
      .poll(() => get('/metrics'))
      .toContain(
        'perago_worker_attempts_total{task="here",status="COMPLETED",delivery="delivered",code=""} 1',
      )
  })

  test('WK-133 a definition that differs on the server is refused before anything is polled', async () => {
    await front.close()
    front = await serveTestQueue(queue, {})
    configuration = { ...configuration, conductor: { serverUrl: front.url, auth: undefined } }
    await expect(openWorker(configuration, modulePath, { root, logger: silentLogger })).rejects.toMatchObject(
      {
        code: 'runtime/not-registered',
      },
    )
  })

  test('WK-134 many workflows on as many branches: each publishes its own', async () => {
    const branches = Array.from({ length: 8 }, (_, index) => `branch-${index}`)
    for (const branch of branches) await repo.createBranch({ branch: branchName(branch), from: inputRef })
    await open({ slots: 4 })
    const workflows = await Promise.all(branches.map((branch) => start('here', { text: branch }, branch)))
    for (const workflow of workflows) expect((await ended(workflow)).status).toBe('COMPLETED')
    for (const branch of branches)
      expect((await filesOf(repo, branchName(branch)))['orders/out.txt']).toBe(`${branch} by attempt 0`)
  })
})

describe('one task without a queue', () => {
  const run = (request: RunTaskRequest): ReturnType<typeof runTask> =>
    runTask(configuration, modulePath, request, {
      root,
      logger: silentLogger,
      signal: new AbortController().signal,
    })

  test('WK-139 it is published as by a worker, from the head of the branch', async () => {
    const workspace = { repository, branch: 'main' }
    const first = await run({ task: 'child', params: { text: 'one' }, workspace })
    expect(first).toMatchObject({ error: undefined, publication: { action: 'merged' } })
    const second = await run({ task: 'here', params: { text: 'two' }, workspace })
    expect(second).toMatchObject({ error: undefined, publication: { action: 'merged' } })
    const log = await logOf(repo)
    expect(log.slice(0, 3).map(({ ref }) => ref)).toEqual([
      second.publication?.outputRef,
      first.publication?.outputRef,
      inputRef,
    ])
    expect([await readdir(join(root, 'workers')), await stagingBranchesOf(repo)]).toEqual([[], []])
  })

  test('WK-343 without a queue no steps are logged: nobody would look for them', async () => {
    const workspace = { repository, branch: 'main' }
    const { logs } = await run({ task: 'here', params: { text: 'one' }, workspace })
    expect(logs.at(-1)).toMatch(/^published: /)
  })

  test.each([1, 2])(
    'WK-139 the publish fence stands, and %i commits above its input are never replaced',
    async (above) => {
      for (let count = 0; count < above; count++)
        await run({
          task: 'here',
          params: { text: `number ${count}` },
          workspace: { repository, branch: 'main' },
        })
      const head = (await logOf(repo))[0]?.ref
      const { error, publication } = await run({
        task: 'here',
        params: { text: 'late' },
        workspace: { repository, branch: 'main', ref: inputRef },
      })
      expect(publication).toBeUndefined()
      expect(error).toMatchObject({
        code: 'fences/publish-refused',
        reason: above === 1 ? 'not-own' : 'branch-moved',
      })
      expect((await logOf(repo))[0]?.ref).toBe(head)
    },
  )

  test('WK-139 what is not there is named', async () => {
    await expect(run({ task: 'her', params: {} })).rejects.toMatchObject({
      code: 'runtime/no-such-task',
      next: 'Did you mean "here"?',
    })
    await expect(
      run({ task: 'here', params: {}, workspace: { repository, branch: 'other' } }),
    ).rejects.toMatchObject({ code: 'runtime/no-such-branch' })
  })
})

test('WK-116 the outboxes of worker processes that are no more go to the first one', async () => {
  for (const index of ['0', '1', '3'])
    await mkdir(join(root, 'outbox', index, 'refused'), { recursive: true })
  await rm(join(root, 'outbox', '3', 'refused'), { recursive: true })
  await writeFile(join(root, 'outbox', '1', '000000000000001-aa.json'), '{}')
  await writeFile(join(root, 'outbox', '3', '000000000000002-bb.json'), '{}')
  await writeFile(join(root, 'outbox', '1', 'refused', 'cc.json'), '{}')
  await adoptOutboxes(root)
  expect((await readdir(join(root, 'outbox', '0'))).sort()).toEqual([
    '000000000000001-aa.json',
    '000000000000002-bb.json',
    'refused',
  ])
  expect((await readdir(join(root, 'outbox'))).sort()).toEqual(['0', '1'])
  expect(await readdir(join(root, 'outbox', '1', 'refused'))).toEqual(['cc.json'])
})

async function supervise(count: number, more: Partial<WorkerOrder['options']> = {}): Promise<Supervisor> {
  const supervisor = await superviseWorkers({
    root,
    count,
    logger: silentLogger,
    spawn: (index) => {
      const order = orderOf(index)
      return spawnWorker({ ...order, options: { ...order.options, ...more } })
    },
  })
  onTestFinished(() => supervisor.stop({ deadlineMs: 0 }))
  await supervisor.ready
  return supervisor
}

function orderOf(index: number): WorkerOrder {
  return {
    configuration,
    modulePath,
    secrets: [lakefs.secretAccessKey],
    log: { level: 'silent', format: 'json', isTerminal: false },
    options: { root, index, slots: 1 },
  }
}

describe('several processes', () => {
  test('F-48 WK-135 the retry of a worker killed after publishing runs elsewhere and ends with one commit', async () => {
    let armed = true
    const supervisor = await supervise(2)
    link = {
      // The result never arrives: the process that sends it is killed in this moment.
      onRequest: async ({ operation, about }) => {
        if (operation !== 'postResult' || !armed) return
        armed = false
        const { workerId = '' } = (await queue.readTask(about as never)) ?? {}
        const pid = supervisor.pids().find((candidate) => workerId.includes(`-${candidate}-`))
        if (pid === undefined) throw new Error(`no process has ${workerId}`)
        process.kill(pid, 'SIGKILL')
        throw new Error('lost with its process')
      },
    }
    const workflow = await start('here', { text: 'twice' })
    const { status, output, tasks } = await ended(workflow)
    expect(status).toBe('COMPLETED')
    const log = await logOf(repo)
    expect(log[0]?.parents[0]).toBe(inputRef)
    expect(output['workspace']).toMatchObject({ ref: log[0]?.ref })
    // Either its restarted process sent what was in the outbox in time, or a second attempt replaced the commit.
    expect([1, 2]).toContain(tasks.length)
    await until(() => supervisor.pids().length === 2)
    await supervisor.stop()
  })

  test('WK-267 what a worker killed before its merge has staged is removed, also if its task never runs again', async () => {
    const supervisor = await supervise(1, {
      stagingTimes: { intervalMs: 1_000, endedAgeMs: 500, unknownAgeMs: 86_400_000 },
    })
    let left: readonly string[] = []
    link = {
      // The attempt is checked after its files were staged, and before the merge.
      onRequest: async ({ operation }) => {
        if (operation !== 'readTask' || left.length > 0) return
        left = await stagingBranchesOf(repo)
        const [pid] = supervisor.pids()
        if (left.length === 0 || pid === undefined) return
        process.kill(pid, 'SIGKILL')
        throw new Error('lost with its process')
      },
    }
    const workflow = await start('here', { text: 'killed' })
    await until(() => left.length > 0)
    await queue.terminate(workflow)
    await expect.poll(() => stagingBranchesOf(repo), { timeout: 60_000 }).toEqual([])
    expect((await logOf(repo))[0]?.ref).toBe(inputRef)
    await supervisor.stop()
  })

  test('WK-136 asked to stop: what runs is handed back at the deadline, and nothing is left running', async () => {
    const begun = join(root, 'begun')
    const supervisor = await supervise(2)
    const workflow = await start('child', { text: 'slow', begun, go: join(root, 'never') })
    await until(() => readPid(begun) !== undefined)
    const pids = [...supervisor.pids(), readPid(begun) ?? 0]
    await supervisor.stop({ deadlineMs: 100 })
    const view = await queue.readWorkflow(workflow)
    expect(view?.tasks).toMatchObject([{ status: 'SCHEDULED', retryCount: 0 }])
    expect(pids.filter(isAlive)).toEqual([])
    expect((await logOf(repo))[0]?.ref).toBe(inputRef)
  })

  test('WK-137 a supervisor that is killed leaves no worker behind, and none of them publishes any more', async () => {
    const [begun, go] = [join(root, 'begun'), join(root, 'go')]
    const supervisor = await startSupervisorProgram()
    const workflow = await start('here', { text: 'orphan', begun, go, spin: true })
    await until(() => readPid(begun) !== undefined)
    const worker = readPid(begun) ?? 0
    expect(isAlive(worker)).toBe(true)
    supervisor.kill('SIGKILL')
    await new Promise((resolve) => supervisor.once('exit', resolve))
    // The body never yields: only now may its worker notice that it is alone.
    await writeFile(go, '')
    await until(() => !isAlive(worker))
    expect((await logOf(repo))[0]?.ref).toBe(inputRef)
    expect((await queue.readWorkflow(workflow))?.tasks.map(({ status }) => status)).not.toContain('COMPLETED')
    // The lock died with its process, so others may start at once.
    const next = await supervise(1)
    expect((await ended(workflow)).status).toBe('COMPLETED')
    await next.stop()
  })

  test('WK-138 a worker that is alone and never yields is ended', async () => {
    const begun = join(root, 'begun')
    const supervisor = await startSupervisorProgram()
    await start('here', { text: 'for ever', begun, go: join(root, 'never'), spin: true })
    await until(() => readPid(begun) !== undefined)
    const worker = readPid(begun) ?? 0
    supervisor.kill('SIGKILL')
    await until(() => !isAlive(worker))
    expect((await logOf(repo))[0]?.ref).toBe(inputRef)
  }, 60_000)
})

async function startSupervisorProgram(): Promise<ChildProcess> {
  const order = join(root, 'order.json')
  await writeFile(order, JSON.stringify(orderOf(0)))
  const at = (path: string): string => JSON.stringify(new URL(`../../dist/${path}`, import.meta.url).href)
  const program = `
    import { readFileSync } from 'node:fs'
    import { superviseWorkers } from ${at('runtime/processes/supervisor.js')}
    import { spawnWorker } from ${at('runtime/processes/worker-processes.js')}
    import { silentLogger } from ${at('base/logger.js')}
    const order = JSON.parse(readFileSync(${JSON.stringify(order)}, 'utf8'))
    await superviseWorkers({ root: order.options.root, count: 1, logger: silentLogger, spawn: () => spawnWorker(order) })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
