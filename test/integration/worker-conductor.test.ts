// Goal: what a worker promises holds on a real Conductor, whose answers prove nothing and whose deadlines come late.
// Method: the worker, in this process or in its own, speaks to the server through a front that can hold or lose one
// request; each test has a domain, a repository and a root of its own. `npm run build` comes first.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { branchName, type CommitRef } from '../../src/base/ids.ts'
import { openConductorClient } from '../../src/conductor/client.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { evidenceTag } from '../../src/publication/evidence.ts'
import { startWorkflow } from '../../src/runtime/start-workflow.ts'
import { spawnWorker, type WorkerOrder } from '../../src/runtime/processes/worker-processes.ts'
import type { WorkerProcess } from '../../src/runtime/processes/supervisor.ts'
import { filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { useRealServer } from '../support/servers/servers.ts'
import {
  openCommandWorld,
  type CommandWorld,
  type StartedWorkers,
} from '../support/worker-conductor/command.ts'
import { openUnleasedWorker } from '../support/worker-conductor/unleased-worker.ts'
import {
  MAIN,
  isAlive,
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  stepOf,
  textOf,
  until,
  type WorkerLakefs,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000
const conductor = useRealServer('conductor')

let lakefs: WorkerLakefs
let world: WorkerWorld
const registeredAt = new Set<string>()

beforeAll(async () => {
  lakefs = await openWorkerLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async (context) => {
  const { url } = conductor(context)
  if (!registeredAt.has(url)) await registerTasks(url)
  registeredAt.add(url)
  world = await openWorkerWorld(url, lakefs)
}, TEST_MS)
afterEach(() => world.close(), TEST_MS)

/** The commits of a branch, newest first, down to the input's. */
async function publishedOn(branch = MAIN): Promise<CommitRef[]> {
  const refs = (await logOf(world.repo, branch)).map(({ ref }) => ref)
  const input = refs.indexOf(world.inputRef)
  if (input < 0) throw new Error('the branch has lost its input')
  return refs.slice(0, input)
}

/** What the publication of an attempt did, step by step. */
function publicationStepsOf(taskId: string | undefined): readonly string[] {
  return world.events.flatMap((event) =>
    event.kind === 'step' && event.event.step.startsWith('publish') && event.attempt.taskId === taskId
      ? [`${event.event.step} ${event.event.outcome}`]
      : [],
  )
}

async function startProcess(
  options: Parameters<WorkerWorld['orderOf']>[0],
  told?: Parameters<typeof spawnWorker>[1],
  further: Partial<WorkerOrder['options']> = {},
): Promise<WorkerProcess & { readonly pid: number }> {
  const order = world.orderOf(options)
  const worker = spawnWorker({ ...order, options: { ...order.options, ...further } }, told)
  onTestFinished(async () => {
    worker.kill()
    await worker.ended
  })
  await Promise.race([
    worker.ready,
    worker.ended.then(({ how }) => Promise.reject(new Error(`a worker process ended: ${how}`))),
  ])
  const { pid } = worker
  if (pid === undefined) throw new Error('a worker process without a pid')
  return { ...worker, pid }
}

describe('one worker', { timeout: TEST_MS }, () => {
  test('F-40 WK-70 two tasks in a row publish one commit each, the second on top of the first', async () => {
    const chain = 'perago_it_chain'
    await world.control.registerWorkflow({
      name: chain,
      tasks: [
        stepOf('perago_it_guarded', 'first'),
        stepOf('perago_it_steady', 'second', { after: 'first', params: 'then' }),
      ],
    })
    await world.open()
    const workflow = await world.start(
      chain,
      { text: 'one' },
      { input: { then: { file: 'two.txt', text: 'two' } } },
    )
    const { status, output, tasks } = await world.ended(workflow)
    expect(status).toBe('COMPLETED')
    const [second, first, ...more] = await publishedOn()
    expect(more).toEqual([])
    const at = (ref: CommitRef | undefined): object => ({
      repository: world.repository,
      branch: 'main',
      refType: 'commit',
      ref,
    })
    expect(tasks.map(({ output: { workspace } }) => workspace)).toEqual([at(first), at(second)])
    expect(output).toMatchObject({ workspace: at(second), result: { filler: '' } })
    expect(await filesOf(world.repo)).toEqual({
      'data/in.txt': 'in',
      'data/out.txt': 'one by attempt 0',
      'data/two.txt': 'two by attempt 0',
    })
    await until(
      'staging branches are removed',
      async () => (await stagingBranchesOf(world.repo)).length === 0,
    )
  })

  test('F-12 F-13 a read-only task completes with its input ref and without a write', async () => {
    await world.open()
    const { status, output } = await world.ended(await world.start('perago_it_reader', { idle: true }))
    expect([status, output]).toMatchObject(['COMPLETED', { workspace: { ref: world.inputRef } }])
    expect(await publishedOn()).toEqual([])
  })

  test('F-31 a writable task that changed nothing completes with its input ref and makes no commit', async () => {
    await world.open()
    const { status, output } = await world.ended(await world.start('perago_it_steady', { idle: true }))
    expect([status, output]).toMatchObject(['COMPLETED', { workspace: { ref: world.inputRef } }])
    expect(await publishedOn()).toEqual([])
  })

  test('F-10 a failed check after the body ends the task before anything is staged', async () => {
    await world.open()
    const workflow = await world.start('perago_it_guarded', { file: 'elsewhere.txt' })
    await until('the first attempt has failed', () => world.summaries().length > 0)
    const view = await world.control.readWorkflow(workflow)
    expect(view?.tasks[0]?.status).toBe('FAILED')
    expect(view?.tasks[0]?.reasonForIncompletion).toContain('out.txt')
    expect(await publishedOn()).toEqual([])
  })

  test('WK-16 a result that the server would put aside is refused before anything is published', async () => {
    await world.open()
    const { status, tasks } = await world.ended(
      await world.start('perago_it_steady', { resultBytes: 4_000_000 }),
    )
    expect([status, tasks.map((task) => task.status)]).toEqual(['FAILED', ['FAILED_WITH_TERMINAL_ERROR']])
    expect(tasks[0]?.reasonForIncompletion).toContain('conductor/payload-too-large')
    expect(await publishedOn()).toEqual([])
  })

  test('F-30 twenty workflows on twenty branches: each publishes its own commit upon its input', async () => {
    const branches = Array.from({ length: 20 }, (_, index) => branchName(`branch-${index}`))
    for (const branch of branches) await world.repo.createBranch({ branch, from: world.inputRef })
    await world.open({ slots: 4 })
    const workflows = await Promise.all(
      branches.map((branch) => world.start('perago_it_steady', { text: branch }, { branch })),
    )
    for (const [index, workflow] of workflows.entries()) {
      const { status, output, tasks } = await world.ended(workflow)
      expect([status, tasks.length]).toEqual(['COMPLETED', 1])
      const branch = branches[index] ?? MAIN
      const published = await publishedOn(branch)
      expect(published).toHaveLength(1)
      expect(output).toMatchObject({ workspace: { branch, ref: published[0] } })
      expect((await filesOf(world.repo, branch))['data/out.txt']).toBe(`${branch} by attempt 0`)
    }
    expect(await publishedOn()).toEqual([])
  })
})

describe('somebody takes the task away while its body runs', { timeout: TEST_MS }, () => {
  const ways: readonly [string, string, (workflow: WorkflowId) => Promise<void>][] = [
    ['terminated', 'perago_it_brief', (workflow) => world.control.terminate(workflow)],
    ['removed', 'perago_it_brief', (workflow) => world.control.remove(workflow)],
    ['paused, where that stops it', 'perago_it_pausing', (workflow) => world.control.pause(workflow)],
    [
      'restarted',
      'perago_it_brief',
      async (workflow) => {
        await world.control.terminate(workflow)
        await world.control.restart(workflow)
      },
    ],
    [
      'run again from this task, under its old id',
      'perago_it_brief',
      async (workflow) => {
        const task = (await world.control.readWorkflow(workflow))?.tasks[0]
        if (task === undefined) throw new Error('the workflow has no task')
        await world.control.terminate(workflow)
        await world.control.rerun(workflow, { fromTaskId: task.taskId })
        expect((await world.control.readWorkflow(workflow))?.tasks).toMatchObject([
          { taskId: task.taskId, retryCount: 0 },
        ])
      },
    ],
  ]
  const reopens = (how: string): boolean => how.startsWith('restarted') || how.startsWith('run again')
  test.each(ways)(
    'WK-33 WK-75 a workflow is %s: the next renewal aborts the body, and nothing is published',
    async (how, task, act) => {
      const [begun, go, aborted] = [world.at('begun'), world.at('go'), world.at('aborted')]
      let taskPath = ''
      let reads = 0
      let readsAtLoss: number | undefined
      world.front.interfere = ({ method, path }) => {
        if (method === 'GET' && path === taskPath) reads++
        return 'pass'
      }
      const worker = await world.open({
        observers: [
          ({ kind }) => {
            if (kind === 'lease-lost') readsAtLoss ??= reads
          },
        ],
      })
      const workflow = await world.start(task, { begun, go, aborted })
      await until('the body runs', () => textOf(begun) !== undefined)
      taskPath = `/api/tasks/${(await world.control.readWorkflow(workflow))?.tasks[0]?.taskId ?? '?'}`
      reads = 0
      await act(workflow)
      await until('the body is aborted', () => textOf(aborted) !== undefined)
      expect(textOf(aborted)).toBe('fences/stale-attempt')
      // One renewal may have been on its way while it happened; where the id is the same, the next attempt reads it, too.
      expect(readsAtLoss).toBeLessThanOrEqual(how.startsWith('run again') ? 4 : 2)
      expect(await publishedOn()).toEqual([])
      if (reopens(how)) {
        await writeFile(go, '')
        const { status, tasks } = await world.ended(workflow)
        expect([status, tasks.length]).toEqual(['COMPLETED', 1])
      }
      await worker.close()
      expect(await publishedOn()).toHaveLength(reopens(how) ? 1 : 0)
      expect(await stagingBranchesOf(world.repo)).toEqual([])
    },
  )

  test('a workflow that is paused goes on with the task it has, where pausing does not stop it', async () => {
    const [begun, go] = [world.at('begun'), world.at('go')]
    await world.open()
    const workflow = await world.start('perago_it_steady', { begun, go })
    await until('the body runs', () => textOf(begun) !== undefined)
    await world.control.pause(workflow)
    await writeFile(go, '')
    await until('the attempt has ended', () => world.summaries().length > 0)
    expect(world.summaries()).toMatchObject([{ status: 'COMPLETED', delivery: 'delivered' }])
    await world.control.resume(workflow)
    expect((await world.ended(workflow)).status).toBe('COMPLETED')
    expect(await publishedOn()).toHaveLength(1)
  })

  test('F-18 F-22 an attempt that the server timed out and gave to another uploads nothing', async () => {
    const [begun, go] = [world.at('begun'), world.at('go')]
    let renewals = 0
    const hung: { taskPath?: string } = {}
    let held = false
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    world.front.interfere = async ({ method, path, update }) => {
      if (update.status === 'IN_PROGRESS') renewals++
      // The renewal's reading hangs, so that only the fence can find out.
      if (method === 'GET' && path === hung.taskPath && !held) {
        held = true
        await released
      }
      return 'pass' as const
    }
    await world.open()
    const workflow = await world.start('perago_it_limited', { begun, go })
    await until('the body runs', () => textOf(begun) !== undefined)
    // The lease is then good for longer than the time that the server gives the attempt.
    await until('the lease was renewed', () => renewals >= 3)
    const late = (await world.control.readWorkflow(workflow))?.tasks[0]?.taskId
    hung.taskPath = `/api/tasks/${late ?? '?'}`
    await until('the attempt is timed out, unnoticed', async () => {
      await world.control.decide(workflow)
      const view = await world.control.readWorkflow(workflow)
      return held && view?.tasks[0]?.status === 'TIMED_OUT'
    })
    await writeFile(go, '')
    await until('the late attempt is through', () =>
      publicationStepsOf(late).some((step) => step.startsWith('publish ')),
    )
    release()
    await until('both attempts have ended', () => world.summaries().length === 2)
    expect(world.summaries()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ errorCode: 'fences/stale-attempt', delivery: 'superseded' }),
        expect.objectContaining({ status: 'COMPLETED', delivery: 'delivered' }),
      ]),
    )
    expect(publicationStepsOf(late)).toEqual([
      'publish/attempt-fence refused',
      // Its record, and the branch that carries the record: no file of the attempt.
      'publish/keep-evidence done',
      'publish/keep-evidence done',
      'publish refused',
    ])
    const { status, tasks } = await world.ended(workflow)
    expect(status).toBe('COMPLETED')
    expect(publicationStepsOf(tasks[1]?.taskId)).toContain('publish/upload done')
    expect(await publishedOn()).toHaveLength(1)
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
  })
})

