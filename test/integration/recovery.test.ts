// Goal: what no fence can decide recovers without help: the result, what is left behind, and the body.
// Method: worker processes that are killed in the worst moment, over the in-process queue behind HTTP. `npm run build`
// comes first.
import { existsSync, readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { branchName, type CommitRef } from '../../src/base/ids.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { evidenceTag } from '../../src/publication/evidence.ts'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { spawnWorker } from '../../src/runtime/processes/worker-processes.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { serveTestQueue, type ConductorFront } from '../support/worker/conductor-http.ts'
import {
  MAIN,
  TASKS_PATH,
  isAlive,
  openWorkerLakefs,
  openWorkerWorld,
  stepOf,
  textOf,
  until,
  type WorkerLakefs,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000

let lakefs: WorkerLakefs
let queue: TestQueue
let served: ConductorFront
let world: WorkerWorld

beforeAll(async () => {
  lakefs = await openWorkerLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async () => {
  queue = openTestQueue()
  const defs: Record<string, object> = {}
  for (const task of await loadTasks(TASKS_PATH)) {
    const { name, retryCount, responseTimeoutSeconds = 60 } = (defs[task.name] = declaredTaskDef(task))
    await queue.registerTask({
      name,
      retryCount: retryCount ?? 3,
      retryDelaySeconds: 0,
      responseTimeoutSeconds,
      timeoutPolicy: 'RETRY',
    })
    await queue.registerWorkflow({ name, tasks: [stepOf(name, 'it')] })
  }
  served = await serveTestQueue(queue, defs)
  world = await openWorkerWorld(served.url.replace(/\/api$/, ''), lakefs, queue)
})
afterEach(async () => {
  await world.close()
  await served.close()
})

/** A worker process on the first root, to be killed. */
async function startDoomed(): Promise<{ kill(): void; readonly ended: Promise<unknown> }> {
  const worker = spawnWorker(world.orderOf({ root: world.root }))
  onTestFinished(async () => {
    worker.kill()
    await worker.ended
  })
  await worker.ready
  return worker
}

/** Kills it when it reports that its task is complete; the queue does not get the report. */
async function dieBeforeCompleting(workflow: string, params: Parameters<WorkerWorld['start']>[1] = {}) {
  const doomed = await startDoomed()
  let published: CommitRef | undefined
  world.front.interfere = async ({ update }) => {
    if (update.status !== 'COMPLETED' || published !== undefined) return 'pass'
    published = (await logOf(world.repo))[0]?.ref
    doomed.kill()
    return 'lose'
  }
  const workflowId = await world.start(workflow, params)
  await doomed.ended
  if (published === undefined || published === world.inputRef) throw new Error('it had not published')
  return { workflowId, published }
}

const headOf = async (): Promise<CommitRef | undefined> => (await logOf(world.repo))[0]?.ref
const runsIn = (path: string): readonly string[] => readFileSync(path, 'utf8').trim().split('\n')
const taskOf = async (workflowId: WorkflowId) => {
  const task = (await queue.readWorkflow(workflowId))?.tasks.at(-1)
  if (task === undefined) throw new Error('the workflow has no task')
  return task
}

describe('the result', { timeout: TEST_MS }, () => {
  test('F-56 a result that was not confirmed is sent by the next worker: the task completes, its body ran once', async () => {
    const runs = world.at('runs')
    const { workflowId, published } = await dieBeforeCompleting('perago_it_steady', { runs })
    expect(await taskOf(workflowId)).toMatchObject({ status: 'IN_PROGRESS' })
    await world.open()
    const { status, output, tasks } = await world.ended(workflowId)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    expect(output).toMatchObject({ workspace: { ref: published } })
    expect([runsIn(runs).length, await headOf()]).toEqual([1, published])
  })

  test('F-56 it is not sent when the task was opened again under its id meanwhile, and is kept for an operator', async () => {
    const { workflowId, published } = await dieBeforeCompleting('perago_it_steady')
    const { taskId, input } = await taskOf(workflowId)
    const [begun, go] = [world.at('begun'), world.at('go')]
    await queue.terminate(workflowId)
    await queue.rerun(workflowId, {
      fromTaskId: taskId,
      taskInput: { ...input, params: { begun, go, text: 'again' } },
    })
    await world.open({ root: world.at('second') })
    await until('the task has been opened again', () => textOf(begun) !== undefined)
    expect(await taskOf(workflowId)).toMatchObject({ taskId, status: 'IN_PROGRESS', retryCount: 0 })

    await world.open()
    const refused = join(world.root, 'outbox', '0', 'refused')
    await until('the late result is set aside', async () => (await readdir(refused)).length === 1)
    expect(await taskOf(workflowId)).toMatchObject({ taskId, status: 'IN_PROGRESS' })
    const [name = ''] = await readdir(refused)
    expect(JSON.parse(readFileSync(join(refused, name), 'utf8'))).toMatchObject({
      result: { taskId, status: 'COMPLETED' },
      refused: 'superseded: the task is IN_PROGRESS',
    })
    await writeFile(go, '')
    const { status, output } = await world.ended(workflowId)
    expect([status, output]).toMatchObject(['COMPLETED', { workspace: { ref: await headOf() } }])
    expect((await logOf(world.repo))[0]?.parents).toEqual([world.inputRef])
    // What the first one published is off the branch, and not gone.
    expect((await logOf(world.repo, branchName(evidenceTag(published))))[0]?.ref).toBe(published)
  })
})

describe('what a dead worker leaves behind', { timeout: TEST_MS }, () => {
  test('F-56 the retry removes the staging branch of a dead attempt, and the next worker its directory', async () => {
    const { workflowId, published } = await dieBeforeCompleting('perago_it_brief')
    const [dead, ...others] = await readdir(join(world.root, 'workers'))
    expect([others.length, (await stagingBranchesOf(world.repo)).length]).toEqual([0, 1])
    // What it had published from is kept there for a task that could use it.
    const left = await readdir(join(world.root, 'workers', dead!), { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.name === 'tree' && entry.isDirectory())).toHaveLength(1)

    const [begun, go] = [world.at('begun'), world.at('go')]
    await world.open({ root: world.at('second'), slots: 1 })
    expect((await world.ended(workflowId)).status).toBe('COMPLETED')
    await until('no staging branch is left', async () => (await stagingBranchesOf(world.repo)).length === 0)
    expect((await logOf(world.repo, branchName(evidenceTag(published))))[0]?.ref).toBe(published)

    // One that lives in the same root, in the middle of an attempt.
    const branch = 'other'
    await world.repo.createBranch({ branch: branchName(branch), from: world.inputRef })
    const live = await world.start('perago_it_patient', { begun, go }, { branch })
    await until('the live body runs', () => textOf(begun) !== undefined)
    const inSecond = await readdir(join(world.at('second'), 'workers'))
    await world.open({ root: world.at('second'), index: 1 })
    await world.open()
    await until(
      'the directory of the dead one is gone',
      () => !existsSync(join(world.root, 'workers', dead!)),
    )
    expect(await readdir(join(world.at('second'), 'workers'))).toEqual(expect.arrayContaining(inSecond))
    await writeFile(go, '')
    expect((await world.ended(live)).status).toBe('COMPLETED')
  })

  test('F-56 WK-85 a body in its own process that never yields ends with its worker', async () => {
    const begun = world.at('begun')
    const doomed = await startDoomed()
    await world.start('perago_it_apart', { begun, go: world.at('never'), spin: true })
    await until('the body runs', () => textOf(begun) !== undefined)
    const body = Number(textOf(begun))
    expect(isAlive(body)).toBe(true)
    onTestFinished(() => {
      if (isAlive(body)) process.kill(body, 'SIGKILL')
    })
    doomed.kill()
    await doomed.ended
    await until('the body is gone', () => !isAlive(body))
  })
})

describe('the body', { timeout: TEST_MS }, () => {
  test('F-56 it runs again from the input, in a directory of its own: nothing of the run that was cut off is published', async () => {
    const [runs, begun] = [world.at('runs'), world.at('begun')]
    const doomed = await startDoomed()
    const params = { runs, begun, go: world.at('never'), file: 'run-{attempt}.txt' }
    const workflowId = await world.start('perago_it_brief', params)
    await until('the body runs', () => textOf(begun) !== undefined)
    doomed.kill()
    await doomed.ended
    await world.open({ root: world.at('second') })
    const { status, output, tasks } = await world.ended(workflowId)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    expect(runsIn(runs)).toEqual(tasks.map(({ taskId }) => taskId))
    const log = await logOf(world.repo, MAIN)
    expect(log[0]?.parents).toEqual([world.inputRef])
    expect(output).toMatchObject({ workspace: { ref: log[0]?.ref } })
    expect(await filesOf(world.repo)).toEqual({ 'data/in.txt': 'in', 'data/run-1.txt': 'text by attempt 1' })
  })

  test('F-56 a worker that restarts reports a cut-off body at once, without waiting for the timeout', async () => {
    const [runs, begun] = [world.at('runs'), world.at('begun')]
    const doomed = await startDoomed()
    const workflowId = await world.start('perago_it_patient', { runs, begun, go: world.at('never') })
    await until('the body runs', () => textOf(begun) !== undefined)
    doomed.kill()
    await doomed.ended
    await world.open()
    const { status, tasks } = await world.ended(workflowId)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['FAILED', 'COMPLETED']])
    expect(runsIn(runs)).toHaveLength(2)
  })
})
