// Goal: a worker that is killed between its publication and its completion leaves a result that the retry completes with.
// Method: worker processes over lakeFS, each with a root of its own, so that no outbox helps; the first is killed in the
// moment in which it reports. `npm run build` comes first.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { spawnWorker } from '../../src/runtime/processes/worker-processes.ts'
import { FENCE_FILE, FENCE_PATH } from '../../src/publication/fence-file.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { askJson } from '../support/servers/http.ts'
import { useRealServer } from '../support/servers/servers.ts'
import {
  MAIN,
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  TASKS_PATH,
  stepOf,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'
import { serveTestQueue } from '../support/worker/conductor-http.ts'

const TEST_MS = 120_000
const conductor = useRealServer('conductor')

test.each(['soft', 'hard'] as const)(
  'F-55 PU-170 a worker killed before it reports: the retry adopts, the body ran once (%s fence)',
  async (strength) => {
    const { url, control } = await inProcessQueue()
    await killAndAdopt({ url, control, task: 'perago_it_quick', strength })
  },
  TEST_MS,
)

test(
  'F-55 PU-170 on Conductor: the retry adopts, whatever the load: the body ran once, one commit, its result',
  async (context) => {
    const { url } = conductor(context)
    await registerTasks(url)
    const { world, second, workflow, runs, published } = await killBeforeReport({
      // Its lease is so long that only what is done here ends an attempt.
      ...{ url, task: 'perago_it_patient', strength: 'hard' },
    })
    const view = await world.control.readWorkflow(workflow)
    const [{ taskId } = { taskId: '' }] = view?.tasks ?? []
    // As the server does when a lease ends, without its clock.
    await askJson(`${url}/api/tasks`, {
      body: {
        taskId,
        workflowInstanceId: workflow,
        status: 'FAILED',
        reasonForIncompletion: 'its worker died',
      },
    })
    second()
    const { status, output } = await world.ended(workflow)
    expect(status).toBe('COMPLETED')
    expect(output).toMatchObject({ workspace: { ref: published.ref }, result: { filler: '' } })
    expect(readFileSync(runs, 'utf8').trim().split('\n')).toEqual([taskId])
    const log = await logOf(world.repo)
    expect(log[0]?.ref).toBe(published.ref)
    expect(log.filter(({ metadata }) => metadata['publish.workflow'] === workflow)).toHaveLength(1)
  },
  TEST_MS,
)

interface Killed {
  readonly url: string
  readonly control?: TestQueue
  readonly task: string
  readonly strength: 'soft' | 'hard'
}

/** A first process that has published, and was killed when it reported so. */
async function killBeforeReport(of: Killed) {
  const lakefs = await openWorkerLakefs()
  onTestFinished(() => lakefs.close())
  const world = await openWorkerWorld(of.url, lakefs, of.control)
  onTestFinished(() => world.close())
  const inputRef = of.strength === 'hard' ? await installFence(world) : world.inputRef
  const [first, second] = [startProcess(world, 0), () => startProcess(world, 1)]
  world.front.interfere = ({ update }) => {
    if (update.status !== 'COMPLETED') return 'pass'
    first.kill()
    return 'lose'
  }
  const runs = world.at('runs')
  const workspace = { repository: world.repository, branch: MAIN, refType: 'commit', ref: inputRef }
  const workflow = await world.start(of.task, { runs }, { input: { workspace } })
  await first.ended
  const [published] = await logOf(world.repo)
  expect(published?.parents).toEqual([inputRef])
  expect(published?.metadata['publish.expected_head']).toBe(of.strength === 'hard' ? inputRef : undefined)

  if (published === undefined) throw new Error('it had not published')
  world.front.interfere = () => 'pass'
  return { world, second, workflow, runs, published }
}

async function killAndAdopt(of: Killed): Promise<void> {
  const { world, second, workflow, runs, published } = await killBeforeReport(of)
  second()
  const { status, output, tasks } = await world.ended(workflow)
  // On a busy machine a lease may end before the second process has begun; then there is one retry more.
  const before = tasks.slice(0, -1).map((task) => task.status)
  expect([status, new Set(before)]).toEqual(['COMPLETED', new Set(['TIMED_OUT'])])
  expect(output).toMatchObject({ workspace: { ref: published.ref }, result: { filler: '' } })
  expect(readFileSync(runs, 'utf8').trim().split('\n')).toHaveLength(1)
  expect((await logOf(world.repo))[0]?.ref).toBe(published.ref)
  expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 0')
  const logs = await world.control.readLogs(tasks.at(-1)?.taskId ?? ('' as never))
  expect(logs.join('\n')).toContain(`${of.strength} fence; the body did not run`)
  // What the killed one staged is removed by the attempt that adopted.
  await expect.poll(() => stagingBranchesOf(world.repo), { timeout: 20_000 }).toEqual([])
}

async function installFence({ repo }: WorkerWorld): Promise<string> {
  const bytes = Buffer.from(FENCE_FILE)
  await repo.write({
    branch: MAIN,
    path: FENCE_PATH,
    body: { sizeBytes: bytes.byteLength, open: () => bytes },
  })
  const outcome = await repo.commit({ branch: MAIN, message: 'Fence' })
  if (!outcome.committed) throw new Error(outcome.reason)
  return outcome.commit.ref
}

function startProcess(world: WorkerWorld, index: number): ReturnType<typeof spawnWorker> {
  const order = world.orderOf({ root: world.at(`root-${index}`) })
  const ledger = { onRetry: 'adopt', keys: `k1=${Buffer.alloc(32, 7).toString('base64')}` } as const
  const worker = spawnWorker({ ...order, configuration: { ...order.configuration, ledger } })
  onTestFinished(async () => {
    worker.kill()
    await worker.ended
  })
  return worker
}

async function inProcessQueue(): Promise<{ readonly url: string; readonly control: TestQueue }> {
  const control = openTestQueue()
  const defs: Record<string, object> = {}
  for (const task of await loadTasks(TASKS_PATH)) {
    const { name, responseTimeoutSeconds = 60 } = (defs[task.name] = declaredTaskDef(task))
    const retries = { retryCount: 3, retryDelaySeconds: 0, timeoutPolicy: 'RETRY' } as const
    await control.registerTask({ name, responseTimeoutSeconds, ...retries })
    await control.registerWorkflow({ name, tasks: [stepOf(name, 'it')] })
  }
  const served = await serveTestQueue(control, defs)
  onTestFinished(() => served.close())
  return { url: served.url.replace(/\/api$/, ''), control }
}
