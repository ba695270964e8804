// Goal: in the polling loop of Conductor's JavaScript SDK a task keeps every promise of a worker of ours.
// Method: both of its versions against a real Conductor, through fronts that can hold, lose or refuse one request; the same
// tasks as for our own workers. `npm run build` comes first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { CommitRef } from '../../src/base/ids.ts'
import { logOf, stagingBranchesOf, filesOf } from '../support/publication-world.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { openConductorFront } from '../support/worker-conductor/front.ts'
import { SDKS, settingsOf, startSdkLoop, type SdkLoop } from '../support/worker-conductor/sdk-loop.ts'
import {
  MAIN,
  TASKS_PATH,
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
let conductorUrl: string
const loops: SdkLoop[] = []

beforeAll(async () => {
  lakefs = await openWorkerLakefs()
})
afterAll(() => lakefs.close())
beforeEach(async (context) => {
  const { url } = conductor(context)
  if (conductorUrl !== url) await registerTasks(url)
  conductorUrl = url
  world = await openWorkerWorld(url, lakefs)
}, TEST_MS)
afterEach(async () => {
  await Promise.all(loops.splice(0).map((loop) => loop.close()))
  await world.close()
}, TEST_MS)

/** The commits of the branch, newest first, down to the input's. */
async function published(): Promise<
  readonly { readonly ref: CommitRef; readonly run: string | undefined }[]
> {
  const commits = await logOf(world.repo, MAIN)
  const input = commits.findIndex(({ ref }) => ref === world.inputRef)
  if (input < 0) throw new Error('the branch has lost its input')
  return commits.slice(0, input).map(({ ref, metadata }) => ({ ref, run: metadata['publish.run'] }))
}

async function start(
  sdk: (typeof SDKS)[number],
  options?: Parameters<typeof startSdkLoop>[2],
): Promise<SdkLoop> {
  const loop = await startSdkLoop(world, sdk, options)
  loops.push(loop)
  return loop
}

/** A front of their loop's own: what fails here fails for them alone. */
async function openTheirFront(): Promise<Awaited<ReturnType<typeof openConductorFront>>> {
  const front = await openConductorFront(conductorUrl)
  onTestFinished(() => front.close())
  return front
}

describe.each(SDKS)('the loop of version $version', { timeout: TEST_MS }, (sdk) => {
  test('IO-60 WK-301 runs tasks one after the other: a commit each, by an execution of its own; nothing is left', async () => {
    const chain = 'perago_it_sdk_chain'
    await world.control.registerWorkflow({
      name: chain,
      tasks: [
        stepOf('perago_it_guarded', 'first'),
        stepOf('perago_it_steady', 'second', { after: 'first', params: 'then' }),
      ],
    })
    const { perago } = await start(sdk)
    const workflow = await world.start(
      chain,
      { text: 'one' },
      { input: { then: { file: 'two.txt', text: 'two' } } },
    )
    const { status, output, tasks } = await world.ended(workflow)
    expect([status, tasks.length]).toEqual(['COMPLETED', 2])
    const [second, first, ...more] = await published()
    expect(more).toEqual([])
    expect(second?.run).not.toBe(first?.run)
    expect(output).toMatchObject({ workspace: { ref: second?.ref }, result: { filler: '' } })
    expect(await filesOf(world.repo)).toMatchObject({
      'data/out.txt': 'one by attempt 0',
      'data/two.txt': 'two by attempt 0',
    })
    expect(perago.health()).toEqual({ ok: true, problems: [] })
    await until(
      'staging branches are removed',
      async () => (await stagingBranchesOf(world.repo)).length === 0,
    )
  })

  test('IO-61 what the loop posts after our result is a renewal, also when it comes late to a task run again', async () => {
    const theirs = await openTheirFront()
    const posted: unknown[] = []
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    theirs.interfere = async ({ update }) => {
      if (update.taskId === undefined) return 'pass' as const
      posted.push([update.status, update.extendLease])
      await released
      return 'pass' as const
    }
    const loop = await start(sdk, { url: theirs.url })
    const [begun, go] = [world.at('begun'), world.at('go')]
    const workflow = await world.start('perago_it_steady', {})
    await until('they post', () => posted.length > 0)
    expect(posted).toEqual([['COMPLETED', true]])
    const before = await world.ended(workflow)
    expect(before.status).toBe('COMPLETED')
    const taskId = before.tasks[0]?.taskId
    await world.control.rerun(workflow, {
      fromTaskId: taskId!,
      taskInput: { ...before.tasks[0]?.input, params: { begun, go, text: 'again' } },
    })
    await until('the task runs again', () => textOf(begun) !== undefined)
    release()
    await until('the post is answered', () => loop.updates > 0)
    expect((await world.control.readWorkflow(workflow))?.tasks).toMatchObject([
      { status: 'IN_PROGRESS', pollCount: 1 },
    ])
    await writeFile(go, '')
    const { status, tasks } = await world.ended(workflow)
    expect([status, tasks.map((task) => task.taskId)]).toEqual(['COMPLETED', [taskId]])
    expect(tasks[0]?.output).not.toEqual(before.tasks[0]?.output)
  })

  test('IO-62 a process killed between publication and result: the next delivers it, once, and nothing runs again', async () => {
    const counted: unknown[] = []
    const first = startProcess(sdk)
    let isKilled = false
    world.front.interfere = async ({ update: { status, extendLease } }) => {
      if (status !== 'COMPLETED') return 'pass'
      if (!isKilled) {
        isKilled = true
        first.kill('SIGKILL')
        await once(first, 'exit')
        return 'lose'
      }
      if (extendLease !== true) counted.push(status)
      return 'pass'
    }
    const runs = world.at('runs')
    const workflow = await world.start('perago_it_steady', { runs })
    await until('the first process is killed', () => isKilled && first.signalCode !== null)
    const [commit] = await published()
    expect(commit).toBeDefined()
    startProcess(sdk)
    const { status, output, tasks } = await world.ended(workflow)
    expect([status, tasks.length, counted]).toEqual(['COMPLETED', 1, ['COMPLETED']])
    expect(output).toMatchObject({ workspace: { ref: commit?.ref } })
    expect(textOf(runs)?.trim().split('\n')).toHaveLength(1)
    expect(await published()).toHaveLength(1)
  })

  test('IO-63 a lost lease aborts the body: nothing is published, and the loop takes the next task', async () => {
    const [begun, go, aborted] = [world.at('begun'), world.at('go'), world.at('aborted')]
    await start(sdk)
    const workflow = await world.start('perago_it_brief', { begun, go, aborted })
    await until('the body runs', () => textOf(begun) !== undefined)
    await world.control.terminate(workflow)
    await until('the body is aborted', () => textOf(aborted) !== undefined)
    expect(textOf(aborted)).toBe('fences/stale-attempt')
    for (const text of ['one', 'two']) {
      const ref = (await published())[0]?.ref ?? world.inputRef
      const input = { workspace: { repository: world.repository, branch: 'main', refType: 'commit', ref } }
      const next = await world.ended(await world.start('perago_it_brief', { text }, { input }))
      expect(next.status).toBe('COMPLETED')
    }
    expect((await published()).length).toBe(2)
    await until('nothing is left', async () => (await stagingBranchesOf(world.repo)).length === 0)
  })

  test('IO-64 every update of the loop is answered 500: the result arrives all the same', async () => {
    const theirs = await openTheirFront()
    let refused = 0
    theirs.interfere = ({ update }) => {
      if (update.taskId === undefined) return 'pass'
      refused++
      return 500
    }
    await start(sdk, { url: theirs.url })
    const { status, tasks } = await world.ended(await world.start('perago_it_steady'))
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    await until('the loop has tried', () => refused > 0)
    expect(await published()).toHaveLength(1)
  })

  test('IO-64 Conductor takes no result for a time: the loop waits, and the outbox sends until it counts', async () => {
    const theirs = await openTheirFront()
    let posts = 0
    let theirPosts = 0
    world.front.interfere = ({ update }) => (update.status === 'COMPLETED' && ++posts <= 8 ? 500 : 'pass')
    theirs.interfere = ({ update }) => {
      if (update.taskId !== undefined) theirPosts = posts
      return 'pass'
    }
    await start(sdk, { url: theirs.url })
    const { status, tasks } = await world.ended(await world.start('perago_it_steady'))
    expect([status, tasks.length]).toEqual(['COMPLETED', 1])
    await until('the loop posts', () => theirPosts > 0)
    expect(theirPosts).toBeGreaterThan(8)
    expect(await published()).toHaveLength(1)
  })

  test('IO-65 an attempt that Conductor gave to another, under the same worker name, publishes nothing', async () => {
    const [begun, go] = [world.at('begun'), world.at('go')]
    let renewals = 0
    let taskPath = ''
    let isHeld = false
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    world.front.interfere = async ({ method, path, update }) => {
      if (update.status === 'IN_PROGRESS') renewals++
      // The renewal's reading hangs, so that only the fence can find out.
      if (method === 'GET' && path === taskPath && !isHeld) {
        isHeld = true
        await released
      }
      return 'pass' as const
    }
    await start(sdk)
    const workflow = await world.start('perago_it_limited', { begun, go })
    await until('the body runs', () => textOf(begun) !== undefined)
    await until('the lease was renewed', () => renewals >= 3)
    taskPath = `/api/tasks/${(await world.control.readWorkflow(workflow))?.tasks[0]?.taskId ?? '?'}`
    await until('the attempt is timed out, unnoticed', async () => {
      await world.control.decide(workflow)
      const view = await world.control.readWorkflow(workflow)
      return isHeld && view?.tasks[0]?.status === 'TIMED_OUT'
    })
    await writeFile(go, '')
    const { status, tasks } = await world.ended(workflow)
    release()
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    expect(await published()).toHaveLength(1)
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
  })

  test('IO-66 a stop hands back what runs at the deadline, and the loop posts nothing of it', async () => {
    const theirs = await openTheirFront()
    const posted: unknown[] = []
    theirs.interfere = ({ update }) => {
      if (update.taskId !== undefined) posted.push(update)
      return 'pass'
    }
    const [begun, go, stopping] = [world.at('begun'), world.at('go'), world.at('stopping')]
    const loop = await start(sdk, { url: theirs.url })
    const workflow = await world.start('perago_it_steady', { begun, go, stopping })
    await until('the body runs', () => textOf(begun) !== undefined)
    await loop.stopPolling()
    await loop.perago.stop({ deadlineMs: 0 })
    await loop.perago.closed
    expect(textOf(stopping)).toBe('told')
    const view = await world.control.readWorkflow(workflow)
    expect(view?.tasks).toMatchObject([{ status: 'SCHEDULED', retryCount: 0 }])
    expect([posted, await published()]).toEqual([[], []])
    await writeFile(go, '')
    await start(sdk)
    expect((await world.ended(workflow)).tasks).toMatchObject([{ status: 'COMPLETED', retryCount: 0 }])
  })
})

function startProcess({ path }: (typeof SDKS)[number]): ReturnType<typeof spawn> {
  const program = fileURLToPath(new URL('../support/worker-conductor/sdk-process.mjs', import.meta.url))
  const { root, domain } = world
  const order = { sdkPath: path, tasks: TASKS_PATH, settings: settingsOf(world), root, domain }
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return child
}
