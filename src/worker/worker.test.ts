// Goal: tasks go in at one end of a worker and finished workflows come out, whatever is done to them meanwhile.
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { filesOf, stagingBranchesOf } from '../../test/support/publication-world.ts'
import { filesTask, inputFor, keepingLogger, MAIN } from '../../test/support/worker/world.ts'
import { systemClock } from '../base/clock.ts'
import { UnavailableError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { silentLogger, type LogFields, type Logger } from '../base/logger.ts'
import { plainRedactor } from '../base/redaction.ts'
import type { WorkflowId } from '../fences/attempt-snapshot.ts'
import type { VersionedRepo } from '../publication/ports.ts'
import { calmScript, ScriptedRepo } from '../testing/scripted-repo.ts'
import type { WorkflowView } from '../engine/protocol/control.ts'
import { openTestQueue, type QueueCall, type QueueLink, type TestQueue } from '../testing/open-test-queue.ts'
import type { Deficiencies } from '../testing/memory-queue.ts'
import { openWorkspaceRoot, type WorkspaceRoot } from '../workspace/ownership/ownership.ts'
import type { WorkerEvent } from './events.ts'
import { openLocalLeases } from './leases/lease.ts'
import type { TaskRecord } from './ports.ts'
import { openOutbox } from './results/outbox.ts'
import type { TaskDefinition } from '../tasks/task-definition.ts'
import type { WorkerOptions } from './worker-options.ts'
import { startWorker, type RunningWorker } from './worker.ts'

let directory: string
let root: WorkspaceRoot
let repo: ScriptedRepo
let inputRef: CommitRef
let events: WorkerEvent[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-worker-'))
  root = await openWorkspaceRoot({ directory, workerId: 'worker-1' })
  repo = new ScriptedRepo()
  inputRef = repo.commitDirectly(MAIN, { 'orders/a.csv': 'a' })
  events = []
})
afterEach(async () => {
  await root.close()
  await rm(directory, { recursive: true, force: true })
})

async function openQueue(
  options: { link?: QueueLink; deficiencies?: Deficiencies; responseSeconds?: number } = {},
): Promise<TestQueue> {
  const queue = openTestQueue(options)
  await queue.registerTask({
    name: 'orders.clean',
    retryCount: 3,
    retryDelaySeconds: 0,
    responseTimeoutSeconds: options.responseSeconds ?? 60,
    timeoutPolicy: 'RETRY',
  })
  await queue.registerWorkflow({
    name: 'daily',
    tasks: [
      {
        name: 'orders.clean',
        taskReferenceName: 'clean',
        inputParameters: { workspace: '${workflow.input.workspace}', params: '${workflow.input.params}' },
      },
    ],
  })
  return queue
}

async function open(
  queue: TestQueue,
  task: TaskDefinition,
  changes: Partial<WorkerOptions> = {},
): Promise<RunningWorker> {
  const leases = openLocalLeases({ queue, clock: systemClock, logger: silentLogger })
  const outbox = await openOutbox({
    directory: join(directory, 'outbox'),
    logger: silentLogger,
    now: () => new Date(),
  })
  const worker = startWorker({
    queue,
    tasks: [{ task }],
    openRepo: () => repo.connect('worker'),
    root,
    leases,
    outbox,
    workerId: 'worker-1',
    logger: silentLogger,
    redactor: plainRedactor,
    observers: [(event) => events.push(event)],
    ...changes,
  })
  onTestFinished(async () => {
    await worker.stop({ deadlineMs: 0 })
    await leases.close()
  })
  await worker.ready
  return worker
}

const start = (queue: TestQueue): Promise<WorkflowId> =>
  queue.start({ name: 'daily', input: inputFor(inputRef) })

async function ended(queue: TestQueue, workflowId: WorkflowId): Promise<WorkflowView> {
  await expect
    .poll(async () => (await queue.readWorkflow(workflowId))?.status, { timeout: 20_000 })
    .not.toBe('RUNNING')
  const view = await queue.readWorkflow(workflowId)
  if (view === undefined) throw new Error('the workflow is gone')
  return view
}

