// Goal: what killed workers staged is removed, and nothing that may still be at work, is evidence, or is not known to be over.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stagingBranchesOf } from '../../../test/support/publication-world.ts'
import { keepingLogger, MAIN, recordOf } from '../../../test/support/worker/world.ts'
import { MissingError, UnavailableError } from '../../base/errors.ts'
import { branchName, repositoryName, type BranchName } from '../../base/ids.ts'
import type { TaskStatus, WorkflowStatus } from '../../fences/attempt-snapshot.ts'
import { stagingBranchName, type StagingIdentity } from '../../publication/staging-name.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import type { WorkerEvent } from '../events.ts'
import { STAGING_ENDED_AGE_MS, STAGING_LOOK_INTERVAL_MS, STAGING_UNKNOWN_AGE_MS } from '../limits.ts'
import { StagingCollector, type StagingTimes } from './staging-collector.ts'

const uuid = (digit: number): string => `0000000${digit}-0000-4000-8000-000000000000`
const MINUTES: StagingTimes = {
  intervalMs: STAGING_LOOK_INTERVAL_MS,
  endedAgeMs: STAGING_ENDED_AGE_MS,
  unknownAgeMs: STAGING_UNKNOWN_AGE_MS,
}
/** Fewer looks, for what takes days. */
const HOURS: StagingTimes = { ...MINUTES, intervalMs: 14_400_000 }
const LAKE = repositoryName('lake')

