// Goal: what a worker promises holds with the embedded engine behind it, also where the engine is killed.
// Method: worker, workspace and publication as they are; an engine over SQLite in its own process, which serves Conductor's API; a
// lakeFS, embedded or real. Each test has a domain, a repository and a root of its own. `npm run build` comes first.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { branchName, type BranchName, type CommitRef } from '../../src/base/ids.ts'
import type { Graph, TaskUnit } from '../../src/engine/graph/graph.ts'
import { spawnWorker } from '../../src/runtime/processes/worker-processes.ts'
import { filesOf, logOf, stagingBranchesOf } from '../support/publication-world.ts'
import { findFreePort } from '../support/servers/process.ts'
import { openUnleasedWorker } from '../support/worker-conductor/unleased-worker.ts'
import {
  MAIN,
  openWorkerLakefs,
  openWorkerWorld,
  registerTasks,
  textOf,
  until,
  type WorkerLakefs,
  type WorkerWorld,
} from '../support/worker-conductor/world.ts'

const TEST_MS = 60_000
const HOST = fileURLToPath(new URL('../support/engine/served-host.mjs', import.meta.url))
const SIDES = ['left', 'right'] as const
const directory = mkdtempSync(join(tmpdir(), 'perago-worker-engine-'))

/** One unit on `main`, then one on each of two branches; each reads the parameters that are named after it. */
const graph: Graph = {
  name: 'perago_it_sides',
  version: 1,
  units: [
    unitOf('prepare', [], 'workflow.input.workspace'),
    ...SIDES.map((side) => unitOf(side, ['prepare'], `workflow.input.on_${side}`)),
  ],
  inputTemplate: {},
  outputParameters: undefined,
  restartable: true,
  timeoutSeconds: 0,
  timeoutPolicy: 'ALERT_ONLY',
}

function unitOf(taskReferenceName: string, after: readonly string[], workspace: string): TaskUnit {
  return {
    ...{ type: 'SIMPLE', name: 'perago_it_steady', taskReferenceName, after },
    inputParameters: { workspace: `\${${workspace}}`, params: `\${workflow.input.${taskReferenceName}}` },
  }
}

let port: number
let engine: ChildProcess
let url: string
let lakefs: WorkerLakefs
let world: WorkerWorld

beforeAll(async () => {
  port = await findFreePort()
  await startEngine()
  await registerTasks(url)
  lakefs = await openWorkerLakefs()
}, TEST_MS)
afterAll(async () => {
  await killEngine()
  await lakefs.close()
  rmSync(directory, { recursive: true })
})
beforeEach(async () => {
  world = await openWorkerWorld(url, lakefs)
})
afterEach(() => world.close(), TEST_MS)

async function startEngine(): Promise<void> {
  const order = { file: join(directory, 'engine.db'), port, graphs: [graph] }
  engine = spawn(process.execPath, [HOST, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] })
  process.once('exit', () => void engine.kill('SIGKILL'))
  const ended = once(engine, 'close').then(() => Promise.reject(new Error('the engine did not start')))
  // It ends later too, by the test.
  ended.catch(() => undefined)
  const [line] = (await Promise.race([once(engine.stdout!, 'data'), ended])) as [Buffer]
  ;({ url } = JSON.parse(line.toString()) as { readonly url: string })
}

async function killEngine(): Promise<void> {
  const ended = once(engine, 'close')
  engine.kill('SIGKILL')
  await ended
}

async function startSides(params: (unit: string) => Readonly<Record<string, string>>): Promise<string> {
  for (const branch of SIDES)
    await world.repo.createBranch({ branch: branchName(branch), from: world.inputRef })
  const { repository, inputRef: ref } = world
  const on = (branch: string): object => ({ repository, branch, refType: 'commit', ref })
  const input = {
    ...Object.fromEntries(SIDES.map((side) => [`on_${side}`, on(side)])),
    ...Object.fromEntries(['prepare', ...SIDES].map((unit) => [unit, { text: unit, ...params(unit) }])),
  }
  return world.start(graph.name, {}, { input: input as never })
}

/** The commits of a branch, newest first, down to the input's. */
async function publishedOn(branch: BranchName = MAIN): Promise<CommitRef[]> {
  const refs = (await logOf(world.repo, branch)).map(({ ref }) => ref)
  const input = refs.indexOf(world.inputRef)
  if (input < 0) throw new Error('the branch has lost its input')
  return refs.slice(0, input)
}