async function until(happened: () => boolean): Promise<void> {
  await expect.poll(happened, { timeout: 20_000, interval: 5 }).toBe(true)
}

const change = filesTask({
  body: async ({ workspace, attempt }) => {
    await writeFile(workspace.path('a.csv'), `changed by attempt ${attempt.retryCount}`)
    return { rows: 1 }
  },
})

/** A body that runs until the test lets it go, or its signal ends it. */
function heldTask(further: Partial<Parameters<typeof filesTask>[0]> = {}): {
  readonly task: TaskDefinition
  readonly begun: string[]
  readonly aborted: unknown[]
  go(): void
} {
  const begun: string[] = []
  const aborted: unknown[] = []
  let go: () => void = () => undefined
  const gate = new Promise<void>((resolve) => (go = resolve))
  const task = filesTask({
    ...further,
    body: async ({ workspace, signal, attempt }) => {
      await writeFile(workspace.path('a.csv'), 'held')
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason)
          reject(new Error('stopped'))
        })
        begun.push(attempt.taskId)
        gate.then(resolve, reject)
      })
      return { rows: 1 }
    },
  })
  return { task, begun, aborted, go: () => go() }
}

describe('a task', () => {
  test('WK-70 goes from the queue to a published commit and back, and leaves nothing behind', async () => {
    const queue = await openQueue()
    const worker = await open(queue, change)
    const { status, output, tasks } = await ended(queue, await start(queue))
    expect(status).toBe('COMPLETED')
    expect(output).toEqual({
      workspace: { repository: 'scripted', branch: 'main', refType: 'commit', ref: repo.head(MAIN) },
      result: { rows: 1 },
    })
    expect(await filesOf(repo.connect('test'))).toEqual({ 'orders/a.csv': 'changed by attempt 0' })
    await worker.stop()
    expect(await queue.readLogs(tasks[0]!.taskId)).toContain(
      `published: merged at ${repo.head(MAIN) ?? ''}, soft fence`,
    )
    const outbox = join(directory, 'outbox')
    const results = (await readdir(outbox)).filter((name) => name.endsWith('.json'))
    // What was made ahead is blank.
    for (const name of results) expect((await readFile(join(outbox, name), 'utf8')).trim()).toBe('')
    expect(await readdir(join(directory, 'workers', root.token, 'attempts'))).toEqual([])
    expect([...repo.model.branches.keys()]).toEqual(['main'])
  })

  test('WK-325 WK-326 its log and its progress are at the queue while its body runs, and each line once', async () => {
    let go: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (go = resolve))
    const task = filesTask({
      body: async ({ workspace, log, progress }) => {
        await writeFile(workspace.path('a.csv'), 'x')
        log.info('begun')
        progress(1, 2, 'halves')
        await gate
        log.info('about to end')
        return { rows: 1 }
      },
    })
    const queue = await openQueue()
    await open(queue, task)
    const workflow = await start(queue)
    const logs = async (): Promise<readonly string[]> => {
      const view = await queue.readWorkflow(workflow)
      return queue.readLogs(view!.tasks[0]!.taskId)
    }
    await expect.poll(logs, { timeout: 20_000 }).toEqual(['begun\nprogress: 1 of 2 halves (50 %)'])
    go()
    await ended(queue, workflow)
    const [, said, ...ours] = await logs()
    expect([said, ...ours.map((line) => line.slice(0, line.indexOf(':')))]).toEqual([
      ...['about to end', 'published', 'steps'],
    ])
  })

  test('WK-71 ends in one order: lease released, result kept, posted; then read back and cleaned up', async () => {
    const calls: string[] = []
    const note = ({ operation }: QueueCall): void => void calls.push(operation)
    const queue = await openQueue({ link: { onRequest: note } })
    const worker = await open(queue, change, {
      observers: [
        (event) => events.push(event),
        (event) => {
          if (event.kind === 'step') calls.push(`step ${event.event.step}`)
        },
      ],
    })
    await ended(queue, await start(queue))
    await worker.stop()
    const end = calls.slice(calls.indexOf('step release-lease')).filter((call) => call !== 'poll')
    // What the attempt fence has only just read is not read again, unless that took too long by now.
    if (end[1] === 'readTask') end.splice(1, 1)
    expect(end.slice(0, 2)).toEqual(['step release-lease', 'postResult'])
    // One beside the other.
    const [deliver, cleanUp] = [
      (call: string) => !/clean-up/.test(call),
      (call: string) => /clean-up/.test(call),
    ]
    expect(end.slice(2).filter(deliver)).toEqual(['readTask', 'step deliver'])
    expect(end.slice(2).filter(cleanUp)).toEqual(['step publish/clean-up', 'step clean-up'])
  })

  test('F-27 WK-71 the lease is renewed during body, staging and publishing, and never after its release', async () => {
    const renewedIn: string[] = []
    let onRenewal: () => void = () => undefined
    /** A step that lasts until the lease has been renewed in it. */
    const lastUntilRenewed = async (step: string): Promise<void> => {
      await new Promise<void>((resolve) => (onRenewal = resolve))
      renewedIn.push(step)
    }
    const slow = new ScriptedRepo({
      script: {
        arrive: async ({ request }) => {
          if (request === 'write' || request === 'merge') await lastUntilRenewed(request)
          return 'none'
        },
        answer: () => Promise.resolve(),
        later: () => undefined,
      },
    })
    const ref = slow.commitDirectly(MAIN, { 'orders/a.csv': 'a' })
    const queue = await openQueue({
      responseSeconds: 3,
      link: {
        onRequest: ({ operation }) => {
          if (operation === 'renewLease') onRenewal()
        },
      },
    })
    const task = filesTask({
      body: async ({ workspace }) => {
        await writeFile(workspace.path('a.csv'), 'x')
        await lastUntilRenewed('body')
        return { rows: 1 }
      },
    })
    await open(queue, task, { openRepo: () => slow.connect('worker') })
    const workflow = await queue.start({ name: 'daily', input: inputFor(ref) })
    const { status, tasks } = await ended(queue, workflow)
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    expect(renewedIn).toEqual(['body', 'write', 'merge'])
  })

  test('WK-73 a slow renewal cannot undo its completion', async () => {
    let onRenewal: () => void = () => undefined
    const renewing = new Promise<void>((resolve) => (onRenewal = resolve))
    const queue = await openQueue({
      responseSeconds: 3,
      // Long enough that the body ends, and a result would be posted, while a renewal is under way.
      deficiencies: { renewalWritesAfterMs: 300 },
      link: {
        onRequest: ({ operation }) => {
          if (operation === 'renewLease') onRenewal()
        },
      },
    })
    const task = filesTask({
      body: async ({ workspace }) => {
        await writeFile(workspace.path('a.csv'), 'x')
        await renewing
        return { rows: 1 }
      },
    })
    const worker = await open(queue, task)
    const workflow = await start(queue)
    expect((await ended(queue, workflow)).status).toBe('COMPLETED')
    await worker.stop()
    const view = await queue.readWorkflow(workflow)
    expect(view?.tasks.map(({ status }) => status)).toEqual(['COMPLETED'])
  })

  test('WK-74 a task that fails is tried again, and the retry replaces what an abandoned attempt published', async () => {
    let lost = false
    const queue = await openQueue({
      responseSeconds: 2,
      link: {
        onRequest: ({ operation }) => {
          // The first result never arrives, however often it is posted, until the server has given the task up.
          if (operation === 'postResult' && !lost) throw new UnavailableError('testing/lost', 'no connection')
        },
      },
    })
    await open(queue, change)
    const workflow = await start(queue)
    await until(() => repo.head(MAIN) !== inputRef)
    const abandoned = repo.head(MAIN)
    await expect
      .poll(async () => (await queue.readWorkflow(workflow))?.tasks[0]?.status, { timeout: 20_000 })
      .toBe('TIMED_OUT')
    lost = true
    const { status, output } = await ended(queue, workflow)
    expect(status).toBe('COMPLETED')
    expect(output['workspace']).toMatchObject({ ref: repo.head(MAIN) })
    expect(repo.head(MAIN)).not.toBe(abandoned)
    expect(await filesOf(repo.connect('test'))).toEqual({ 'orders/a.csv': 'changed by attempt 1' })
  })
})