async function openWorld(times: StagingTimes = MINUTES) {
  const directory = await mkdtemp(join(tmpdir(), 'perago-staging-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const clock = new ManualClock()
  const world = new ScriptedRepo({ now: () => clock.now() })
  const repo = world.connect('worker')
  const input = world.commitDirectly(MAIN, { a: '1' }, 'Input')
  const tasks = new Map<string, TaskStatus>()
  const state: { workflow: WorkflowStatus; failure: Error | undefined } = {
    workflow: 'RUNNING',
    failure: undefined,
  }
  const events: WorkerEvent[] = []
  const { logger, lines } = keepingLogger()
  const stop = new AbortController()
  const readTask = (taskId: string) => {
    if (state.failure !== undefined) return Promise.reject(state.failure)
    const status = tasks.get(taskId)
    return Promise.resolve(status && recordOf({ taskId: taskId as never, status }))
  }
  const collector = (): StagingCollector =>
    new StagingCollector({
      root: { directory },
      queue: { readTask, readWorkflowStatus: () => Promise.resolve(state.workflow) },
      openRepo: () => repo,
      clock,
      logger,
      observe: (event) => events.push(event),
      stagingTimes: times,
    })
  const begin = (): Promise<void> => {
    const noting = collector()
    noting.note(LAKE)
    return noting.run(stop.signal)
  }
  const stage = async (
    identity: Partial<StagingIdentity>,
    commit?: Readonly<Record<string, string>>,
  ): Promise<BranchName> => {
    const branch = stagingBranchName({ ...recordOf(), executionId: 'e', ...identity })
    await repo.createBranch({ branch, from: input })
    if (commit !== undefined)
      await repo.commit({ branch, message: 'Staged', metadata: commit, allowEmpty: true })
    return branch
  }
  /** Tick by tick, because the clock does not know that the collector also waits for its file. */
  const pass = async (durationMs: number): Promise<void> => {
    await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(1)
    for (let leftMs = durationMs; leftMs > 0; leftMs -= times.intervalMs / 10) {
      await clock.advance(Math.min(leftMs, times.intervalMs / 10))
      await expect.poll(() => clock.sleeping, { interval: 1, timeout: 10_000 }).toBe(1)
    }
  }
  return { directory, world, repo, tasks, state, events, lines, collector, begin, stage, stop, pass, clock }
}

test('WK-267 what an ended task, or one of an ended workflow, has staged is removed once it was seen for some time', async () => {
  const { begin, stage, tasks, repo, events, pass, stop } = await openWorld()
  for (const [index, status] of (['FAILED', 'COMPLETED', 'TIMED_OUT', 'CANCELED'] as const).entries()) {
    tasks.set(uuid(index), status)
    await stage({ taskId: uuid(index) })
  }
  const running = begin()
  await pass(STAGING_ENDED_AGE_MS - 1)
  expect(await stagingBranchesOf(repo)).toHaveLength(4)
  await pass(2 * STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([])
  expect(events).toContainEqual({ kind: 'staging-looked', repository: 'lake', removed: 4, kept: 0 })
  stop.abort()
  await running
})

test('WK-268 what an open task has staged, evidence, and what a name does not tell stay', async () => {
  const { begin, stage, tasks, repo, pass, stop } = await openWorld(HOURS)
  tasks.set(uuid(1), 'IN_PROGRESS')
  tasks.set(uuid(2), 'SCHEDULED')
  tasks.set(uuid(3), 'FAILED')
  tasks.set('task-7', 'FAILED')
  const kept = [
    await stage({ taskId: uuid(1) }),
    await stage({ taskId: uuid(2) }),
    await stage({ taskId: uuid(3) }, { 'publish.evidence': '{}' }),
    // Of another task of the same id, and of an id that was rewritten for the name.
    await stage({ taskId: uuid(3), referenceTaskName: 'other' }),
    await stage({ taskId: 'task/8' }),
  ]
  await repo.createBranch({
    branch: branchName('perago-staging-mine'),
    from: (await repo.readBranch(MAIN))!.head,
  })
  const running = begin()
  await pass(STAGING_UNKNOWN_AGE_MS + 3 * HOURS.intervalMs)
  expect((await stagingBranchesOf(repo)).toSorted()).toEqual([...kept, 'perago-staging-mine'].toSorted())
  stop.abort()
  await running
})

test('WK-267 an open task in a workflow that has ended counts as ended', async () => {
  const { begin, stage, tasks, state, repo, pass, stop } = await openWorld()
  tasks.set(uuid(1), 'IN_PROGRESS')
  state.workflow = 'TERMINATED'
  await stage({ taskId: uuid(1) })
  const running = begin()
  await pass(3 * STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([])
  stop.abort()
  await running
})

test('WK-269 without an attempt that Conductor knows, a branch stays for a day', async () => {
  const { begin, stage, repo, pass, stop } = await openWorld(HOURS)
  const input = (await repo.readBranch(MAIN))!.head
  const actor = branchName('perago-actor-operator-orders-exec-e1')
  await stage({ taskId: uuid(1) })
  await repo.createBranch({ branch: actor, from: input })
  const running = begin()
  await pass(STAGING_UNKNOWN_AGE_MS - HOURS.intervalMs)
  expect(await stagingBranchesOf(repo)).toHaveLength(2)
  await pass(2 * HOURS.intervalMs)
  expect(await stagingBranchesOf(repo)).toEqual([])
  stop.abort()
  await running
})

test('WK-269 its own commit tells the age of a branch, another commit does not', async () => {
  const { begin, stage, repo, pass, stop, clock } = await openWorld()
  await stage({ taskId: uuid(1), executionId: 'w/1' }, { 'publish.run': 'w/1' })
  const other = await stage({ taskId: uuid(2), executionId: 'w/2' }, { 'publish.run': 'w/3' })
  await clock.advance(STAGING_UNKNOWN_AGE_MS)
  const running = begin()
  await pass(3 * STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([other])
  stop.abort()
  await running
})

test('WK-268 a branch that moves is seen anew', async () => {
  const { begin, stage, tasks, repo, pass, stop } = await openWorld()
  tasks.set(uuid(1), 'FAILED')
  const branch = await stage({ taskId: uuid(1) })
  const running = begin()
  await pass(1_000)
  await repo.commit({ branch, message: 'More', allowEmpty: true })
  await pass(STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([branch])
  await pass(2 * STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([])
  stop.abort()
  await running
})

test('WK-268 while Conductor is away nothing is removed; it is looked again later, and a restart forgets nothing', async () => {
  const { directory, begin, stage, tasks, repo, state, lines, pass, stop } = await openWorld()
  tasks.set(uuid(1), 'FAILED')
  const branch = await stage({ taskId: uuid(1) })
  const first = begin()
  await pass(1_000)
  state.failure = new UnavailableError('testing/away', 'away')
  await pass(3 * STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([branch])
  expect(lines).toContain('could not look for staging branches left behind')
  expect(await readdir(join(directory, 'staging'))).toEqual(['lake.json'])
  state.failure = undefined
  stop.abort()
  await first
  const again = await restarted({ directory, repo, tasks, clock: STAGING_LOOK_INTERVAL_MS * 5 })
  expect(await stagingBranchesOf(again)).toEqual([])
})

test('WK-268 a look in which something was gone is made again; a repository that is gone is forgotten until it is used again', async () => {
  const { directory, begin, collector, stage, tasks, repo, state, pass, stop } = await openWorld()
  tasks.set(uuid(1), 'FAILED')
  await stage({ taskId: uuid(1) })
  const noting = collector()
  noting.note(repositoryName('lake'))
  const running = begin()
  await pass(1_000)
  state.failure = new MissingError('lakefs/no-such-branch', 'gone')
  await pass(STAGING_LOOK_INTERVAL_MS)
  state.failure = undefined
  await pass(2 * STAGING_LOOK_INTERVAL_MS)
  expect(await stagingBranchesOf(repo)).toEqual([])
  await stage({ taskId: uuid(1) })
  state.failure = new MissingError('lakefs/no-such-repository', 'gone')
  await pass(3 * STAGING_LOOK_INTERVAL_MS)
  expect(await readdir(join(directory, 'staging'))).toEqual([])
  noting.note(repositoryName('lake'))
  expect(await readdir(join(directory, 'staging'))).toEqual(['lake.json'])
  stop.abort()
  await running
})

test('WK-267 a repository that could not be noted is noted the next time', async () => {
  const { collector, directory } = await openWorld()
  const place = join(directory, 'staging')
  await rm(place, { recursive: true, force: true })
  await writeFile(place, 'in the way')
  const other = repositoryName('other')
  const noting = collector()
  noting.note(other)
  await rm(place)
  noting.note(other)
  expect(await readdir(place)).toEqual(['other.json'])
})

/** Another process over the same root, later: one look is enough. */
async function restarted(of: {
  readonly directory: string
  readonly repo: Awaited<ReturnType<typeof openWorld>>['repo']
  readonly tasks: ReadonlyMap<string, TaskStatus>
  readonly clock: number
}) {
  const clock = new ManualClock()
  await clock.advance(of.clock)
  const stop = new AbortController()
  const { logger } = keepingLogger()
  const running = new StagingCollector({
    root: of,
    queue: {
      readTask: (taskId) =>
        Promise.resolve(recordOf({ taskId, status: of.tasks.get(taskId) ?? 'IN_PROGRESS' })),
      readWorkflowStatus: () => Promise.resolve('RUNNING'),
    },
    openRepo: () => of.repo,
    clock,
    logger,
    observe: () => undefined,
  }).run(stop.signal)
  await expect.poll(() => clock.sleeping, { interval: 1 }).toBe(1)
  stop.abort()
  await running
  return of.repo
}
