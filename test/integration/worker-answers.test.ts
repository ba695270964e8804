// Goal: whatever is answered in Conductor's place, a result arrives once, in the attempt that it belongs to.
// Method: a worker over the in-process queue behind HTTP, with a proxy in between that answers by itself. `npm run build`
// comes first.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import type { TaskRecord } from '../../src/worker/ports.ts'
import { logOf } from '../support/publication-world.ts'
import { serveTestQueue, type ConductorFront } from '../support/worker/conductor-http.ts'
import type { InPlace, PassingRequest } from '../support/worker-conductor/front.ts'
import {
  TASKS_PATH,
  openWorkerLakefs,
  openWorkerWorld,
  stepOf,
  textOf,
  until,
  type WorkerLakefs,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000
const TASK = 'perago_it_steady'
/** How many posts, and how many readings, are answered in the queue's place. */
const FOREIGN = 2

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
  const declared = (await loadTasks(TASKS_PATH)).map(declaredTaskDef)
  await queue.registerTask({ name: TASK, retryCount: 3, retryDelaySeconds: 0, responseTimeoutSeconds: 60 })
  await queue.registerWorkflow({ name: TASK, tasks: [stepOf(TASK, 'it')] })
  served = await serveTestQueue(queue, Object.fromEntries(declared.map((def) => [def.name, def])))
  world = await openWorkerWorld(served.url.replace(/\/api$/, ''), lakefs, queue)
})
afterEach(async () => {
  await world.close()
  await served.close()
})

const ANSWERS: readonly [string, InPlace][] = [
  ['a text 404', { status: 404, text: 'default backend - 404' }],
  ['a redirection', { status: 302, location: '/login' }],
  ['a page', { status: 200, type: 'text/html', text: '<html>please log in</html>' }],
  ['a page 502', { status: 502, type: 'text/html', text: '<html>bad gateway</html>' }],
  ['an empty success', { status: 200 }],
  ['too many requests', { status: 429 }],
  [
    'that the database is away',
    {
      status: 500,
      type: 'application/json',
      text: '{"status":500,"message":"no connection","retryable":false}',
    },
  ],
]

const isPost = ({ update }: PassingRequest): boolean => update.status === 'COMPLETED'
const isReading = ({ method, path }: PassingRequest): boolean =>
  method === 'GET' && /^\/api\/tasks\/[^/]+$/.test(path)

const refusedOf = (): readonly string[] => {
  const directory = join(world.root, 'outbox', '0', 'refused')
  return existsSync(directory) ? readdirSync(directory) : []
}

async function firstTask(workflow: WorkflowId): Promise<TaskRecord> {
  const task = (await queue.readWorkflow(workflow))?.tasks[0]
  if (task === undefined) throw new Error('the workflow has no task')
  return task
}

/** As an operator does it: the task is open again under its old id. */
async function runAgain(workflow: WorkflowId): Promise<void> {
  const { taskId } = await firstTask(workflow)
  await queue.terminate(workflow)
  await queue.rerun(workflow, { fromTaskId: taskId })
}

describe('the answer of another server', { timeout: TEST_MS }, () => {
  test.each(ANSWERS)('WK-216 %s to posts and readings: the result arrives once', async (_, answer) => {
    const foreign = { posts: 0, readings: 0 }
    let posts = 0
    world.front.interfere = (request) => {
      const what = isPost(request) ? 'posts' : 'readings'
      const isMeant = what === 'posts' || (isReading(request) && foreign.posts > 0)
      if (isMeant && foreign[what] < FOREIGN) {
        foreign[what]++
        return answer
      }
      if (what === 'posts') posts++
      return 'pass'
    }
    await world.open({ slots: 1 })
    const runs = world.at('runs')
    const { status, tasks, output } = await world.ended(await world.start(TASK, { runs }))
    expect([status, tasks.length, posts, foreign]).toEqual([
      ...['COMPLETED', 1, 1],
      { posts: FOREIGN, readings: FOREIGN },
    ])
    expect(output).toMatchObject({ workspace: { ref: (await logOf(world.repo))[0]?.ref } })
    expect(readFileSync(runs, 'utf8').trim().split('\n')).toHaveLength(1)
    expect(refusedOf()).toEqual([])
  })
})

describe('a task that is run again under its id', { timeout: TEST_MS }, () => {
  test('WK-217 while its result is answered 429: the new attempt never gets the old output', async () => {
    let claimed: readonly TaskRecord[] = []
    let posts = 0
    world.front.interfere = async (request) => {
      if (!isPost(request) || ++posts > 1) return 'pass'
      await runAgain(workflow)
      const { domain } = world
      claimed = await queue.poll({ taskType: TASK, workerId: 'other', domain, count: 1, waitMs: 0 })
      return 429
    }
    const worker = await world.open({ slots: 1 })
    const workflow = await world.start(TASK)
    await until('the attempt has ended', () => world.summaries().length === 1)
    expect(world.summaries()).toMatchObject([{ delivery: 'superseded' }])
    await worker.close({ deadlineMs: 0 })
    const [other] = claimed
    expect(other).toMatchObject({ workerId: 'other' })
    expect(await firstTask(workflow)).toMatchObject({
      status: 'IN_PROGRESS',
      output: {},
      taskId: other?.taskId,
    })
    expect(posts).toBe(1)
  })

  test('WK-217 while its result waits in the outbox: it completes with its own output', async () => {
    let isAway = true
    let hasPosted = false
    const passed: (string | undefined)[] = []
    world.front.interfere = (request) => {
      if (isAway && (isPost(request) || (isReading(request) && hasPosted))) {
        hasPosted = true
        return { status: 404, text: 'default backend - 404' }
      }
      if (isPost(request)) passed.push(request.update.workerId)
      return 'pass'
    }
    const [go, begun] = [world.at('go'), world.at('begun')]
    await writeFile(go, '')
    await world.open({ slots: 1 })
    const workflow = await world.start(TASK, { go, begun })
    await until('the result is kept', () => world.summaries().length === 1)
    expect(world.summaries()).toMatchObject([{ status: 'COMPLETED', delivery: 'kept' }])
    const { workerId: first } = await firstTask(workflow)
    const published = (await logOf(world.repo))[0]?.ref

    await rm(go)
    await rm(begun)
    await runAgain(workflow)
    await until('it runs again', () => textOf(begun) !== undefined)
    isAway = false
    await until('the old result is decided', () => refusedOf().length === 1)
    expect(await firstTask(workflow)).toMatchObject({ status: 'IN_PROGRESS', output: {} })
    await writeFile(go, '')

    const { status, tasks, output } = await world.ended(workflow)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    const head = (await logOf(world.repo))[0]?.ref
    expect(output).toMatchObject({ workspace: { ref: head } })
    expect(head).not.toBe(published)
    expect(passed).toHaveLength(1)
    expect(passed).not.toContain(first)
  })
})