/** A task whose last run on the same worker published at once: what follows is the worker as it is, without any switch. */
describe('nothing is written before the attempt fence, also by a task that has published before', () => {
  /** What the worker is doing, in the order in which it happens. */
  const happened: string[] = []
  const written = (): string[] => happened.filter((what) => what.startsWith('write '))
  beforeEach(() => {
    happened.length = 0
    repo = new ScriptedRepo({
      script: {
        ...calmScript,
        arrive: (call) => {
          if (call.writes) happened.push(`write ${call.request}`)
          return Promise.resolve('none')
        },
      },
    })
    inputRef = repo.commitDirectly(MAIN, { 'orders/a.csv': 'a' })
  })

  /** Runs the task once, to its end, then again on what it published. */
  async function runTwice(
    task: TaskDefinition,
    given: { readonly queue: TestQueue; readonly between?: () => void },
  ): Promise<WorkflowView> {
    const { queue, between } = given
    const worker = await open(queue, task, {
      observers: [
        (event) => events.push(event),
        (event) => {
          if (event.kind === 'step') happened.push(`${event.event.outcome} ${event.event.step}`)
        },
      ],
    })
    await ended(queue, await start(queue))
    await until(() => happened.includes('done clean-up'))
    happened.length = 0
    between?.()
    const head = repo.head(MAIN)
    if (head === undefined) throw new Error('there is no branch')
    const second = await ended(queue, await queue.start({ name: 'daily', input: inputFor(head) }))
    await worker.stop()
    return second
  }

  test('F-09 WK-200 the second run of a task writes its first byte after its attempt fence', async () => {
    const task = filesTask({
      body: async ({ workspace, attempt }) => {
        await writeFile(workspace.path('a.csv'), attempt.workflowId)
        return { rows: 1 }
      },
    })
    expect((await runTwice(task, { queue: await openQueue() })).status).toBe('COMPLETED')
    const fence = happened.indexOf('done publish/attempt-fence')
    expect(fence).toBeGreaterThan(happened.indexOf('done compare'))
    expect(happened.indexOf(written()[0] ?? '')).toBeGreaterThan(fence)
  })

  test('F-10 WK-200 a failed post check writes nothing', async () => {
    let runs = 0
    const onlyOnce = (): Promise<string | undefined> => Promise.resolve(runs < 2 ? undefined : 'again')
    const task = filesTask({
      workspace: { prefix: 'orders', post: [onlyOnce] },
      body: async ({ workspace }) => {
        await writeFile(workspace.path('a.csv'), `run ${String(++runs)}`)
        return { rows: 1 }
      },
    })
    expect((await runTwice(task, { queue: await openQueue() })).status).toBe('FAILED')
    expect(written()).toEqual([])
  })

  test('F-20 WK-200 an attempt that is lost while its body runs writes nothing', async () => {
    const queue = await openQueue()
    let runs = 0
    const task = filesTask({
      body: async ({ workspace, attempt }) => {
        await writeFile(workspace.path('a.csv'), attempt.workflowId)
        if (++runs === 2) await queue.terminate(attempt.workflowId as WorkflowId)
        return { rows: 1 }
      },
    })
    expect((await runTwice(task, { queue })).status).toBe('TERMINATED')
    expect(written()).toEqual([])
  })

  test('F-28 WK-200 with the queue out of reach nothing is written', async () => {
    let isAway = false
    const queue = await openQueue({
      link: {
        onRequest: ({ operation }) => {
          if (isAway && operation !== 'poll') throw new UnavailableError('testing/away', 'no connection')
        },
      },
    })
    let runs = 0
    const task = filesTask({
      body: async ({ workspace, attempt }) => {
        await writeFile(workspace.path('a.csv'), attempt.workflowId)
        isAway = ++runs === 2
        return { rows: 1 }
      },
    })
    const running = runTwice(task, { queue })
    await until(() => happened.includes('failed publish/attempt-fence'))
    expect(written()).toEqual([])
    isAway = false
    await running
  })
})