describe('two workers', { timeout: TEST_MS }, () => {
  test('F-20 F-22 after a response timeout a second worker runs the retry, and the fence refuses the late attempt', async () => {
    const [begun, go] = [world.at('begun'), world.at('go')]
    const late = await openUnleasedWorker(world)
    onTestFinished(() => late.close())
    const workflow = await world.start('perago_it_brief', { begun, go })
    await until('the body runs', () => textOf(begun) !== undefined)
    await until('the server has timed it out', async () => {
      await world.control.decide(workflow)
      return (await world.control.readWorkflow(workflow))?.tasks[0]?.status === 'TIMED_OUT'
    })
    await world.open({ root: world.at('second') })
    const { status, output, tasks } = await world.ended(workflow)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    const published = await publishedOn()
    expect(published).toHaveLength(1)
    await writeFile(go, '')
    await until('the late attempt has ended', () => world.summaries().length === 2)
    expect(world.summaries()[1]).toMatchObject({
      errorCode: 'fences/stale-attempt',
      delivery: 'superseded',
      action: undefined,
    })
    expect(publicationStepsOf(tasks[0]?.taskId)).toEqual([
      'publish/attempt-fence refused',
      'publish/keep-evidence done',
      'publish/keep-evidence done',
      'publish refused',
    ])
    expect(await publishedOn()).toEqual(published)
    expect(output).toMatchObject({ workspace: { ref: published[0] } })
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
  })

  test('F-58 a second workflow on a branch: perago does not start it, and reports one that others started', async () => {
    const go = world.at('go')
    const { healthUrl } = await world.open({ health: { port: 0 } })
    const begun = [world.at('begun-0'), world.at('begun-1')] as const
    const first = await world.start('perago_it_steady', { begun: begun[0], go })
    await until('the first body runs', () => textOf(begun[0]) !== undefined)

    const conductor = openConductorClient({ endpoint: world.front.url })
    onTestFinished(() => conductor.close())
    const startOn = (branch: string, ref: CommitRef = world.inputRef): Promise<WorkflowId> =>
      startWorkflow(conductor, {
        name: 'perago_it_steady',
        input: {
          workspace: { repository: world.repository, branch, refType: 'commit', ref },
          params: { text: branch },
        },
        taskToDomain: { '*': world.domain },
      })
    await expect(startOn('main')).rejects.toMatchObject({
      code: 'worker/branch-taken',
      message: expect.stringContaining(first) as string,
    })
    await world.repo.createBranch({ branch: branchName('other'), from: world.inputRef })
    expect((await world.ended(await startOn('other'))).status).toBe('COMPLETED')

    const second = await world.start('perago_it_steady', { begun: begun[1], go })
    const shared = (): readonly unknown[] => world.events.filter(({ kind }) => kind === 'branch-shared')
    await until('the second workflow is reported', () => shared().length > 0)
    expect(shared()).toMatchObject([
      { attempt: { workflowId: second }, repository: world.repository, branch: 'main', workflows: [first] },
    ])
    const metrics = await (await fetch(`${healthUrl ?? ''}/metrics`)).text()
    expect(metrics).toContain('perago_worker_branch_shared_total{task="perago_it_steady"} 1')
    const taskId = (await world.control.readWorkflow(second))?.tasks[0]?.taskId
    await until('the log of its task tells it', async () => {
      const logs = taskId === undefined ? [] : await world.control.readLogs(taskId)
      return logs.some((line) => line.includes('may be written by another workflow') && line.includes(first))
    })
    await world.control.terminate(second)
    await writeFile(go, '')
    expect((await world.ended(first)).status).toBe('COMPLETED')
    const [published, ...more] = await publishedOn()
    expect(more).toEqual([])
    // The branch is free again.
    expect((await world.ended(await startOn('main', published))).status).toBe('COMPLETED')
    expect(await publishedOn()).toHaveLength(2)
  })
})