async function requireOneCommitEach(workflow: string): Promise<void> {
  const { status, tasks } = await world.ended(workflow as never)
  const ended = tasks.filter((task) => task.status === 'COMPLETED')
  expect([status, ended.map(({ referenceTaskName }) => referenceTaskName).sort()]).toEqual([
    'COMPLETED',
    ['left', 'prepare', 'right'],
  ])
  for (const [branch, unit] of [['main', 'prepare'], ...SIDES.map((side) => [side, side])] as const) {
    const published = await publishedOn(branchName(branch))
    expect(published, branch).toHaveLength(1)
    const task = ended.find(({ referenceTaskName }) => referenceTaskName === unit)
    expect(task?.output).toMatchObject({ workspace: { branch, ref: published[0] } })
    expect((await filesOf(world.repo, branchName(branch)))['data/out.txt']).toBe(
      `${unit} by attempt ${task?.retryCount}`,
    )
  }
}

describe('a worker on the embedded engine', { timeout: TEST_MS }, () => {
  test('EN-851 X-01 a unit and two after it, at once and on branches of their own: each publishes one commit', async () => {
    const [begun, go] = [(unit: string) => world.at(`begun-${unit}`), world.at('go')]
    await world.open({ slots: 2 })
    const workflow = await startSides((unit) => (unit === 'prepare' ? {} : { begun: begun(unit), go }))
    // Neither ends before both have begun.
    await until('both sides run', () => SIDES.every((side) => textOf(begun(side)) !== undefined))
    await writeFile(go, '')
    await requireOneCommitEach(workflow)
    expect(world.summaries()).toHaveLength(3)
    await until(
      'staging branches are removed',
      async () => (await stagingBranchesOf(world.repo)).length === 0,
    )
  })

  test('EN-851 F-20 an attempt that ran out of time and goes on is fenced out: only its retry publishes', async () => {
    const [begun, go] = [world.at('begun'), world.at('go')]
    const late = await openUnleasedWorker(world)
    onTestFinished(() => late.close())
    const workflow = await world.start('perago_it_quick', { begun, go })
    await until('the body runs', () => textOf(begun) !== undefined)
    await until('the engine has timed it out', async () => {
      return (await world.control.readWorkflow(workflow))?.tasks[0]?.status === 'TIMED_OUT'
    })
    await world.open({ root: world.at('second') })
    const { status, tasks } = await world.ended(workflow)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    const published = await publishedOn()
    expect(published).toHaveLength(1)
    await writeFile(go, '')
    await until('the late attempt has ended', () => world.summaries().length === 2)
    expect(world.summaries()[1]).toMatchObject({ errorCode: 'fences/stale-attempt', action: undefined })
    expect(await publishedOn()).toEqual(published)
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
  })

  test('EN-851 F-48 what a worker published before it was killed is replaced by its retry', async () => {
    const order = world.orderOf({ root: world.at('first') })
    const first = spawnWorker(order)
    onTestFinished(async () => {
      first.kill()
      await first.ended
    })
    await first.ready
    let abandoned: CommitRef | undefined
    world.front.interfere = async ({ update }) => {
      if (update.status !== 'COMPLETED' || abandoned !== undefined) return 'pass'
      first.kill()
      abandoned = (await publishedOn())[0]
      return 'lose'
    }
    const workflow = await world.start('perago_it_quick')
    await first.ended
    await until('the first publication is known', () => abandoned !== undefined)
    await world.open()
    const { status, output, tasks } = await world.ended(workflow)
    expect([status, tasks.map((task) => task.status)]).toEqual(['COMPLETED', ['TIMED_OUT', 'COMPLETED']])
    const [published, ...more] = await publishedOn()
    expect(more).toEqual([])
    expect(published).not.toBe(abandoned)
    expect(output).toMatchObject({ workspace: { ref: published } })
    expect((await filesOf(world.repo))['data/out.txt']).toBe('text by attempt 1')
  })

  const moments: readonly [string, (request: { method: string; path: string; update: object }) => boolean][] =
    [
      ['before a completion reaches it', ({ update }) => 'status' in update && update.status === 'COMPLETED'],
      ['between a completion and the next unit', ({ path }) => path.includes('/poll/') && isPrepared()],
    ]
  const isPrepared = (): boolean => world.summaries().some(({ delivery }) => delivery === 'delivered')

  test.each(moments)(
    'EN-852 the engine is killed %s: the worker goes on, each unit publishes one commit',
    async (_, isMoment) => {
      let [kills, isBack] = [0, false]
      world.front.interfere = async (request) => {
        if (kills > 0 || !isMoment(request)) return 'pass'
        kills += 1
        await killEngine()
        await startEngine()
        isBack = true
        return 'lose'
      }
      await world.open({ slots: 2 })
      const workflow = await startSides(() => ({}))
      await until('the engine was killed and is back', () => isBack)
      await requireOneCommitEach(workflow)
    },
  )
})