describe('places', () => {
  test('WK-62 no more of a task run at the same time than it declares', async () => {
    const queue = await openQueue()
    const held = heldTask({ controls: { limits: { perWorker: 1 } } })
    const worker = await open(queue, held.task, { slots: 3 })
    expect(worker.status().polls).toMatchObject({ 'orders.clean': { slots: 1 } })
    const workflows = [await start(queue), await start(queue)]
    await until(() => held.begun.length === 1)
    const { attempts } = worker.status()
    expect(attempts).toHaveLength(1)
    const views = await Promise.all(workflows.map((workflow) => queue.readWorkflow(workflow)))
    expect(views.map((view) => view?.tasks[0]?.status).sort()).toEqual(['IN_PROGRESS', 'SCHEDULED'])
    held.go()
    await until(() => held.begun.length === 2)
    await worker.stop()
  })

  test('WK-57 a place is free before the attempt has cleaned up, those that clean up are bounded, and a stop waits', async () => {
    const queue = await openQueue()
    const removals: (() => void)[] = []
    const connected = repo.connect('worker')
    const slowToRemove: VersionedRepo = {
      ...connected,
      deleteBranch: async (...given) => {
        await new Promise<void>((resolve) => removals.push(resolve))
        return connected.deleteBranch(...given)
      },
    }
    const task = filesTask({
      body: async ({ workspace, attempt }) => {
        await writeFile(workspace.path('a.csv'), attempt.workflowId)
        return { rows: 1 }
      },
    })
    const worker = await open(queue, task, { slots: 1, openRepo: () => slowToRemove })
    const after = async (): Promise<string> => {
      const before = inputRef
      const workflow = await start(queue)
      const { status } = await ended(queue, workflow)
      inputRef = repo.head(MAIN) ?? before
      return status
    }
    expect(await after()).toBe('COMPLETED')
    await until(() => removals.length === 1)
    expect(worker.status()).toMatchObject({ slots: { limit: 1, taken: 0 } })
    // A second one runs beside the first one's clean-up; with it, as many clean up as there are places.
    expect(await after()).toBe('COMPLETED')
    await until(() => removals.length === 2)
    expect(worker.status()).toMatchObject({ slots: { limit: 1, taken: 1 } })
    let isStopped = false
    const stopped = worker.stop().then(() => (isStopped = true))
    removals[0]?.()
    await until(() => worker.status().attempts.length === 1)
    expect(isStopped).toBe(false)
    removals[1]?.()
    await stopped
    expect(await stagingBranchesOf(connected)).toEqual([])
  })
})