describe('several processes', { timeout: TEST_MS }, () => {
  test('F-48 F-49 the retry of a worker killed after publishing replaces its commit, which stays reachable', async () => {
    let killed: { readonly ref: CommitRef } | undefined
    const first = await startProcess({ root: world.at('first') })
    world.front.interfere = async ({ update }) => {
      if (update.status !== 'COMPLETED' || killed !== undefined) return 'pass'
      process.kill(first.pid, 'SIGKILL')
      killed = { ref: (await publishedOn())[0] ?? world.inputRef }
      return 'lose'
    }
    const workflow = await world.start('perago_it_brief')
    await first.ended
    await until('the first publication is known', () => killed !== undefined)
    expect(killed?.ref).not.toBe(world.inputRef)
    await world.open()
    const { status, output, tasks } = await world.ended(workflow)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    const published = await publishedOn()
    expect(published).toHaveLength(1)
    expect(published).not.toContain(killed?.ref)
    expect(output).toMatchObject({ workspace: { ref: published[0] } })
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
    const kept = killed?.ref ?? world.inputRef
    expect((await logOf(world.repo, branchName(evidenceTag(kept))))[0]?.ref).toBe(kept)
    expect((await filesOf(world.repo, kept))['data/out.txt']).toBe('text by attempt 0')
  })

  test('F-20 WK-41 a stalled worker publishes nothing when it wakes, for another has taken over', async () => {
    const [begun, go] = [world.at('begun'), world.at('go')]
    let healthUrl: string | undefined
    const stalled = await startProcess(
      { root: world.at('stalled') },
      { onOpened: (url) => (healthUrl = url) },
      { health: { port: 0 } },
    )
    const workflow = await world.start('perago_it_brief', { begun, go })
    await until('the body runs', () => textOf(begun) !== undefined)
    process.kill(stalled.pid, 'SIGSTOP')
    await world.open()
    const { status, output, tasks } = await world.ended(workflow)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    const published = await publishedOn()
    await writeFile(go, '')
    process.kill(stalled.pid, 'SIGCONT')
    let ended: string | undefined
    await until('the stalled worker has ended its attempt', async () => {
      const metrics = await (await fetch(`${healthUrl ?? ''}/metrics`)).text()
      ended = /^perago_worker_attempts_total\{.*$/m.exec(metrics)?.[0]
      return ended !== undefined
    })
    expect(ended).toContain('delivery="superseded"')
    expect(await publishedOn()).toEqual(published)
    expect(output).toMatchObject({ workspace: { ref: published[0] } })
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
  })

  test('WK-72 four processes and SIGTERM: what runs is handed back without losing a retry, and no process stays', async () => {
    const { supervisor, pids, workflows } = await superviseFour('perago_it_steady')
    supervisor.kill('SIGTERM')
    expect(await endOf(supervisor)).toEqual([0, null])
    expect(pids.filter(isAlive)).toEqual([])
    for (const { workflow, branch } of workflows) {
      const view = await world.control.readWorkflow(workflow)
      expect(view?.tasks).toMatchObject([{ status: 'SCHEDULED', retryCount: 0 }])
      expect(await publishedOn(branch)).toEqual([])
    }
  })

  test('WK-76 on SIGTERM `perago start -j 4` finishes and publishes what runs and exits with 0; no process stays', async () => {
    const { started, workflows } = await startFour('perago_it_steady')
    started.child.kill('SIGTERM')
    await until('four bodies are told', () =>
      workflows.every((_, index) => textOf(world.at(`stopping-${index}`)) !== undefined),
    )
    const waiting = await world.start('perago_it_steady', {}, { branch: 'branch-0' })
    await writeFile(world.at('go'), '')
    expect(await started.ended).toMatchObject({ code: 0 })
    expect(started.pids.filter(isAlive)).toEqual([])
    for (const { workflow, branch } of workflows) {
      const { status, tasks } = await world.ended(workflow)
      expect([status, tasks.length]).toEqual(['COMPLETED', 1])
      expect(await publishedOn(branch)).toHaveLength(1)
    }
    expect((await world.control.readWorkflow(waiting))?.tasks).toMatchObject([
      { status: 'SCHEDULED', retryCount: 0 },
    ])
  })

  test('WK-77 WK-115 after SIGKILL of `perago start -j 4` no worker stays, and the next start ends the work', async () => {
    const { command, started, workflows } = await startFour('perago_it_brief')
    started.child.kill('SIGKILL')
    await started.ended
    await writeFile(world.at('go'), '')
    await until('the workers are gone', () => !started.pids.some(isAlive))
    for (const { branch } of workflows) expect(await publishedOn(branch)).toEqual([])
    const next = await command.start(4)
    for (const { workflow, branch } of workflows) {
      expect((await world.ended(workflow)).status).toBe('COMPLETED')
      expect(await publishedOn(branch)).toHaveLength(1)
    }
    next.child.kill('SIGTERM')
    expect(await next.ended).toMatchObject({ code: 0 })
    expect(next.pids.filter(isAlive)).toEqual([])
  })
})

interface OnBranch {
  readonly workflow: WorkflowId
  readonly branch: typeof MAIN
}

/** `perago start -j 4`, each process in the middle of a body. */
async function startFour(task: string): Promise<{
  readonly command: CommandWorld
  readonly started: StartedWorkers
  readonly workflows: OnBranch[]
}> {
  const command = await openCommandWorld(world)
  onTestFinished(() => command.close())
  const started = await command.start(4)
  return { command, started, workflows: await beginFour(task) }
}

/** A supervisor of four, each in the middle of a body; its deadline is short. */
async function superviseFour(task: string): Promise<{
  readonly supervisor: ChildProcess
  readonly pids: readonly number[]
  readonly workflows: OnBranch[]
}> {
  const supervised = await startSupervisor()
  return { ...supervised, workflows: await beginFour(task) }
}

async function beginFour(task: string): Promise<OnBranch[]> {
  const workflows = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const branch = branchName(`branch-${index}`)
      await world.repo.createBranch({ branch, from: world.inputRef })
      const params = {
        begun: world.at(`begun-${index}`),
        stopping: world.at(`stopping-${index}`),
        go: world.at('go'),
      }
      return { workflow: await world.start(task, params, { branch }), branch }
    }),
  )
  await until('four bodies run', () =>
    workflows.every((_, index) => textOf(world.at(`begun-${index}`)) !== undefined),
  )
  return workflows
}

async function startSupervisor(): Promise<{ supervisor: ChildProcess; pids: readonly number[] }> {
  const orderPath = world.at('order.json')
  await writeFile(orderPath, JSON.stringify(world.orderOf()))
  const program = fileURLToPath(new URL('../support/worker-conductor/supervisor.mjs', import.meta.url))
  const dist = new URL('../../dist', import.meta.url).href
  const supervisor = spawn(process.execPath, [program, orderPath, dist, '4'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void supervisor.kill('SIGKILL'))
  let said = ''
  supervisor.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until('the supervisor is ready', () => {
    if (supervisor.exitCode !== null) throw new Error(`the supervisor ended with ${supervisor.exitCode}`)
    return said.includes('\n')
  })
  return { supervisor, pids: said.trim().split(' ').slice(1).map(Number) }
}

async function endOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return [child.exitCode, child.signalCode]
}
