// Goal: whenever worker processes and their supervisors are killed, all workflows end, exact, and nothing is left for ever.
// Method: tasks in chains, on the in-process queue and on a real Conductor; SIGKILL at random moments, to one worker process or to the supervisor, and now and
// then a workflow is terminated. PERAGO_TEST_KILLS=50 kills more often. `npm run build` comes first.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { branchName, type BranchName } from '../../src/base/ids.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { openTestQueue, type TestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { useRealServer } from '../support/servers/servers.ts'
import {
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  stepOf,
  TASKS_PATH,
  until,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'
import { serveTestQueue } from '../support/worker/conductor-http.ts'

const KILLS = Number(process.env['PERAGO_TEST_KILLS'] ?? 6)
const WORKFLOWS = Math.max(8, Math.ceil(KILLS * 0.6))
const STEPS = ['a', 'b', 'c', 'd']
const TASK = 'perago_it_steady'
const PAUSE_MS = 1_500
const LOG_SHOWN = 4_000
const conductor = useRealServer('conductor')

interface Queue {
  readonly url: string
  readonly control?: TestQueue
}

const TEST_MS = 120_000 + KILLS * 20_000

test(
  'WK-267 killed workers and supervisors leave no staging branch for ever, every workflow ends exact',
  async () => {
    await killThem(await inProcessQueue())
  },
  TEST_MS,
)

test(
  'WK-267 killed workers and supervisors leave nothing for ever on Conductor, every workflow ends exact',
  async (context) => {
    const { url } = conductor(context)
    await registerTasks(url)
    await killThem({ url })
  },
  TEST_MS,
)

async function killThem({ url, control }: Queue): Promise<void> {
  const lakefs = await openWorkerLakefs()
  onTestFinished(() => lakefs.close())
  const world = await openWorkerWorld(url, lakefs, control)
  onTestFinished(() => world.close())
  const steps = STEPS.map((name, index) => {
    const before = STEPS[index - 1]
    return stepOf(TASK, name, { params: name, ...(before === undefined ? {} : { after: before }) })
  })
  await world.control.registerWorkflow({ name: 'perago_it_chain_of_four', tasks: steps })
  const order = world.orderOf({ slots: 2 })
  const stagingTimes = { intervalMs: 2_000, endedAgeMs: 1_000, unknownAgeMs: 86_400_000 }
  await writeFile(
    world.at('order.json'),
    JSON.stringify({
      ...{ ...order, log: { ...order.log, level: 'info' } },
      options: { ...order.options, stagingTimes },
    }),
  )

  let supervisor = startSupervisor(world)
  onTestFinished(() => void supervisor.kill('SIGKILL'))
  const workflows = await Promise.all(
    Array.from({ length: WORKFLOWS }, async (_, index) => {
      const branch = branchName(`branch-${index}`)
      await world.repo.createBranch({ branch, from: world.inputRef })
      // Each step writes a file of its own, so each makes a commit.
      const input = Object.fromEntries(STEPS.map((name) => [name, { file: name, text: String(index) }]))
      return { branch, id: await world.start('perago_it_chain_of_four', {}, { branch, input }) }
    }),
  )
  const terminated = new Set<string>()
  let left = 0
  for (let kill = 1; kill <= KILLS; kill++) {
    await wait(PAUSE_MS * (0.5 + Math.random()))
    const workers = childrenOf(supervisor.pid ?? 0)
    const victim = kill % 4 === 0 ? undefined : workers[Math.floor(Math.random() * workers.length)]
    if (victim === undefined) {
      supervisor.kill('SIGKILL')
      await once(supervisor, 'exit')
      await until('its workers are gone', () => !workers.some((pid) => parentOf(pid) !== undefined))
      supervisor = startSupervisor(world)
    } else process.kill(victim, 'SIGKILL')
    left = Math.max(left, (await stagingBranchesOf(world.repo)).length)
    const view = kill % 5 === 0 && (await world.control.readWorkflow(workflows[kill % WORKFLOWS]!.id))
    if (view !== false && view?.status === 'RUNNING') {
      terminated.add(workflows[kill % WORKFLOWS]!.id)
      await world.control.terminate(workflows[kill % WORKFLOWS]!.id)
    }
  }
  for (const { id, branch } of workflows) {
    const { status } = await world.ended(id)
    expect(status).toBe(terminated.has(id) ? 'TERMINATED' : 'COMPLETED')
    const refs = (await logOf(world.repo, branch)).map(({ ref }) => ref)
    const published = refs.indexOf(world.inputRef)
    if (status === 'COMPLETED') expect(published).toBe(STEPS.length)
    else expect(published).toBeLessThanOrEqual(STEPS.length)
  }
  const whatIsLeft = async (): Promise<unknown[]> => {
    const branches = await stagingBranchesOf(world.repo)
    return Promise.all(branches.map((branch) => tellOf(branch, world)))
  }
  await expect.poll(whatIsLeft, { timeout: 60_000, interval: 200 }).toEqual([])
  process.stderr.write(
    `${KILLS} kills, ${WORKFLOWS} workflows, ${terminated.size} terminated; at most ${left} staging branches at once, none left\n`,
  )
  supervisor.kill('SIGTERM')
  await once(supervisor, 'exit')
}

/** What decides whether a staging branch is removed. */
async function tellOf(branch: BranchName, world: WorkerWorld): Promise<unknown> {
  const { repo, control } = world
  const head = await repo.readBranch(branch)
  const commit = head && (await repo.readCommit(head.head))
  const [workflowId = ''] = /(?<=perago-staging-)[0-9a-f-]{36}/.exec(branch) ?? []
  const workflow = await control.readWorkflow(workflowId as WorkflowId).catch(String)
  const log = await readFile(world.at('log'), 'utf8')
  return { branch, commit, workflow, log: log.slice(-LOG_SHOWN) }
}

async function inProcessQueue(): Promise<{ readonly url: string; readonly control: TestQueue }> {
  const control = openTestQueue()
  const defs: Record<string, object> = {}
  for (const task of await loadTasks(TASKS_PATH)) {
    const { name, responseTimeoutSeconds = 60 } = (defs[task.name] = declaredTaskDef(task))
    const retries = { retryCount: 3, retryDelaySeconds: 0, timeoutPolicy: 'RETRY' } as const
    await control.registerTask({ name, responseTimeoutSeconds, ...retries })
  }
  const served = await serveTestQueue(control, defs)
  onTestFinished(() => served.close())
  return { url: served.url.replace(/\/api$/, ''), control }
}

function startSupervisor(world: WorkerWorld): ChildProcess {
  const program = fileURLToPath(new URL('../support/worker-conductor/supervisor.mjs', import.meta.url))
  const dist = new URL('../../dist', import.meta.url).href
  const order = world.at('order.json')
  const log = openSync(world.at('log'), 'a')
  try {
    return spawn(process.execPath, [program, order, dist, '3'], { stdio: ['ignore', log, log] })
  } finally {
    closeSync(log)
  }
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return state === 'Z' ? undefined : Number(parent)
  } catch {
    return undefined
  }
}