test('WK-143 every log line of an attempt carries its workflow, its task and its attempt', async () => {
  const queue = await openQueue()
  const seen: LogFields[] = []
  const keeping = (fields: LogFields): Logger => {
    const say = (message: string, more?: LogFields): void => void seen.push({ ...fields, ...more, message })
    return {
      trace: say,
      debug: say,
      info: say,
      warn: say,
      error: say,
      child: (more) => keeping({ ...fields, ...more }),
    }
  }
  const task = filesTask({
    body: async ({ workspace, log }) => {
      log.info('from the body')
      await writeFile(workspace.path('a.csv'), 'x')
      return { rows: 1 }
    },
  })
  const worker = await open(queue, task, { logger: keeping({}) })
  const workflow = await start(queue)
  const { tasks } = await ended(queue, workflow)
  await worker.stop()
  const ofAttempt = seen.filter(({ taskId }) => taskId !== undefined)
  expect(ofAttempt.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['from the body', 'step body: done', 'the task is done']),
  )
  const wanted = { workflow, task: 'orders.clean', taskId: tasks[0]?.taskId, attempt: 0 }
  for (const line of ofAttempt) expect(line).toMatchObject(wanted)
})

describe('a workflow that ends meanwhile', () => {
  test.each(['terminate', 'restart', 'remove'] as const)(
    'WK-75 %s aborts the body, and nothing is published',
    async (how) => {
      const queue = await openQueue({ responseSeconds: 3 })
      const held = heldTask()
      const worker = await open(queue, held.task)
      const workflow = await start(queue)
      await until(() => held.begun.length > 0)
      if (how === 'restart') await queue.terminate(workflow)
      await queue[how](workflow)
      await until(() => held.aborted.length > 0)
      await queue.terminate(workflow).catch(() => undefined)
      await worker.stop({ deadlineMs: 5_000 })
      expect(held.aborted[0]).toMatchObject({ code: 'fences/stale-attempt' })
      expect(repo.head(MAIN)).toBe(inputRef)
    },
  )
})

describe('another workflow on the branch', () => {
  const sharedOf = (): readonly unknown[] => events.filter(({ kind }) => kind === 'branch-shared')

  test('F-58 is reported while both run: told, logged, and in the log of the task', async () => {
    const queue = await openQueue()
    const held = heldTask()
    const { logger, lines } = keepingLogger()
    const worker = await open(queue, held.task, { logger })
    const first = await start(queue)
    await until(() => held.begun.length === 1)
    expect(sharedOf()).toEqual([])
    const second = await start(queue)
    await until(() => sharedOf().length === 1)
    expect(sharedOf()).toMatchObject([
      { attempt: { workflowId: second }, repository: 'scripted', branch: 'main', workflows: [first] },
    ])
    expect(lines).toContain('another workflow that has not ended may write the same branch')
    const task = (await queue.readWorkflow(second))?.tasks[0]
    await expect
      .poll(async () => (await queue.readLogs(task!.taskId)).join('\n'))
      .toMatch(new RegExp(`branch "main" of "scripted" may be written by another workflow .* daily ${first}`))
    held.go()
    await worker.stop()
  })

  test('F-58 none is reported of one that has ended, and none of a task that only reads', async () => {
    const queue = await openQueue()
    await queue.terminate(await start(queue))
    const looked: string[] = []
    const reader = filesTask({ workspace: { prefix: 'orders', readOnly: true }, body: () => ({ rows: 0 }) })
    const watched: TestQueue = {
      ...queue,
      readOpenWorkflows: (...of) => {
        looked.push('open workflows')
        return queue.readOpenWorkflows(...of)
      },
    }
    const readers = await open(watched, reader)
    const reads = [await start(queue), await start(queue)]
    for (const workflow of reads) await ended(queue, workflow)
    await readers.stop()
    expect(looked).toEqual([])
    const worker = await open(watched, change)
    await ended(queue, await start(queue))
    await worker.stop()
    expect(looked).toEqual(['open workflows'])
    expect(sharedOf()).toEqual([])
  })

  test('F-58 the next workflow on a branch is no second one, however late the open ones are read', async () => {
    const queue = await openQueue({ responseSeconds: 3 })
    let answer: (() => void) | undefined
    const late = new Promise<void>((resolve) => (answer = resolve))
    let readings = 0
    const slow: TestQueue = {
      ...queue,
      readOpenWorkflows: async (...of) => {
        readings++
        await late
        return queue.readOpenWorkflows(...of)
      },
    }
    const held = heldTask()
    const worker = await open(slow, held.task)
    const first = await start(queue)
    await until(() => held.begun.length === 1 && readings === 1)
    await queue.terminate(first)
    const terminatedAtMs = Date.now()
    await until(() => Date.now() > terminatedAtMs)
    await start(queue)
    answer?.()
    await until(() => held.begun.length === 2)
    held.go()
    await worker.stop()
    expect(sharedOf()).toEqual([])
  })

  test('F-58 a queue that cannot be asked keeps nobody from working', async () => {
    const queue = await openQueue({
      link: {
        onRequest: ({ operation }) => {
          if (operation === 'readOpenWorkflows') throw new UnavailableError('testing/lost', 'no connection')
        },
      },
    })
    await open(queue, change)
    expect((await ended(queue, await start(queue))).status).toBe('COMPLETED')
  })
})

describe('stopping', () => {
  test('WK-72 at the deadline attempts are aborted and handed back: offered again, no retry used up', async () => {
    const queue = await openQueue()
    const held = heldTask()
    const worker = await open(queue, held.task)
    const workflow = await start(queue)
    await until(() => held.begun.length > 0)
    const report = await worker.stop({ deadlineMs: 20 })
    expect(report.abandoned).toEqual([])
    const view = await queue.readWorkflow(workflow)
    expect(view?.tasks).toMatchObject([{ status: 'SCHEDULED', retryCount: 0 }])
    expect(repo.head(MAIN)).toBe(inputRef)
    await open(queue, change)
    expect((await ended(queue, workflow)).status).toBe('COMPLETED')
  })

  test('WK-76 before the deadline attempts finish, told to hurry; no new work is taken; renewals go on', async () => {
    let renewals = 0
    const queue = await openQueue({
      responseSeconds: 3,
      link: {
        onRequest: ({ operation }) => {
          if (operation === 'renewLease') renewals++
        },
      },
    })
    let told = false
    const begun: string[] = []
    const task = filesTask({
      body: async ({ workspace, shutdown, attempt }) => {
        begun.push(attempt.taskId)
        await writeFile(workspace.path('a.csv'), 'finished')
        await new Promise<void>((resolve) => {
          shutdown.addEventListener('abort', () => resolve(), { once: true })
          if (shutdown.aborted) resolve()
        })
        told = true
        // Longer than the lease: without renewals it would be given to somebody else.
        const before = renewals
        await until(() => renewals >= before + 4)
        return { rows: 1 }
      },
    })
    const worker = await open(queue, task)
    const workflow = await start(queue)
    await until(() => begun.length > 0)
    const stopping = worker.stop({ deadlineMs: 20_000 })
    expect(worker.stop()).toBe(stopping)
    const second = await start(queue)
    await stopping
    expect(told).toBe(true)
    expect((await queue.readWorkflow(workflow))?.status).toBe('COMPLETED')
    expect((await queue.readWorkflow(second))?.tasks).toMatchObject([{ status: 'SCHEDULED' }])
    expect(worker.status()).toMatchObject({ state: 'stopped', attempts: [] })
  })

  test('WK-77 a worker that is abandoned publishes nothing and reports nothing', async () => {
    const queue = await openQueue()
    const held = heldTask()
    const worker = await open(queue, held.task)
    const workflow = await start(queue)
    await until(() => held.begun.length > 0)
    await worker.abandon('its supervisor is gone')
    expect(held.aborted[0]).toMatchObject({ code: 'worker/abandoned' })
    expect((await queue.readWorkflow(workflow))?.tasks).toMatchObject([{ status: 'IN_PROGRESS' }])
    expect(repo.head(MAIN)).toBe(inputRef)
  })
})

describe('the outbox', () => {
  test('WK-79 what a dead worker left is sent when one comes back, if it still counts', async () => {
    const queue = await openQueue()
    const outbox = await openOutbox({
      directory: join(directory, 'outbox'),
      logger: silentLogger,
      now: () => new Date(),
    })
    const [workflow, other] = [await start(queue), await start(queue)]
    const results = []
    for (const workerId of ['dead-1', 'dead-2']) {
      const [record] = await queue.poll({ taskType: 'orders.clean', workerId, count: 1, waitMs: 0 })
      if (record === undefined) throw new Error('nothing to claim')
      const { taskId, workflowId } = record
      results.push(record)
      await outbox.put(record, {
        taskId,
        workflowId,
        workerId,
        status: 'COMPLETED',
        output: { result: workerId },
      })
    }
    await queue.terminate(other)
    await open(queue, change)
    expect((await ended(queue, workflow)).output).toEqual({ result: 'dead-1' })
    await until(() => events.some(({ kind }) => kind === 'outbox'))
    await expect.poll(async () => (await readdir(join(directory, 'outbox', 'refused'))).length).toBe(1)
    expect((await queue.readWorkflow(other))?.tasks).toMatchObject([{ status: 'CANCELED', output: {} }])
  })
})

describe('places', () => {
  test('WK-62 no more attempts run than there are places', async () => {
    const queue = await openQueue()
    let running = 0
    let most = 0
    const task = filesTask({
      workspace: { prefix: 'orders', readOnly: true },
      body: async () => {
        most = Math.max(most, ++running)
        await systemClock.sleep(30)
        running--
        return { rows: 0 }
      },
    })
    const workflows = await Promise.all(Array.from({ length: 9 }, () => start(queue)))
    const worker = await open(queue, task, { slots: 3 })
    for (const workflow of workflows) expect((await ended(queue, workflow)).status).toBe('COMPLETED')
    expect(most).toBe(3)
    await worker.stop()
  })

  test('WK-69 its status tells what it does', async () => {
    const queue = await openQueue()
    const held = heldTask()
    const worker = await open(queue, held.task)
    expect(worker.status()).toMatchObject({ state: 'running', attempts: [], slots: { limit: 4, taken: 0 } })
    await start(queue)
    await until(() => held.begun.length > 0)
    const { attempts, polls, nowMs } = worker.status()
    expect(attempts).toMatchObject([
      { taskId: held.begun[0], taskName: 'orders.clean', responseTimeoutSeconds: 60 },
    ])
    expect(polls['orders.clean']?.succeededAtMs).toBeLessThanOrEqual(nowMs)
    held.go()
    await until(() => worker.status().attempts.length === 0)
  })
})

describe('a worker that does not poll', () => {
  test('WK-302 runs what it is given, and hands it back once it was asked to stop', async () => {
    const queue = await openQueue()
    const task = filesTask({ body: () => ({ rows: 0 }) })
    const worker = await open(queue, task, { polls: false, executionIdOf: () => 'execution-1' })
    expect(worker.status()).toMatchObject({ polls: {}, slots: { limit: 0, taken: 0 } })
    const claim = async (): Promise<TaskRecord> => {
      const [record] = await queue.poll({ ...CLAIM, count: 1, waitMs: 0 })
      if (record === undefined) throw new Error('nothing to claim')
      return record
    }
    const workflow = await start(queue)
    await worker.take(await claim())
    expect((await ended(queue, workflow)).status).toBe('COMPLETED')
    expect(events.filter(({ kind }) => kind === 'poll')).toEqual([])
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'attempt-started', executionId: 'execution-1' }),
    )

    const late = await start(queue)
    const stopped = worker.stop()
    await worker.take(await claim())
    await stopped
    expect((await queue.readWorkflow(late))?.tasks).toMatchObject([{ status: 'SCHEDULED', retryCount: 0 }])
  })
})

/** As the SDK of Conductor asks: one name for all claims. */
const CLAIM = { taskType: 'orders.clean', workerId: 'a-host' }
